/* An OPERATIONS plugin with one operation: scale(update x), arguments: one double. With OPERATIONS_FAULT_... it breaks
 * one promise. */
#include <tessera/plugin.h>

#include <sched.h>
#include <string.h>

#ifdef OPERATIONS_FIVE_MORE /* sound, but its argument is none of the usual ones */
enum {
  argument_size = sizeof(double) + 5
};
#else
enum {
  argument_size = sizeof(double)
};
#endif

static tsr_status scale(const tsr_host* host, const tsr_block_view* blocks, uint32_t block_count, const void* arguments,
                        uint64_t argument_bytes) {
  if (block_count != 1 || blocks->type != TSR_F64 || argument_bytes != argument_size) {
#ifdef OPERATIONS_FAULT_SILENT
    (void)host;
#else
    host->error(host->context, TSR_INVALID_ARGUMENT, "scale takes one block of float64 and one double");
#endif
    return TSR_INVALID_ARGUMENT;
  }
  int64_t count = 1;
  for (uint32_t d = 0; d < blocks->rank; ++d) count *= blocks->extents[d];
  double factor = 0, *x = blocks->data;
  memcpy(&factor, arguments, sizeof factor);
#if defined OPERATIONS_FAULT_SHARED /* one scratch for all threads */
  static volatile double sum;
  for (int64_t i = 0; i < count; ++i) {
    sum = x[i] * factor;
    if (i == 0) sched_yield();
    x[i] = sum;
  }
#elif defined OPERATIONS_FAULT_BEYOND /* two at a time, also where one of several is left */
  for (int64_t i = 0; i < count; i += 2) {
    x[i] *= factor;
    if (count > 1) x[i + 1] *= factor;
  }
#else
  for (int64_t i = 0; i < count; ++i) x[i] *= factor;
#endif
  return TSR_OK;
}

static const tsr_intent scale_intents[] = {TSR_UPDATE};
#ifdef OPERATIONS_FAULT_TWICE
enum {
  operation_count = 2
};
#else
enum {
  operation_count = 1
};
#endif
static const tsr_operation operations[] = {{sizeof(tsr_operation), "test.scale", scale_intents, 1, scale},
                                           {sizeof(tsr_operation), "test.scale", scale_intents, 1, scale}};
#ifdef OPERATIONS_FAULT_WEARS_OUT /* twenty openings have something to offer, the next twenty nothing, and so on */
static tsr_operations_table table = {sizeof(tsr_operations_table), operation_count, operations};
static unsigned openings;
#define TABLE_PLUGIN_AT_OPEN table.count = openings++ / 20 % 2 == 0 ? operation_count : 0
#else
static const tsr_operations_table table = {sizeof(tsr_operations_table), operation_count, operations};
#endif

#define TABLE_PLUGIN_KIND TSR_PLUGIN_OPERATIONS
#include "table_plugin.h"
