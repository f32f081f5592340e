#include "core/transfer/completion_thread.hpp"

#include <pthread.h>

#include <chrono>

namespace tessera::transfer {

completion_thread::completion_thread(const plugin::device& device, tsr_stream* stream,
                                     const std::atomic<std::uint64_t>& completed, void (*wake)(void*), void* context)
    : m_device(device), m_stream(stream), m_completed(completed), m_wake(wake), m_context(context), m_thread([this] {
        loop();
      }) {}

completion_thread::~completion_thread() {
  {
    const std::lock_guard guard(m_mutex);
    m_end = true;
  }
  m_changed.notify_all();
  m_thread.join();
}

void completion_thread::tell_of(std::uint64_t value) {
  {
    const std::lock_guard guard(m_mutex);
    m_awaited.push_back(value);
  }
  m_changed.notify_all();
}

void completion_thread::quiet() {
  const std::lock_guard guard(m_mutex);
  m_quiet = true;
}

void completion_thread::loop() {
  constexpr std::uint64_t slice_ns = 20'000'000;  // how long its end may take
  constexpr std::chrono::microseconds pause{20};
  pthread_setname_np(pthread_self(), "tsr-completion");
  m_device.attach_this_thread();
  std::unique_lock lock(m_mutex);
  for (;;) {
    m_changed.wait(lock, [this] { return m_end || !m_awaited.empty(); });
    if (m_end) return;
    const std::uint64_t value = m_awaited.front();
    lock.unlock();
    const tsr_status status = plugin::contained("stream_host_wait", [&] {
      return m_device.table().stream_host_wait(m_device.handle(), {m_stream, value}, slice_ns);
    });
    if (status != TSR_OK) plugin::take_error_details();
    lock.lock();
    if (m_quiet) return;  // the plugin is not asked again
    if (status == TSR_DEADLINE_EXCEEDED) continue;
    m_wake(m_context);
    // What was woken polls, and learns what failed. A plugin that answers before the point is reached is asked again
    // after a while.
    const auto seen = [&] { return status == TSR_DEVICE_LOST || m_completed.load(std::memory_order_acquire) >= value; };
    for (int looks = 0; looks < 10 && !seen(); ++looks) {
      lock.unlock();
      std::this_thread::sleep_for(pause);
      lock.lock();
    }
    if (seen()) m_awaited.pop_front();
  }
}

}  // namespace tessera::transfer
