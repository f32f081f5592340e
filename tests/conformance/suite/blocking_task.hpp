#pragma once
// A host task that holds up the stream on which it is enqueued.
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/conformance/suite/rig.hpp"

namespace tessera::conformance {

/// Waits until it is released. Ends unreleased when its limit is over, so that a call that waits for the stream comes
/// back and can be named; and at once where the thread that made it runs it, which could never release it. Lives until
/// the device has done with it.
class blocking_task {
 public:
  using duration = std::chrono::steady_clock::duration;

  explicit blocking_task(duration limit) : m_end(end_of(limit)) {}
  blocking_task(const blocking_task&) = delete;
  blocking_task& operator=(const blocking_task&) = delete;

  /// Once, on a device that runs host code. A refused call is a failed check.
  void enqueue(const device& on, tsr_stream* stream);
  void release() { m_released = true; }
  /// A new limit, from now on.
  void limit(duration limit) { m_end = end_of(limit); }
  /// Whether it has ended, or is about to, unreleased.
  bool ran_out() const { return m_ran_out; }
  bool done() const { return m_done; }

  /// Releases a task however the scope ends.
  struct release_at_end {
    blocking_task& task;
    ~release_at_end() { task.release(); }
  };

 private:
  static duration end_of(duration limit) { return std::chrono::steady_clock::now().time_since_epoch() + limit; }
  static tsr_status run(void* self, void* const* bases);

  const std::thread::id m_maker = std::this_thread::get_id();
  std::atomic<duration> m_end;  // of the limit, as steady_clock counts
  std::atomic<bool> m_released{false}, m_ran_out{false}, m_done{false};
};

}  // namespace tessera::conformance
