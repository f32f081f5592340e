#pragma once
// From a call of location_model::region to its tasks.
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hierarchy/region/plan.hpp"
#include "hierarchy/region/storage.hpp"
#include "tessera/region.hpp"

namespace tessera::hierarchy {

/// What the tasks of one region took on one leaf; they write it themselves.
struct region_leaf_times {
  std::atomic<double> rate{0};              ///< iterations per second of one task, averaged; 0: not measured
  std::atomic<std::uint32_t> under_way{0};  ///< tasks submitted and not ended
};

/// Plans regions, keeps the plans, and submits their tasks. Thread-safe.
class region_engine {
 public:
  explicit region_engine(runtime& of);

  void launch(const task_name& name, const region_options& options, const loop_bounds& over,
              std::span<const detail::region_demand> demands, const detail::region_code& code);
  std::vector<region_row> rows() const;
  /// No task is under way any more: also those are forgotten that never ran.
  void note_idle() noexcept;

  void keep_file(const std::shared_ptr<array_memory>& memory);  ///< one to flush, as long as it is there
  bool has_files() const;                                       ///< whether there is any
  void flush_files() const;                                     ///< throws tessera::error (output)

 private:
  struct history {  // of a region, by its name
    std::string name;
    location::node_id at = location::no_node;
    const policy* by = nullptr;
    std::uint64_t launches = 0, iterations = 0;
    std::shared_ptr<const plan> planned;
    std::map<location::node_id, region_leaf_times> leaves;  // those of `any` and `auto`
  };
  struct plan_key {
    std::string policy;
    std::uint64_t iterations;
    location::node_id at;
    auto operator<=>(const plan_key&) const = default;
  };
  struct call;

  location::node_id place(const call& c) const;
  const policy& parsed(std::string_view text, const call& c);
  std::shared_ptr<const plan> planned(const call& c, const policy& by, location::node_id at, history& of);
  history& history_of(std::string_view name);
  void submit(const call& c, const plan& planned, std::span<region_leaf_times* const> times);
  void submit_joins(const call& c, std::size_t pieces);

  runtime& m_runtime;
  mutable std::mutex m_mutex;  // of what follows; not held while tasks are submitted
  std::map<std::string, policy, std::less<>> m_policies;
  std::map<plan_key, std::shared_ptr<const plan>> m_plans;
  std::map<std::string, history*, std::less<>> m_by_name;
  std::deque<history> m_histories;  // in the order of their first launches
  std::vector<std::weak_ptr<array_memory>> m_files;
};

}  // namespace tessera::hierarchy
