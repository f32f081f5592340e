#pragma once
// A one-byte lock for critical sections of a few dozen instructions.
#include <thread>

#include "core/base/atomic.hpp"

namespace tessera {

/// Tells the processor that this is a spin loop.
inline void cpu_relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Meets the standard's Lockable. An uncontended lock is one atomic exchange (about 3 ns). After a bounded spin it
/// yields, so that on an oversubscribed machine the holder can finish.
class spin_lock {
 public:
  void lock() noexcept {
    for (unsigned spins = 0; m_held.exchange(true, std::memory_order_acquire);) {
      while (m_held.load(std::memory_order_relaxed)) {
        if (++spins < 256)
          cpu_relax();
        else
          std::this_thread::yield();
      }
    }
  }
  bool try_lock() noexcept {
    return !m_held.load(std::memory_order_relaxed) && !m_held.exchange(true, std::memory_order_acquire);
  }
  void unlock() noexcept { m_held.store(false, std::memory_order_release); }

 private:
  atomic<bool> m_held{false};
};

}  // namespace tessera
