#pragma once
// Where a task should run: pure functions from a plan to a choice, testable without devices.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/location/tree.hpp"
#include "core/plugin/registry.hpp"

namespace tessera::placement {

/// One place that could run the task.
struct candidate {
  std::uint32_t place = 0;                         ///< its number in the scheduler
  location::node_id location = location::no_node;  ///< for policy plugins
  double queue_seconds = 0;          ///< estimated work already waiting there, per worker; cost: until one is free
  double transfer_seconds = 0;       ///< to bring the missing inputs there
  double execute_seconds = 0;        ///< estimate for this task there; 0: unknown
  std::uint64_t resident_bytes = 0;  ///< of the inputs, there already
  std::uint64_t missing_bytes = 0;   ///< of the inputs, to be brought
  std::uint32_t distance = 0;        ///< edges in the location tree to the place that asks
  bool hinted = false;               ///< at or below the location that the submitter asked for
  /// When the task would be done there, from now.
  double finish_seconds() const noexcept { return queue_seconds + transfer_seconds + execute_seconds; }
};

enum class placement_policy : std::uint8_t {
  eager,     ///< the shortest queue; data are fetched wherever that is
  locality,  ///< where the inputs are, unless moving them costs less than waiting
  pinned,    ///< hints are orders; without a hint, as locality
  cost,      ///< where the task is done first: queue, transfer and its own time, as learnt (history.hpp)
  plugin     ///< "plugin:NAME": a POLICY plugin is asked
};

/// "eager", "locality", "pinned", "cost", "plugin:NAME"; throws tessera::error (configuration) with the nearest name.
placement_policy parse_placement(std::string_view text);
/// The plugin that "plugin:NAME" names, among the opened ones; null for the built-in policies. Throws tessera::error
/// (configuration) when it is not open.
const plugin::registry::policy_plugin* find_policy(std::string_view text, const plugin::registry& plugins);

/// Index into `candidates` (not empty). Deterministic: ties go to the nearer, then to the first. A hint restricts
/// locality, eager and cost only when it names a place that can run the task; with `pinned` the caller refuses other
/// tasks.
std::size_t choose_place(placement_policy policy, std::span<const candidate> candidates);
/// The same, asked of a plugin. Throws tessera::error (plugin) when it chooses what was not offered.
std::size_t choose_place(const plugin::registry::policy_plugin& policy, const std::string& operation,
                         std::span<const candidate> candidates);

}  // namespace tessera::placement
