#pragma once
// Tells of completed work where a plugin makes no callbacks.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>

#include "core/plugin/device.hpp"

namespace tessera::transfer {

/// For a stream of a plugin that has no stream_callback (or refuses one) and has stream_host_wait: a thread that waits
/// there for the points it is told of, in their order, and calls `wake` behind each. The stream must outlive it.
/// Thread-safe.
class completion_thread {
 public:
  /// `completed`: the highest point that was seen as reached. Throws std::system_error when the system refuses a
  /// thread.
  completion_thread(const plugin::device& device, tsr_stream* stream, const std::atomic<std::uint64_t>& completed,
                    void (*wake)(void*), void* context);
  /// Ends without waiting for points that are not reached.
  ~completion_thread();
  completion_thread(const completion_thread&) = delete;
  completion_thread& operator=(const completion_thread&) = delete;

  static bool possible(const plugin::device& device) noexcept { return device.table().stream_host_wait != nullptr; }

  /// Nobody is woken from now on: who would be is about to go.
  void quiet();
  /// Values increase.
  void tell_of(std::uint64_t value);

 private:
  void loop();

  const plugin::device& m_device;
  tsr_stream* const m_stream;
  const std::atomic<std::uint64_t>& m_completed;
  void (*const m_wake)(void*);
  void* const m_context;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::deque<std::uint64_t> m_awaited;
  bool m_end = false, m_quiet = false;
  std::thread m_thread;  // last: it uses all above
};

}  // namespace tessera::transfer
