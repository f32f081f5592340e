#pragma once
// What regions did so far.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hierarchy/policy/policy.hpp"
#include "hierarchy/policy/shares.hpp"
#include "hierarchy/region/kept_rates.hpp"
#include "hierarchy/region/leaf_times.hpp"
#include "hierarchy/region/plan.hpp"
#include "tessera/location_model.hpp"

namespace tessera::hierarchy {

/// The launches of regions, by name, and what their tasks took on each leaf: what the policies any and auto go by. Of
/// very many names, those that were not launched for the longest time are forgotten. Not thread-safe: its owner locks.
class launch_history {
 public:
  explicit launch_history(runtime& of) : m_runtime(of) {}

  /// Shares of the policy auto, and for which leaves they are.
  struct split_of_leaves {
    std::vector<location::node_id> leaves;
    leaf_shares shares;
  };
  /// One launch.
  struct launch {
    location::node_id at = location::no_node;
    std::shared_ptr<const policy> rule{};
    std::uint64_t iterations = 0;
    std::shared_ptr<const plan> split{};
  };
  /// A region. Tasks keep it for the times of its leaves.
  struct entry {
    std::string name;
    launch last{};
    std::uint64_t launches = 0;
    std::uint64_t first_number = 0, last_number = 0;        ///< of its launches, among those of all regions
    std::map<location::node_id, region_leaf_times> leaves;  ///< with the policies any and auto, and of devices
    split_of_leaves split;                                  ///< with the policy auto: the last one
    trial_budget trials;                                    ///< likewise
  };

  /// That of a name; a new one is not among the others before its first launch is noted.
  std::shared_ptr<entry> of(std::string_view name) const;
  /// What is known of a leaf; with the policy auto, at first what an earlier run has learnt.
  region_leaf_times& times(entry& of, location::node_id leaf, const std::string& leaf_name, const policy& by);
  /// The shares of these leaves with the policy auto: those of the last launch, or of the last one of any region over
  /// the same leaves, as long as they are nearly the best.
  leaf_shares shares(entry& of, std::uint64_t iterations, const std::vector<location::node_id>& leaves,
                     std::span<const leaf_cost> costs);
  /// Where the task of a piece notes what it takes; null: nobody wants to know. @param learns  whether the policy does
  std::shared_ptr<region_leaf_times> times_of(const std::shared_ptr<entry>& of, const piece& p, bool learns);
  /// After the submission.
  void note(const std::shared_ptr<entry>& of, launch made);
  /// A row per name, in the order of their first launches.
  std::vector<region_row> rows(const location::tree& tree) const;
  /// Keeps what the policy auto has learnt for later runs.
  void keep(const location::tree& tree) const;

 private:
  static constexpr std::size_t most_entries = 8192, most_splits = 1024;
  void forget_half();

  runtime& m_runtime;
  std::map<std::string, std::shared_ptr<entry>, std::less<>> m_entries;
  std::unique_ptr<kept_rates> m_kept;                                   // null: no region had the policy auto
  std::map<location::node_id, std::shared_ptr<device_clock>> m_clocks;  // of devices
  std::map<std::uint64_t, split_of_leaves> m_splits;  // of the policy auto, by iterations: the last new ones
  std::uint64_t m_numbers = 0;
};

}  // namespace tessera::hierarchy
