#pragma once
// Streams of devices with their timelines, numbered through the whole runtime.
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/block/ticket.hpp"
#include "core/plugin/device.hpp"

namespace tessera::transfer {

/// Something that happens when a ticket is reached. Intrusive; the owner keeps it alive until it fired.
struct completion {
  block::ticket at;
  /// `status`: TSR_OK, or the failure of the work before the ticket. Called once, without locks held, on the thread
  /// that noticed.
  void (*fire)(completion* self, tsr_status status) = nullptr;
  completion* next = nullptr;
};

/// One in-order queue of a device. Enqueueing is serialised by `lock`, everything else is thread-safe.
class stream {
 public:
  /// Creates the plugin's stream; flags: TSR_STREAM_... . Throws tessera::error (device).
  stream(std::uint32_t number, const plugin::device& device, std::uint32_t flags);
  ~stream();
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  std::uint32_t number() const noexcept { return m_number; }
  const plugin::device& device() const noexcept { return *m_device; }
  tsr_stream* handle() const noexcept { return m_handle; }

  /// Held while work is enqueued and signalled: one producer at a time.
  std::mutex& enqueue_lock() noexcept { return m_enqueue; }

  /// With the lock held: a ticket behind everything enqueued so far. Arms the wake-up of whoever polls.
  block::ticket signal();
  /// With the lock held: later work waits for `ticket` of `other` on the device. Only if can_wait_for(other).
  void wait(const stream& other, block::ticket ticket);
  bool can_wait_for(const stream& other) const noexcept;

  /// Whether the ticket's point has been seen as reached. Does not ask the plugin.
  bool reached(std::uint64_t value) const noexcept { return m_completed.load(std::memory_order_acquire) >= value; }

  /// Fires when the value is reached: at once if it already is.
  void on_completion(completion& what);
  /// Asks the plugin for progress and fires what is due. Returns whether anything fired. Any thread.
  bool poll();
  /// Whether signalled work is not yet seen as complete.
  bool busy() const noexcept {
    return m_signalled.load(std::memory_order_acquire) > m_completed.load(std::memory_order_acquire);
  }
  /// Blocks until everything signalled is complete or the time is over.
  void wait_until_idle(std::uint64_t timeout_ns);

  /// Called from any thread when the stream may have progressed.
  void set_wake(void (*wake)(void*), void* context) noexcept { m_wake = wake, m_wake_context = context; }
  /// Waits until no wake-up is on its way any more; its target may then go. Nothing may be signalled meanwhile.
  void finish_wakes() noexcept;

 private:
  bool poll_once();  // under m_poll_lock

  std::uint32_t m_number;
  const plugin::device* m_device;
  tsr_stream* m_handle = nullptr;
  std::mutex m_enqueue;
  std::atomic<std::uint64_t> m_signalled{0}, m_completed{0};

  std::mutex m_pending_lock;
  completion* m_pending = nullptr;  // by value, ascending
  completion* m_pending_last = nullptr;
  std::vector<std::pair<std::uint64_t, tsr_status>> m_failures;
  tsr_status m_lost = TSR_OK;
  std::mutex m_poll_lock;
  std::atomic<bool> m_poll_asked{false};  // somebody wanted to poll while somebody else did
  void (*m_wake)(void*) = nullptr;
  void* m_wake_context = nullptr;
  std::atomic<std::uint64_t> m_armed{0};
};

/// All streams of a runtime by number (1-based, as in tickets).
class stream_table {
 public:
  stream& create(const plugin::device& device, std::uint32_t flags) {
    m_streams.push_back(std::make_unique<stream>(static_cast<std::uint32_t>(m_streams.size()) + 1, device, flags));
    return *m_streams.back();
  }
  stream& at(std::uint32_t number) const noexcept { return *m_streams[number - 1]; }
  bool reached(block::ticket ticket) const noexcept { return !ticket || at(ticket.stream).reached(ticket.value); }
  const std::vector<std::unique_ptr<stream>>& all() const noexcept { return m_streams; }

 private:
  std::vector<std::unique_ptr<stream>> m_streams;
};

}  // namespace tessera::transfer
