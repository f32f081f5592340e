#pragma once
// Tasks that wait for something other than a predecessor.
#include <atomic>
#include <cstdint>
#include <functional>
#include <span>

#include "core/block/ticket.hpp"
#include "core/memory/space.hpp"
#include "core/task/record.hpp"
#include "core/trace/tracer.hpp"
#include "core/transfer/coherence.hpp"

namespace tessera::schedule {

class device_driver;

/// Sets tasks aside, and hands each back to the scheduler when what it waits for has come, by the thread that has made
/// it come. Any thread.
class parking {
 public:
  /// What it works with; all outlive it.
  struct setup {
    transfer::coherence* coherence = nullptr;
    std::function<void(task::record&)> resume;  ///< the task goes on
    std::function<void()> copies_came;          ///< behind resume of a task that waited for points
  };
  explicit parking(setup with);

  /// Until all the points are reached, or have failed. `events`: of the calling thread; null: not recorded.
  void wait_for_points(task::record& t, std::span<const block::ticket> points, trace::buffer* events);
  /// Until the memory that it lacks has room. `driver`: of the device that runs it; null: it is for the host.
  void wait_for_memory(task::record& t, device_driver* driver, const transfer::acquisition& lacking,
                       trace::buffer* events);
  /// Ends a wait for memory in vain: the task, which is to fail; null: it was no task but a device that wanted to
  /// leave, and that stays.
  static task::record* give_up(memory::memory_waiter& waiter);

  /// Tasks that wait for points.
  std::uint64_t waiting_for_points() const noexcept { return m_count.load(); }

 private:
  struct parked;         // waits for points
  struct memory_parked;  // waits for memory

  const setup m_setup;
  std::atomic<std::uint64_t> m_count{0};
};

}  // namespace tessera::schedule
