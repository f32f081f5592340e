#pragma once
// From a call of location_model::region to its tasks.
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "hierarchy/region/kernels.hpp"
#include "hierarchy/region/launch_history.hpp"
#include "hierarchy/region/live_tree.hpp"
#include "hierarchy/region/named_tiles.hpp"
#include "hierarchy/region/plan.hpp"
#include "hierarchy/region/request.hpp"
#include "hierarchy/region/storage.hpp"
#include "hierarchy/region/sweep.hpp"
#include "hierarchy/region/wanted_cuts.hpp"
#include "tessera/region.hpp"

namespace tessera::hierarchy {

/// Plans regions, keeps the plans, and submits their tasks. Thread-safe.
class region_engine {
 public:
  explicit region_engine(runtime& of);
  ~region_engine();  ///< keeps what the policy auto has learnt
  region_engine(const region_engine&) = delete;
  region_engine& operator=(const region_engine&) = delete;

  void launch(const task_name& name, const region_options& options, const loop_bounds& over,
              std::span<const detail::region_demand> demands, const detail::region_code& code);
  std::vector<region_row> rows() const;
  void keep_file(const std::shared_ptr<array_memory>& memory);  ///< one to flush, as long as it is there
  bool has_files() const;                                       ///< whether there is any
  void flush_files() const;                                     ///< throws tessera::error (output)

 private:
  static constexpr std::size_t most_policies = 1024, most_plans = 4096;  // that are kept
  struct plan_key {
    std::shared_ptr<const policy> rule;
    std::uint64_t iterations;
    location::node_id at;
    bool devices;                      // whether any take part
    const location::node_id* without;  // the list of those that do not, by its place: region_kernels::who_runs
    auto operator<=>(const plan_key&) const = default;
  };
  struct launch_plan {
    std::shared_ptr<const location::tree> tree;
    location::node_id at = location::no_node;
    location::node_id executes = location::no_node;  // the location around its leaves, where arrays go by distance
    std::shared_ptr<const policy> rule;
    std::shared_ptr<launch_history::entry> past;
    std::shared_ptr<const plan> split;
    std::vector<row_interval> parts;          // the tasks' own rows
    std::vector<detail::piece_count> counts;  // of each piece; none: it is recorded
    bool recorded = false;
    std::shared_ptr<const void> kept;                            // by the recording
    bool devices = false;                                        // whether one takes part
    bool goes_on = false;                                        // a device has not done yet what was submitted before
    std::vector<std::shared_ptr<region_leaf_times>> unmeasured;  // of devices, with the policy auto
    std::shared_ptr<launch_span> span;                           // likewise; null: nobody wants to know
    promised_room room;                                          // for arrays that are placed by distance
  };
  struct tiling {
    std::vector<wanted_cut> cuts;
    std::optional<named_tiles> named;  // after the cuts; where tasks may be kernels
  };

  location::node_id place(const region_request& c, const location::tree& tree, const executors& who) const;
  std::shared_ptr<const policy> parsed(const region_request& c);                                      // under m_mutex
  const std::vector<location::node_id>& leaves_below(const launch_plan& made, const executors& who);  // likewise
  std::shared_ptr<const plan> planned(const region_request& c, launch_plan& made, const executors& who);  // likewise
  void plan_and_submit(const region_request& c);
  launch_plan plan_with_room(const region_request& c);
  launch_plan plan_launch(const region_request& c);
  void count_tasks(launch_plan& made);
  void wait_for_measures(const launch_plan& made);
  void submit(const region_request& c, launch_plan& made);
  std::shared_lock<std::shared_mutex> hold_replays(const region_request& c, const launch_plan& made);
  static sweep sweep_of(const region_request& c, const launch_plan& made);
  static location::node_id placed_from(const launch_plan& made, const array_storage& array);
  void place_by_distance(const region_request& c, const launch_plan& made);
  tiling tiling_of(const region_request& c, const launch_plan& made) const;
  std::vector<const operation::definition*> kernels_of(const region_request& c, const launch_plan& made,
                                                       const tiling& tiles);
  std::vector<detail::made_piece> make_pieces(const region_request& c, launch_plan& made,
                                              std::span<const operation::definition* const> kernels, const sweep& way);
  void name_blocks(const region_request& c, const plan& split, std::span<const row_interval> parts,
                   std::span<detail::made_piece> pieces, std::span<detail::submission> joins);

  runtime& m_runtime;
  const std::shared_ptr<live_tree> m_tree;
  region_kernels m_kernels;
  mutable std::mutex m_mutex;  // of what follows; not held while tasks are submitted
  std::map<std::string, std::shared_ptr<const policy>, std::less<>> m_policies;
  std::map<plan_key, std::shared_ptr<const plan>> m_plans;
  std::map<std::tuple<location::node_id, bool, const location::node_id*>, std::vector<location::node_id>> m_leaves;
  std::shared_ptr<const location::tree> m_planned_for;
  launch_history m_history;
  std::vector<std::weak_ptr<array_memory>> m_files;
};

}  // namespace tessera::hierarchy
