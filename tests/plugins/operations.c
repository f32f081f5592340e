/* An OPERATIONS plugin with one operation: scale(update x), arguments: one double. */
#include <tessera/plugin.h>

#ifndef TSR_BUILD_SANITIZER
#define TSR_BUILD_SANITIZER TSR_SANITIZER_NONE
#endif

static tsr_status scale(const tsr_host* host, const tsr_block_view* blocks, uint32_t block_count, const void* arguments,
                        uint64_t argument_bytes) {
  if (block_count != 1 || blocks->type != TSR_F64 || argument_bytes != sizeof(double)) {
    host->error(host->context, TSR_INVALID_ARGUMENT, "scale takes one block of float64 and one double");
    return TSR_INVALID_ARGUMENT;
  }
  int64_t count = 1;
  for (uint32_t d = 0; d < blocks->rank; ++d) count *= blocks->extents[d];
  for (int64_t i = 0; i < count; ++i) ((double*)blocks->data)[i] *= *(const double*)arguments;
  return TSR_OK;
}

static const tsr_intent scale_intents[] = {TSR_UPDATE};
static const tsr_operation operations[] = {{sizeof(tsr_operation), "test.scale", scale_intents, 1, scale}};
static const tsr_operations_table table = {sizeof(tsr_operations_table), 1, operations};
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
                                           .kind = TSR_PLUGIN_OPERATIONS,
                                           .sanitizer = TSR_BUILD_SANITIZER,
                                           .name = MINI_NAME,
                                           .open = open_plugin};
  return &header;
}
