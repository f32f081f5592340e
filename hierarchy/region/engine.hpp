#pragma once
// From a call of location_model::region to its tasks.
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <vector>

#include "hierarchy/region/kernels.hpp"
#include "hierarchy/region/launch_history.hpp"
#include "hierarchy/region/launch_planner.hpp"
#include "hierarchy/region/launch_submitter.hpp"
#include "hierarchy/region/live_tree.hpp"
#include "hierarchy/region/request.hpp"
#include "tessera/region.hpp"

namespace tessera::hierarchy {

/// Has regions planned, and their tasks submitted with their arrays locked. Thread-safe.
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
  void plan_and_submit(const region_request& c);
  launch_plan plan_with_room(const region_request& c);
  void wait_for_measures(const launch_plan& launch);
  std::shared_lock<std::shared_mutex> hold_replays(const region_request& c, const launch_plan& launch);

  runtime& m_runtime;
  const std::shared_ptr<live_tree> m_tree;
  region_kernels m_kernels;
  mutable std::mutex m_mutex;  // of the history, the planner and the files; not held while tasks are submitted
  launch_history m_history;
  launch_planner m_planner;
  launch_submitter m_submitter;
  std::vector<std::weak_ptr<array_memory>> m_files;
};

}  // namespace tessera::hierarchy
