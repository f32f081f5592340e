#include "core/schedule/placement.hpp"

#include <string>
#include <tuple>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/nearest.hpp"

namespace tessera::schedule {

placement_policy parse_placement(std::string_view text) {
  if (text == "eager") return placement_policy::eager;
  if (text == "locality") return placement_policy::locality;
  if (text == "pinned") return placement_policy::pinned;
  const std::vector<std::string> names{"eager", "locality", "pinned"};
  const std::string near = nearest_name(text, names);
  throw error(error_kind::configuration, "unknown placement policy '" + std::string(text) + "'", "runtime.placement",
              near.empty() ? "one of eager, locality, pinned" : "did you mean '" + near + "'?");
}

std::size_t place(placement_policy policy, std::span<const candidate> candidates) {
  bool any_hinted = false;
  for (const candidate& c : candidates) any_hinted = any_hinted || c.hinted;
  const auto key = [&](const candidate& c) {
    const bool excluded = any_hinted && !c.hinted;
    if (policy == placement_policy::eager) return std::tuple(excluded, c.queue_seconds, 0.0, c.distance);
    // Where the inputs are costs no transfer, and everything below a host memory reaches it over its link: the sum prefers
    // the nearest place and leaves it when waiting there costs more than moving the data. How fast the place is counts
    // only through its queue.
    return std::tuple(excluded, c.transfer_seconds + c.queue_seconds, -static_cast<double>(c.resident_bytes), c.distance);
  };
  std::size_t best = 0;
  for (std::size_t k = 1; k < candidates.size(); ++k)
    if (key(candidates[k]) < key(candidates[best])) best = k;
  return best;
}

}  // namespace tessera::schedule
