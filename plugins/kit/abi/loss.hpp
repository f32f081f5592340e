#pragma once
// How a device with several threads is lost: first nothing new begins, then, when nothing runs any more, it is
// announced.
#include <atomic>
#include <thread>

namespace tessera::kit {

/// Keeps the promise that a device which answers DEVICE_LOST touches no memory any more. Any thread.
class device_loss {
 public:
  /// Whether the device may be called lost.
  bool announced() const noexcept { return m_announced.load(std::memory_order_acquire); }
  /// Whether it is on its way there: nothing begins.
  bool begun() const noexcept { return m_begun.load(); }
  /// Before a piece of work; false: it must not run. Else leave() follows.
  bool enter() noexcept {
    m_running.fetch_add(1);
    if (!m_begun.load()) return true;
    leave(false);
    return false;
  }
  /// After a piece of work; `lost`: it found the device lost.
  void leave(bool lost) noexcept {
    if (lost) m_begun.store(true);
    if (m_running.fetch_sub(1) == 1 && m_begun.load()) m_announced.store(true, std::memory_order_release);
  }
  /// Returns once it is announced; for a thread that found begun() and runs nothing.
  void wait() const noexcept {
    while (!announced()) std::this_thread::yield();
  }

 private:
  std::atomic<unsigned> m_running{0};
  std::atomic<bool> m_begun{false}, m_announced{false};
};

}  // namespace tessera::kit
