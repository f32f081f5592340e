#include "core/schedule/run_mode.hpp"

#include <algorithm>

namespace tessera::schedule {

run_mode mode_of_run(const place_plan& plan, const run_conditions& conditions) {
  const bool single_place = plan.places.size() == 1;
  return {.workers = static_cast<std::uint32_t>(plan.workers.size()),
          .simulated = conditions.simulated,
          .single_space = conditions.spaces == 1 && !conditions.validated,
          .single_place = single_place,
          .has_devices = std::ranges::any_of(plan.places, [](const planned_place& e) { return !e.is_host; }),
          .announces_uses = conditions.wants_uses,
          .times_tasks = !single_place || conditions.learns_times};
}

}  // namespace tessera::schedule
