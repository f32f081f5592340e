#pragma once
// From a request for a region to its plan.
#include <memory>
#include <vector>

#include "hierarchy/region/kernels.hpp"
#include "hierarchy/region/launch_plan.hpp"
#include "hierarchy/region/plan_cache.hpp"
#include "hierarchy/region/request.hpp"

namespace tessera::hierarchy {

/// Decides where a region runs, and how its loop is split: by the tree as it is now, the policy, and what was learnt.
/// Submits nothing. For one thread at a time.
class launch_planner {
 public:
  /// What it works with; all outlive it.
  struct setup {
    runtime* of = nullptr;
    live_tree* tree = nullptr;
    region_kernels* kernels = nullptr;
    launch_history* history = nullptr;
  };
  explicit launch_planner(setup with) noexcept : m_setup(with) {}

  /// Throws what refuses the region. What it counts on the tree's locations is taken back when the plan ends; nothing
  /// else that it changes is seen by anybody before the launch is noted in the history.
  launch_plan plan(const region_request& c);

 private:
  location::node_id place(const region_request& c, const location::tree& tree, const executors& runners) const;
  std::shared_ptr<const policy> parsed(const region_request& c);
  const std::vector<location::node_id>& leaves_below(const launch_plan& launch, const executors& runners);
  std::shared_ptr<const hierarchy::plan> planned(const region_request& c, launch_plan& launch,
                                                 const executors& runners);
  void tell_of_idle_devices(const region_request& c, const launch_plan& launch) const;
  void count_tasks(launch_plan& launch);

  const setup m_setup;
  plan_cache m_cache;
};

}  // namespace tessera::hierarchy
