#pragma once
// Runs the tasks that the runtime submits for itself: views, ends of blocks, and reads of adopted blocks at home.
#include <cstdint>
#include <memory>
#include <vector>

#include "core/block/table.hpp"
#include "core/schedule/adopted_write_back.hpp"
#include "core/schedule/host_runner.hpp"
#include "core/schedule/host_views.hpp"
#include "core/schedule/runtime_operations.hpp"
#include "core/schedule/task_owner.hpp"

namespace tessera::schedule {

/// Their blocks are brought to the memory of place 0. Any thread; `thread` is the calling one.
class runtime_tasks {
 public:
  /// What it works with; all outlive it.
  struct setup {
    task_owner* owner = nullptr;
    host_runner* host = nullptr;
    transfer::coherence* coherence = nullptr;
    const std::vector<std::unique_ptr<placement::place>>* places = nullptr;  ///< filled before the first task
    block::table* blocks = nullptr;
    class failures* failures = nullptr;
    host_views* views = nullptr;
    adopted_write_back* write_back = nullptr;
    validate::validator* validator = nullptr;  ///< null: nothing is validated
    const runtime_operations* operations = nullptr;
  };
  explicit runtime_tasks(setup with) noexcept : m_setup(with), m_owner(*with.owner) {}

  enum class progress : std::uint8_t {
    over,      ///< successors may start, and end() follows
    waits,     ///< it is set aside, has failed, or is a view, which a thread of the program ends
    try_later  ///< what it waits for tells nobody
  };
  progress run(thread_context& thread, task::record& t);
  /// Of a task that is over and whose successors are released.
  void end(task::record& t);

 private:
  progress run_destroy(thread_context& thread, task::record& t);
  progress run_bring_home(thread_context& thread, task::record& t);
  progress run_retile(thread_context& thread, task::record& t);
  progress run_view(thread_context& thread, task::record& t);
  bool home_before_end(thread_context& thread, task::record& t);
  placement::place& home() const noexcept { return *m_setup.places->front(); }

  const setup m_setup;
  task_owner& m_owner;
};

}  // namespace tessera::schedule
