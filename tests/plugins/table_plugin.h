/* What is left of a plugin that is one table: included at the end of a file that has `table` and TABLE_PLUGIN_KIND. */
#include <tessera/plugin.h>

#ifndef TSR_BUILD_SANITIZER
#define TSR_BUILD_SANITIZER TSR_SANITIZER_NONE
#endif

static int token;

static tsr_status open_plugin(const tsr_host* host, const tsr_option_value* options, uint32_t option_count,
                              tsr_plugin** out_plugin, const void** out_table) {
  (void)host, (void)options, (void)option_count;
  *out_plugin = (tsr_plugin*)(void*)&token;
  *out_table = &table;
  return TSR_OK;
}

TSR_EXPORT const tsr_plugin_header* tsr_plugin_query(uint32_t host_major, uint32_t host_minor) {
  (void)host_major, (void)host_minor;
  static const tsr_plugin_header header = {.struct_size = sizeof(tsr_plugin_header),
                                           .abi_major = TSR_ABI_MAJOR,
                                           .abi_minor = TSR_ABI_MINOR,
                                           .kind = TABLE_PLUGIN_KIND,
                                           .sanitizer = TSR_BUILD_SANITIZER,
                                           .name = MINI_NAME,
                                           .open = open_plugin};
  return &header;
}
