#pragma once
// What waits for room in a memory.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace tessera::memory {

/// Something that waits for memory to become free in a space. The owner keeps it alive until it is woken.
struct memory_waiter {
  std::uint64_t age = 0;                        ///< order of submission; the oldest is woken first
  void (*wake)(memory_waiter* self) = nullptr;  ///< called without locks held
  /// Called instead of wake when nothing can ever become free; null: the waiter is a task of the scheduler.
  void (*refuse)(memory_waiter* self) = nullptr;
};

/// Of one memory. Thread-safe. Who lacks room reads events(), tries, and waits; who makes room calls notify().
class waiters {
 public:
  /// Number of events so far that may have made memory available. Read it before a reservation that may fail.
  std::uint64_t events() const noexcept { return m_events.load(std::memory_order_acquire); }
  /// Queues a waiter until the next event, oldest first; false when events() has moved on from `seen`: try again now.
  bool wait(memory_waiter& waiter, std::uint64_t seen);
  /// Something became evictable or free: wakes all, the oldest first; each tries again.
  void notify();
  bool any() const noexcept { return m_count.load(std::memory_order_relaxed) != 0; }
  /// The next notify() here is passed on to `other`, whose evicted blocks find no room here now.
  void wake_too(waiters& other);
  /// Takes the oldest waiter out without waking it; null when there is none.
  memory_waiter* take_oldest();

 private:
  std::mutex m_mutex;
  std::vector<memory_waiter*> m_waiting;  // heap, oldest on top
  std::vector<waiters*> m_wake_too;       // counted in m_count
  std::atomic<std::size_t> m_count{0};
  std::atomic<std::uint64_t> m_events{0};
};

}  // namespace tessera::memory
