/* An OPERATIONS plugin with one operation: scale(update x), arguments: one double. */
#include <tessera/plugin.h>

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

#define TABLE_PLUGIN_KIND TSR_PLUGIN_OPERATIONS
#include "table_plugin.h"
