#include "plugins/kit/abi/timeline.hpp"

#include <algorithm>
#include <chrono>

namespace tessera::kit {

void timeline::fail(tsr_status status, std::string message) {
  if (m_pending != TSR_OK) return;
  m_pending = status;
  m_pending_message = std::move(message);
}

void timeline::reach(std::uint64_t value, std::uint64_t time_ns) {
  constexpr std::size_t kept = 1u << 20;  // 8 MiB per stream; older tickets answer with the oldest time kept
  {
    const std::lock_guard lock(m_mutex);
    if (m_pending != TSR_OK) {
      m_failures.push_back({value, m_pending, std::move(m_pending_message)});
      m_pending = TSR_OK;
      m_pending_message.clear();
      m_has_failures.store(true, std::memory_order_release);
    }
    if (m_keep_times) {
      m_times.push_back(time_ns);
      if (m_times.size() > kept) {
        m_times.pop_front();
        ++m_first_time;
      }
    }
    m_reached.store(value, std::memory_order_release);
  }
  m_changed.notify_all();
}

tsr_status timeline::progress(std::uint64_t* out_value, std::uint64_t* out_failed, std::string& message) {
  // The order matters: a failure at or before `value` was published before `value` itself.
  const auto value = reached();
  if (!m_has_failures.load(std::memory_order_acquire)) {
    *out_value = value;
    if (out_failed != nullptr) *out_failed = 0;
    return TSR_OK;
  }
  const std::lock_guard lock(m_mutex);
  if (m_failures.empty()) {  // another caller took it
    *out_value = value;
    if (out_failed != nullptr) *out_failed = 0;
    return TSR_OK;
  }
  const auto point = std::move(m_failures.front());
  m_failures.pop_front();
  m_has_failures.store(!m_failures.empty(), std::memory_order_release);
  const auto now = std::max(reached(), point.value);
  *out_value = m_failures.empty() ? now : std::max(point.value, m_failures.front().value - 1);
  if (out_failed != nullptr) *out_failed = point.value;
  message = point.message;
  return point.status;
}

void timeline::progress_lost(std::uint64_t* out_value, std::uint64_t* out_failed) noexcept {
  const auto done = reached(), all = signalled();
  if (all > done) note_lost(done + 1);
  *out_value = std::max(all, done);
  if (out_failed != nullptr) *out_failed = m_lost_from.load(std::memory_order_relaxed);
}

bool timeline::wait(std::uint64_t value, std::uint64_t timeout_ns) {
  if (reached() >= value) return true;
  std::unique_lock lock(m_mutex);
  const auto done = [&] { return reached() >= value; };
  constexpr std::uint64_t a_year = 365ull * 24 * 3600 * 1000000000ull;  // longer limits would overflow the clock
  if (timeout_ns > a_year) {
    m_changed.wait(lock, done);
    return true;
  }
  return m_changed.wait_for(lock, std::chrono::nanoseconds(timeout_ns), done);
}

std::uint64_t timeline::completion(std::uint64_t value) const {
  const std::lock_guard lock(m_mutex);
  if (m_times.empty() || value == 0) return 0;
  const auto index = value > m_first_time ? value - m_first_time : 0;
  return m_times[std::min<std::size_t>(index, m_times.size() - 1)];
}

}  // namespace tessera::kit
