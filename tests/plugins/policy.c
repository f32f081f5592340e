/* A POLICY plugin that chooses the candidate with the least transfer time; or the fastest; or the last; or none of them. */
#include <tessera/plugin.h>

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

#define TABLE_PLUGIN_KIND TSR_PLUGIN_POLICY
#include "table_plugin.h"
