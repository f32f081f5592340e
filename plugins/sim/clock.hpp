#pragma once
// The simulated machine's time.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace tessera::sim {

/// Real: modelled times are points of the steady clock, and wait_until waits for them. Virtual: time is what each
/// stream counts, and nothing waits. Thread-safe.
class sim_clock {
 public:
  explicit sim_clock(bool is_virtual) : m_virtual(is_virtual), m_start(std::chrono::steady_clock::now()) {}

  bool is_virtual() const noexcept { return m_virtual; }
  /// When work that a stream begins now begins: the stream's own time, or the real one.
  std::uint64_t begin(std::uint64_t stream_time) const noexcept { return m_virtual ? stream_time : now(); }
  /// Returns at `time_ns`, at once with a virtual clock or after an interruption.
  void wait_until(std::uint64_t time_ns);
  /// Ends every wait, now and later: the plugin is shutting down.
  void interrupt();

  std::uint64_t now() const noexcept;

 private:
  const bool m_virtual;
  const std::chrono::steady_clock::time_point m_start;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  bool m_interrupted = false;
};

}  // namespace tessera::sim
