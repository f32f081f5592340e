#pragma once
// Streams of devices with their timelines, numbered through the whole runtime.
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/block/ticket.hpp"
#include "core/plugin/device.hpp"
#include "core/transfer/completion_thread.hpp"

namespace tessera::transfer {

/// A piece of enqueued work, for the question why it does not end.
struct pending_work {
  std::string description;           ///< "the copy of A(1) from numa0 to sim0.mem"; empty: not known
  std::vector<block::ticket> after;  ///< it starts when these are reached
};

/// How many streams a device is asked for. With `computing` 0 one stream is for all.
struct stream_share {
  std::uint32_t copying, computing;
};
/// As many as serve, or as the device says that it has.
inline stream_share share_of(const plugin::device& device) noexcept {
  switch (device.description().max_streams) {
    case 1:
      return {1, 0};
    case 2:
      return {1, 1};
    case 3:
      return {2, 1};
    default:
      return {2, 2};
  }
}

/// Something that happens when a ticket is reached. Intrusive; the owner keeps it alive until it fired.
struct completion {
  block::ticket ticket;
  /// `status`: TSR_OK, or the failure of the work before the ticket. Called once, without locks held, on the thread
  /// that noticed.
  void (*fire)(completion* self, tsr_status status) = nullptr;
  /// What the stream is doing until then, for people, and the points of other streams that it may still have to wait
  /// for; null: a thread that merely waits. Called with the stream's lists locked, before `fire`.
  pending_work (*describe)(const completion* self) = nullptr;
  completion* next = nullptr;
};

class stream_table;

/// One in-order queue of a device. Enqueueing is serialised by `lock`, everything else is thread-safe.
class stream {
 public:
  /// Creates the plugin's stream; flags: TSR_STREAM_... . Throws tessera::error (device).
  /// `others`: where the points that its work depends on are looked up; null for a stream whose work depends on none.
  stream(std::uint32_t number, const plugin::device& device, std::uint32_t flags, const stream_table* others = nullptr);
  ~stream();
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  std::uint32_t number() const noexcept { return m_number; }
  const plugin::device& device() const noexcept { return *m_device; }
  tsr_stream* handle() const noexcept { return m_handle; }

  /// Held while work is enqueued and signalled: one producer at a time.
  std::mutex& enqueue_lock() noexcept { return m_enqueue; }

  /// With the lock held: a ticket after everything enqueued so far. Arms the wake-up of the thread that polls, or wakes
  /// it at once when the plugin will not. `depends_on`: points that make what this work reads, and that the work waits
  /// for on the device; where one of them fails, this point fails too, and that is known before the point counts as
  /// reached. Throws tessera::error (device) when the device is lost, which it is when it refuses again and again.
  block::ticket signal(std::span<const block::ticket> depends_on = {});
  /// With the lock held: later work waits for `ticket` of `other` on the device. Only if can_wait_for(other).
  void wait(const stream& other, block::ticket ticket);
  bool can_wait_for(const stream& other) const noexcept;
  /// Of an inline stream that one thread alone uses without tickets: throws tessera::error (device) when what was
  /// enqueued since the last call has failed.
  void check_inline();

  /// Whether the ticket's point has been seen as reached. Does not ask the plugin.
  bool reached(std::uint64_t value) const noexcept { return m_completed.load(std::memory_order_acquire) >= value; }
  /// Whether the work before a point that was reached has failed, or something that the point depends on. Exact for the
  /// points of tickets; the completions of the point may not have fired yet.
  bool failed(std::uint64_t value) const noexcept;
  /// The same for a point that the device has passed, noticed or not: asks the plugin, and fires nothing.
  bool passed_with_failure(std::uint64_t value);
  /// What the plugin said about that failure, or about the one that it follows from; may be empty.
  std::string details_at(std::uint64_t value) const;
  /// The point that this one depends on and failed because of; null: it failed by itself, or has not failed.
  block::ticket cause_of(std::uint64_t value) const;
  /// TSR_OK: the work before that point has not failed by itself.
  tsr_status status_at(std::uint64_t value) const;

  /// Fires when the value is reached: at once if it already is.
  void on_completion(completion& what);
  /// Asks the plugin for progress and fires what is due. Returns whether anything fired. Any thread.
  bool poll();
  /// The highest point seen as reached.
  std::uint64_t completed() const noexcept { return m_completed.load(std::memory_order_acquire); }
  /// Whether signalled work is not yet seen as complete.
  bool busy() const noexcept {
    return m_signalled.load(std::memory_order_acquire) > m_completed.load(std::memory_order_acquire);
  }
  /// Gives the stream up: what is pending fires with `status`, everything signalled counts as reached and failed, later
  /// use throws, and the plugin is not asked again, not even to destroy the stream. Any thread, once.
  void abandon(tsr_status status, std::string why);
  bool abandoned() const noexcept { return m_abandoned.load(std::memory_order_acquire); }
  /// The oldest point that is not reached, and what is known of the work before it. False: nothing is pending.
  bool oldest(std::uint64_t& value, pending_work& out) const;
  /// Blocks until everything signalled is complete or the time is over.
  void wait_until_idle(std::uint64_t timeout_ns);
  /// Whether a point was signalled that no call of the plugin will tell of: it offers none, or has refused it. The
  /// thread that was woken for it polls.
  bool must_be_asked() const noexcept {
    return m_silent.load(std::memory_order_acquire) > m_completed.load(std::memory_order_acquire);
  }

