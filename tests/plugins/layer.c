/* A LAYER plugin: devices of the wrapped plugin get another vendor, and an open that goes through this layer is logged.
 */
#include <tessera/plugin.h>

#include <string.h>

#ifndef TSR_BUILD_SANITIZER
#define TSR_BUILD_SANITIZER TSR_SANITIZER_NONE
#endif

static const tsr_plugin_header* inner;
static tsr_plugin_header outer;

static tsr_status open_inner(const tsr_host* host, const tsr_option_value* options, uint32_t option_count,
                             tsr_plugin** out_plugin, const void** out_table) {
  host->log(host->context, 1, "opened through the layer");
  return inner->open(host, options, option_count, out_plugin, out_table);
}

static const tsr_plugin_header* wrap(const tsr_plugin_header* given) {
  if (given->kind != TSR_PLUGIN_DEVICE) return NULL;
  inner = given;
  memset(&outer, 0, sizeof outer);
  memcpy(&outer, given, given->struct_size < sizeof outer ? given->struct_size : sizeof outer);
  outer.vendor = "wrapped";
  outer.open = open_inner;
  return &outer;
}

static const tsr_layer_table table = {sizeof(tsr_layer_table), wrap};
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
                                           .kind = TSR_PLUGIN_LAYER,
                                           .sanitizer = TSR_BUILD_SANITIZER,
                                           .name = MINI_NAME,
                                           .open = open_plugin};
  return &header;
}
