#include "plugins/sim/clock.hpp"

namespace tessera::sim {

std::uint64_t sim_clock::now() const noexcept {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - m_start).count());
}

void sim_clock::wait_until(std::uint64_t time_ns) {
  if (m_virtual || now() >= time_ns) return;
  std::unique_lock lock(m_mutex);
  m_changed.wait_until(lock, m_start + std::chrono::nanoseconds(time_ns), [&] { return m_interrupted; });
}

void sim_clock::interrupt() {
  {
    const std::lock_guard lock(m_mutex);
    m_interrupted = true;
  }
  m_changed.notify_all();
}

}  // namespace tessera::sim
