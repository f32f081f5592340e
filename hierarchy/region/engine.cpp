#include "hierarchy/region/engine.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/runtime/program_side.hpp"
#include "core/schedule/replay_player.hpp"
#include "core/schedule/waits.hpp"
#include "tessera/front_end.hpp"

namespace tessera::hierarchy {
namespace {

/// Locks in the order of addresses, so that two regions never wait for each other.
template <class Storage>
std::vector<std::unique_lock<Storage>> all_locked(std::vector<Storage*> which) {
  std::ranges::sort(which, std::less<>());
  which.erase(std::unique(which.begin(), which.end()), which.end());
  std::vector<std::unique_lock<Storage>> held;
  held.reserve(which.size());
  for (Storage* const one : which) held.emplace_back(*one);
  return held;
}

}  // namespace

region_engine::region_engine(runtime& of)
    : m_runtime(of),
      m_tree(live_tree::of(of)),
      m_kernels(of),
      m_history(of),
      m_planner({.of = &of, .tree = m_tree.get(), .kernels = &m_kernels, .history = &m_history}),
      m_submitter(of, *m_tree, m_kernels) {}

region_engine::~region_engine() { m_history.keep(*m_tree->now()); }

/// Arrays that are placed by distance may have no room before others that have ended are through.
launch_plan region_engine::plan_with_room(const region_request& c) {
  const auto plan = [&] {
    const std::lock_guard guard(m_mutex);
    return m_planner.plan(c);
  };
  try {
    return plan();
  } catch (const error& e) {
    if (e.kind() != error_kind::memory) throw;
    finish_ended_arrays(m_runtime);
    return plan();
  }
}

/// The first task on a device compiles there, while a program that does not wait would launch all the rest of a loop,
/// split as if the device were as fast as a core.
void region_engine::wait_for_measures(const launch_plan& launch) {
  if (launch.unmeasured.empty()) return;
  program_side_of(m_runtime).waits.wait(schedule::wait_request::submitting_until([&] {
    return std::ranges::all_of(launch.unmeasured, [](const std::shared_ptr<region_leaf_times>& t) {
      return t->cost().known() || t->under_way.load(std::memory_order_acquire) == 0;
    });
  }));
}

void region_engine::launch(const task_name& name, const region_options& options, const loop_bounds& over,
                           std::span<const detail::region_demand> demands, const detail::region_code& code) {
  const region_request c(name, options, over, demands, code);
  c.check_named();
  c.check_owner(m_runtime);
  c.check_rows();
  c.check_once();
  try {
    plan_and_submit(c);
  } catch (...) {  // the failed plan was counted at its locations: wake the edits that wait for that count
    program_side_of(m_runtime).waits.look_again();
    throw;
  }
  front_end(m_runtime).wait_for_window();
}

void region_engine::plan_and_submit(const region_request& c) {
  launch_plan launch = plan_with_room(c);
  {
    std::vector<array_storage*> arrays;
    std::vector<reduction_storage*> results;
    arrays.reserve(c.demands.size());
    for (const detail::region_demand& d : c.demands) {
      if (d.array != nullptr) arrays.push_back(d.array);
      if (d.result != nullptr) results.push_back(d.result);
    }
    const runtime::no_waiting no_waiting(m_runtime);  // tasks may submit regions of the same arrays
    const auto hold_arrays = all_locked(std::move(arrays));
    const auto between_replays = hold_replays(c, launch);
    const auto hold_results = all_locked(std::move(results));
    m_submitter.submit(c, launch);
    launch.room = {};
  }
  {
    const std::lock_guard guard(m_mutex);
    m_history.note(launch.past, {launch.at, launch.rule, c.count, launch.split});
    for (const std::shared_ptr<region_leaf_times>& t : launch.unmeasured) t->was_waited_for = true;
  }
  wait_for_measures(launch);
}

/// With the arrays locked: where a recording uses one of them, no replay comes between the region's tasks.
std::shared_lock<std::shared_mutex> region_engine::hold_replays(const region_request& c, const launch_plan& launch) {
  const auto is_replayed = [](const detail::region_demand& d) { return d.array != nullptr && d.array->keeps_tiles(); };
  if (launch.recorded || std::ranges::none_of(c.demands, is_replayed)) return {};
  return program_side_of(m_runtime).replays.hold();
}

std::vector<region_row> region_engine::rows() const {
  const std::lock_guard guard(m_mutex);
  return m_history.rows(*m_tree->now());
}

void region_engine::keep_file(const std::shared_ptr<array_memory>& memory) {
  const std::lock_guard guard(m_mutex);
  std::erase_if(m_files, [](const std::weak_ptr<array_memory>& f) { return f.expired(); });
  m_files.push_back(memory);
}

bool region_engine::has_files() const {
  const std::lock_guard guard(m_mutex);
  return std::ranges::any_of(m_files, [](const std::weak_ptr<array_memory>& f) { return !f.expired(); });
}

void region_engine::flush_files() const {
  std::vector<std::shared_ptr<array_memory>> there;
  {
    const std::lock_guard guard(m_mutex);
    for (const std::weak_ptr<array_memory>& f : m_files)
      if (auto memory = f.lock()) there.push_back(std::move(memory));
  }
  for (const auto& memory : there) memory->flush();
}

}  // namespace tessera::hierarchy
