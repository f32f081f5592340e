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

#include "hierarchy/policy/common_split.hpp"
#include "hierarchy/policy/policy.hpp"
#include "hierarchy/region/kept_rates.hpp"
#include "hierarchy/region/launch_span.hpp"
#include "hierarchy/region/leaf_times.hpp"
#include "hierarchy/region/plan.hpp"
#include "tessera/detail/location_model.hpp"

namespace tessera::hierarchy {

/// The launches of regions, by name, and what their tasks took on each leaf: what the policies any and auto go by. Of
/// very many names, those that were not launched for the longest time are forgotten. Not thread-safe: its owner locks.
class launch_history {
 public:
  explicit launch_history(runtime& of) : m_runtime(of) {}

  /// One of them, and what was seen of its launches.
  struct seen_split {
    common_split split;
    std::shared_ptr<seen_launches> seen = std::make_shared<seen_launches>();
    leaf_shares last;  ///< of the last launch
  };
  /// With the policy auto: the splits of regions that go over the same arrays.
  struct common_splits {
    std::uint64_t number = 0;  ///< in the order in which they were made
    std::map<std::pair<std::uint64_t, std::vector<location::node_id>>, seen_split> all;  ///< by iterations and leaves
  };
  /// What the policy auto goes by in one launch.
  struct wanted_shares {
    std::uint64_t iterations = 0;
    std::span<const location::node_id> leaves{};
    std::span<const leaf_cost> costs{};
    std::span<const double> moving{};         ///< see seconds_to_move
    std::span<const std::uint64_t> arrays{};  ///< the numbers of those that are split
    bool recorded = false;                    ///< its tasks run in replays
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
    std::shared_ptr<common_splits> splits;                  ///< with the policy auto
    trial_budget trials;                                    ///< likewise
  };

  /// That of a name; a new one is not among the others before its first launch is noted.
  std::shared_ptr<entry> of(std::string_view name) const;
  /// What is known of a leaf; with the policy auto, at first what an earlier run has learnt.
  region_leaf_times& times(entry& of, location::node_id leaf, const std::string& leaf_name, const policy& by);
  /// The shares of these leaves with the policy auto; none where nothing is known. @param span  for the launch's tasks;
  /// null: nobody wants to know
  leaf_shares shares(entry& of, const wanted_shares& wanted, std::shared_ptr<launch_span>& span);
  /// Where the task of a piece notes what it takes; null: nobody wants to know. @param learns  whether the policy does
  std::shared_ptr<region_leaf_times> times_of(const std::shared_ptr<entry>& of, const piece& p, bool learns);
  /// After the submission.
  void note(const std::shared_ptr<entry>& of, launch launched);
  /// A row per name, in the order of their first launches.
  std::vector<region_row> rows(const location::tree& tree) const;
  /// Keeps what the policy auto has learnt for later runs.
  void keep(const location::tree& tree) const;

 private:
  static constexpr std::size_t max_entries = 8192, max_splits = 1024, max_arrays = 8192;
  void forget_half();
  common_splits& splits_of(entry& of, std::span<const std::uint64_t> arrays);

  runtime& m_runtime;
  std::map<std::string, std::shared_ptr<entry>, std::less<>> m_entries;
  std::unique_ptr<kept_rates> m_kept;                                   // null: no region had the policy auto
  std::map<location::node_id, std::shared_ptr<device_clock>> m_clocks;  // of devices
  std::map<std::uint64_t, std::shared_ptr<common_splits>> m_splits;     // by the numbers of arrays, which come once
  std::uint64_t m_split_numbers = 0;
  std::uint64_t m_numbers = 0;
};

}  // namespace tessera::hierarchy
