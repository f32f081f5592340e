/* A POLICY plugin that chooses the candidate with the least transfer time; or the fastest; or the last; or none of them. */
#include <tessera/plugin.h>

#ifndef TSR_BUILD_SANITIZER
#define TSR_BUILD_SANITIZER TSR_SANITIZER_NONE
#endif

static uint32_t place(tsr_plugin* plugin, const char* operation, const tsr_candidate* candidates, uint32_t count) {
  (void)plugin, (void)operation;
#if defined POLICY_LAST
  return (void)candidates, count - 1;
#elif defined POLICY_WRONG
  return (void)candidates, count;
#elif defined POLICY_FASTEST
  uint32_t best = 0;
  for (uint32_t i = 1; i < count; ++i)
    if (candidates[i].execute_seconds < candidates[best].execute_seconds) best = i;
  return best;
#else
  uint32_t best = 0;
  for (uint32_t i = 1; i < count; ++i)
    if (candidates[i].transfer_seconds < candidates[best].transfer_seconds) best = i;
  return best;
#endif
}

static const tsr_policy_table table = {sizeof(tsr_policy_table), place};
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
                                           .kind = TSR_PLUGIN_POLICY,
                                           .sanitizer = TSR_BUILD_SANITIZER,
                                           .name = MINI_NAME,
                                           .open = open_plugin};
  return &header;
}
