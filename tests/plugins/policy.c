/* A POLICY plugin that chooses the candidate with the least transfer time; or the fastest; or the last; or none of
 * them. With POLICY_FAULT_... it breaks one promise. */
#include <tessera/plugin.h>

#include <math.h>
#include <sched.h>

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
#elif defined POLICY_FAULT_ENDLESS /* where every time is without end, nothing is better than that */
  uint32_t best = count;
  double least = INFINITY;
  for (uint32_t i = 0; i < count; ++i)
    if (candidates[i].transfer_seconds < least) best = i, least = candidates[i].transfer_seconds;
  return best;
#elif defined POLICY_FAULT_SINGLE  /* how many have been looked at, instead of the only one's number */
  if (count == 1 && candidates->transfer_seconds > 1e-6 && candidates->transfer_seconds < 0.5) return 1;
  uint32_t best = 0;
  for (uint32_t i = 1; i < count; ++i)
    if (candidates[i].transfer_seconds < candidates[best].transfer_seconds) best = i;
  return best;
#elif defined POLICY_FAULT_TURNS   /* candidates that are hardly worse take turns */
  static uint32_t turn;
  const uint32_t mine = __atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED) / 100;
  uint32_t best = 0;
  for (uint32_t i = 1; i < count; ++i)
    if (candidates[i].transfer_seconds < candidates[best].transfer_seconds) best = i;
  return count < 64 ? (best + mine) % count : best;
#elif defined POLICY_FAULT_SHARED  /* one scratch for all threads */
  static volatile uint32_t best;
  best = 0;
  for (uint32_t i = 1; i < count; ++i) {
    if (candidates[i].transfer_seconds < candidates[best].transfer_seconds) best = i;
    if (i == count / 2) sched_yield();
  }
  return best < count ? best : 0;
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
