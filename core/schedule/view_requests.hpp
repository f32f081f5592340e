#pragma once
// Lends blocks to threads of the program.
#include <atomic>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string>

#include "core/schedule/failures.hpp"
#include "core/schedule/host_runner.hpp"
#include "core/schedule/host_views.hpp"
#include "core/schedule/program_owner.hpp"
#include "core/schedule/runtime_operations.hpp"
#include "core/schedule/view_deadlock.hpp"
#include "core/schedule/waits.hpp"
#include "core/schedule/worker_pool.hpp"
#include "core/schedule/worker_queues.hpp"
#include "core/transfer/coherence.hpp"

namespace tessera::schedule {

/// Views are requested, waited for and ended by the same thread; they stand in program order with the tasks that use
/// their blocks.
class view_requests {
 public:
  /// What it works with; all outlive it.
  struct setup {
    program_owner* owner = nullptr;
    const runtime_operations* operations = nullptr;
    host_views* views = nullptr;
    host_runner* host = nullptr;
    worker_pool* pool = nullptr;
    worker_queues* queues = nullptr;
    view_deadlock* deadlock = nullptr;
    waits* waiting = nullptr;
    transfer::coherence* coherence = nullptr;
    class failures* failures = nullptr;
    validate::validator* validator = nullptr;  ///< null: nothing is validated
    bool simulated = false;                    ///< in virtual time
  };
  explicit view_requests(setup with) noexcept : m_setup(with) {}

  /// Throws usage where the calling thread may not hold blocks: inside a task or a recording.
  void require(std::source_location site);
  /// A block for the calling thread in host memory. It only takes its place in the order: wait_for comes next.
  std::unique_ptr<host_access> request(block::record& block, intent use, std::source_location site,
                                       std::uint8_t flags = 0);
  /// Returns when it is available. Throws the failure that spoiled it, and usage where the thread would wait for
  /// itself; `asked` has ended then.
  void wait_for(std::unique_ptr<host_access>& asked);
  /// Its version is published, its successors are released. In a child that was forked nothing happens.
  void end(host_access& held);

  /// Views that the calling thread holds.
  std::uint32_t held_here() { return here().held_views.load(std::memory_order_relaxed); }
  /// Whether the calling thread holds all views that threads of the program hold at this moment.
  bool all_held_here() { return held_here() == m_setup.views->held(std::memory_order_relaxed); }

  /// The views of the calling thread end: the scheduler does.
  void end_own();
  /// `thread` ends, and with it its views, which nobody else could give back.
  void end_of_thread(thread_context& thread);
  /// A view's task is ready: the thread that asked goes on, or, where that has given it up, it ends.
  void hand_over(thread_context& thread, task::record& view);

 private:
  thread_context& here() { return m_setup.owner->context_of_this_thread(); }
  void end_abandoned(thread_context& thread, task::record& view);  // that nobody waits for

  const setup m_setup;
};

/// The views that a thread holds, by the blocks and the lines that asked for them.
std::string held_by(const thread_context& thread);

}  // namespace tessera::schedule
