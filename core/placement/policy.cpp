#include "core/placement/policy.hpp"

#include <fmt/format.h>

#include <boost/container/small_vector.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/suggest.hpp"

namespace tessera::placement {

constexpr std::string_view plugin_prefix = "plugin:";

placement_policy parse_placement(std::string_view text) {
  if (text == "eager") return placement_policy::eager;
  if (text == "locality") return placement_policy::locality;
  if (text == "pinned") return placement_policy::pinned;
  if (text == "cost") return placement_policy::cost;
  if (text.starts_with(plugin_prefix)) return placement_policy::plugin;
  const std::vector<std::string> names{"eager", "locality", "pinned", "cost"};
  const std::string near = suggest(text, names);
  throw error(error_kind::configuration, "unknown placement '" + std::string(text) + "'", "runtime.placement",
              near.empty() ? "one of eager, locality, pinned, cost, or plugin:NAME for a plugin"
                           : "did you mean '" + near + "'?");
}

const plugin::registry::policy_plugin* find_policy(std::string_view text, const plugin::registry& plugins) {
  if (parse_placement(text) != placement_policy::plugin) return nullptr;
  const std::string name(text.substr(plugin_prefix.size()));
  std::vector<std::string> names;
  for (const auto& p : plugins.policy_tables()) {
    if (p.name == name) return &p;
    names.push_back(p.name);
  }
  const std::string near = suggest(name, names);
  throw error(error_kind::configuration, "no policy plugin '" + name + "' is open", "runtime.placement",
              near.empty() ? "add \"" + name + "\" to runtime.plugins; it must be of kind policy"
                           : "did you mean '" + near + "'?");
}

std::size_t choose_place(placement_policy policy, std::span<const candidate> candidates) {
  bool any_hinted = false;
  for (const candidate& c : candidates) any_hinted = any_hinted || c.hinted;
  const auto key = [&](const candidate& c) {
    const bool excluded = any_hinted && !c.hinted;
    if (policy == placement_policy::eager) return std::tuple(excluded, c.queue_seconds, 0.0, c.distance);
    if (policy == placement_policy::cost)
      return std::tuple(excluded, c.finish_seconds(), -static_cast<double>(c.resident_bytes), c.distance);
    // Where the inputs are costs no transfer, and everything below a host memory reaches it over its link: the sum
    // prefers the nearest place and leaves it when waiting there costs more than moving the data. How fast the place is
    // counts only through its queue.
    return std::tuple(excluded, c.transfer_seconds + c.queue_seconds, -static_cast<double>(c.resident_bytes),
                      c.distance);
  };
  std::size_t best = 0;
  auto lowest = key(candidates[0]);
  for (std::size_t k = 1; k < candidates.size(); ++k)
    if (const auto mine = key(candidates[k]); mine < lowest) best = k, lowest = mine;
  return best;
}

std::size_t choose_place(const plugin::registry::policy_plugin& policy, const std::string& operation,
                         std::span<const candidate> candidates) {
  boost::container::small_vector<tsr_candidate, 16> plan;
  for (const candidate& c : candidates)
    plan.push_back({c.location, c.queue_seconds, c.transfer_seconds, c.execute_seconds, c.resident_bytes});
  const std::uint32_t chosen =
      policy.table.place(policy.handle, operation.c_str(), plan.data(), static_cast<std::uint32_t>(plan.size()));
  if (chosen < plan.size()) return chosen;
  throw error(error_kind::plugin,
              fmt::format("policy plugin \"{}\" chose candidate {} of {} for '{}'", policy.name, chosen, plan.size(),
                          operation),
              "runtime.placement", "choose another placement: the plugin breaks its contract");
}

}  // namespace tessera::placement
