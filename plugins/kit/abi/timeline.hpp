#pragma once
// The timeline of one stream: what was signalled, what is reached, what failed.
#include <tessera/plugin.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>

namespace tessera::kit {

/// One stream's timeline, shared by the stream and by whoever waits for its tickets (a wait may outlive the stream).
/// Values count 1, 2, 3, …. The *producer* (the thread that uses the stream) appends values; the *executor* (a worker
/// thread, or the producer itself on an inline stream) reaches them in order; any thread may ask and wait.
class timeline {
 public:
  /// keep_times: remember the modelled time at which each value was reached (simulated devices).
  explicit timeline(bool keep_times = false) : m_keep_times(keep_times) {}

  // producer
  std::uint64_t next() const noexcept { return m_signalled.load(std::memory_order_relaxed) + 1; }
  void append(std::uint64_t value) noexcept { m_signalled.store(value, std::memory_order_release); }

  // executor
  /// Work failed: the next value that is reached is a failed point. The first failure before a point is kept.
  void fail(tsr_status status, std::string message);
  void reach(std::uint64_t value, std::uint64_t time_ns);
  /// As reach, without lock or wake-up, for a value that nobody has seen yet (inline streams).
  void reach_unseen(std::uint64_t value) {
    if (m_pending == TSR_OK) [[likely]]
      m_reached.store(value, std::memory_order_release);
    else
      reach(value, 0);
  }

  /// The device was lost before `value` was reached; the first such value is kept.
  void note_lost(std::uint64_t value) noexcept {
    std::uint64_t none = 0;
    m_lost_from.compare_exchange_strong(none, value, std::memory_order_relaxed);
  }

  // anyone
  std::uint64_t signalled() const noexcept { return m_signalled.load(std::memory_order_acquire); }
  std::uint64_t reached() const noexcept { return m_reached.load(std::memory_order_acquire); }

  /// As stream_progress. A failure is handed out once; out_value then stops before the next failure still to be told.
  tsr_status progress(std::uint64_t* out_value, std::uint64_t* out_failed, std::string& message);

  /// stream_progress of a lost device: everything signalled counts as reached, from *out_failed on (0: nothing was
  /// pending) it failed.
  void progress_lost(std::uint64_t* out_value, std::uint64_t* out_failed) noexcept;

  /// Waits until `value` is reached; false when `timeout_ns` passed first (UINT64_MAX: no limit).
  bool wait(std::uint64_t value, std::uint64_t timeout_ns = ~0ull);

  /// The modelled time at which a reached value completed; 0 without keep_times.
  std::uint64_t completion(std::uint64_t value) const;

 private:
  struct failed_point {
    std::uint64_t value;
    tsr_status status;
    std::string message;
  };
  const bool m_keep_times;
  std::atomic<std::uint64_t> m_signalled{0};  // producer writes
  std::atomic<std::uint64_t> m_reached{0};    // executor writes; release: the work's effects come first
  std::atomic<bool> m_has_failures{false};    // set before m_reached covers the failed point
  std::atomic<std::uint64_t> m_lost_from{0};
  tsr_status m_pending = TSR_OK;  // executor only
  std::string m_pending_message;  // executor only
  mutable std::mutex m_mutex;     // what follows, and the waits
  std::condition_variable m_changed;
  std::deque<failed_point> m_failures;
  std::deque<std::uint64_t> m_times;  // of the values m_first_time, m_first_time + 1, …
  std::uint64_t m_first_time = 1;
};

}  // namespace tessera::kit