  /// Called from any thread when the stream may have progressed.
  void set_wake(void (*wake)(void*), void* context) noexcept { m_wake = wake, m_wake_context = context; }
  /// Waits until no wake-up is on its way any more; its target may then go. Nothing may be signalled meanwhile.
  void finish_wakes() noexcept;

 private:
  /// A call of the plugin that names this stream, made without its enqueueing lock: false when the stream has ended,
  /// else it is there until leave(). While it is being ended, waits for that.
  bool enter() const noexcept;
  void leave() const noexcept { m_callers.fetch_sub(1, std::memory_order_release); }
  tsr_status set_point(tsr_ticket& at) const;  // stream_signal, asked again when it is refused
  void destroy();                              // the plugin's stream
  void end_for_good(const std::string& why);
  bool arm(std::uint64_t value);  // whether there will be a call when this point, the last one, is reached
  bool arm_callback();
  bool poll_once();                           // under m_poll_lock
  void ask_from_now_on(std::uint64_t value);  // under m_poll_lock: no call will tell of this point, the last one
  std::uint64_t ask();                        // the highest point known to be reached; notes failures
  std::uint64_t ask_once();                   // the point that failed, or 0
  bool fire_until(std::uint64_t value);
  void inherit_failures(std::uint64_t value);                 // of what the points up to this one depend on
  tsr_status failure_at(std::uint64_t value) const noexcept;  // of the work itself
  void require_usable() const;

  std::uint32_t m_number;
  const plugin::device* m_device;
  const stream_table* m_others;  // null: alone
  tsr_stream* m_handle = nullptr;
  std::mutex m_enqueue;
  std::atomic<std::uint64_t> m_signalled{0}, m_completed{0}, m_silent{0};

  struct failure {
    std::uint64_t value;
    tsr_status status;  // TSR_OK: inherited
    std::string details;
    block::ticket cause;  // inherited: from here
  };
  struct dependence {
    std::uint64_t value;
    std::vector<block::ticket> on;
  };
  mutable std::mutex m_pending_lock;
  completion* m_pending = nullptr;  // by value, ascending
  completion* m_pending_last = nullptr;
  std::vector<failure> m_failures;
  std::deque<dependence> m_dependences;  // by value, ascending; under m_pending_lock, as all above
  std::atomic<bool> m_any_dependence{false};
  tsr_status m_lost = TSR_OK;  // every point above m_lost_above has failed with it
  std::uint64_t m_lost_above = 0;
  std::string m_lost_details;
  std::atomic<bool> m_any_failure{false}, m_abandoned{false};  // m_any_failure: before m_completed covers the point
  std::mutex m_poll_lock;
  std::mutex m_ask_lock;                  // after m_poll_lock, before m_pending_lock
  std::uint64_t m_known = 0;              // under m_ask_lock
  std::atomic<bool> m_poll_asked{false};  // a thread wanted to poll while another one did
  void (*m_wake)(void*) = nullptr;
  void* m_wake_context = nullptr;
  std::atomic<std::uint64_t> m_armed{0};
  std::atomic<std::uint64_t> m_calls_due{0};        // call-backs that have not begun
  std::atomic<bool> m_waited_for{false};            // by m_waiter
  std::unique_ptr<completion_thread> m_waiter;      // made when it is first needed; under m_enqueue
  bool m_no_waiter = false;                         // the system has refused one
  mutable std::atomic<std::uint32_t> m_callers{0};  // between enter and leave
  std::atomic<bool> m_ending{false};                // set before end_for_good looks at m_callers
};

/// All streams of a runtime by number (1-based, as in tickets).
class stream_table {
 public:
  stream_table() = default;
  stream_table(const stream_table&) = delete;
  stream_table& operator=(const stream_table&) = delete;
  ~stream_table();
  stream& create(const plugin::device& device, std::uint32_t flags) {
    m_streams.push_back(
        std::make_unique<stream>(static_cast<std::uint32_t>(m_streams.size()) + 1, device, flags, this));
    return *m_streams.back();
  }
  stream& at(std::uint32_t number) const noexcept { return *m_streams[number - 1]; }
  bool reached(block::ticket ticket) const noexcept { return !ticket || at(ticket.stream).reached(ticket.value); }
  bool failed(block::ticket ticket) const noexcept { return ticket && at(ticket.stream).failed(ticket.value); }
  bool passed_with_failure(block::ticket ticket) const {
    return ticket && at(ticket.stream).passed_with_failure(ticket.value);
  }
  const std::vector<std::unique_ptr<stream>>& all() const noexcept { return m_streams; }

 private:
  std::vector<std::unique_ptr<stream>> m_streams;
};

}  // namespace tessera::transfer
