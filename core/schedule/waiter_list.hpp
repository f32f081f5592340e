#pragma once
// Threads of the program that wait in the runtime.
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "core/base/fence.hpp"

namespace tessera::schedule {

/// Each thread sleeps by itself and is called when what it waits for has come, by the thread that has made it come or
/// has noticed it. So a call never goes to a thread that cannot use it. The thread that helps (it runs tasks meanwhile)
/// and a task that waits for the end of a recording are on the list too, but sleep among the workers.
///
/// A thread that changes something that others wait for changes it first, then a full fence, then empty() and look(). A
/// waiter enters first, then looks by itself.
class waiter_list {
 public:
  using predicate = std::function<bool()>;

  /// One thread that waits; on its stack.
  struct waiter {
    waiter(const predicate& what, std::atomic<bool>& tells) : enough(&what), waits(&tells) {}
    const predicate* enough;   ///< called by other threads, under the room's lock; reads atomics only
    std::atomic<bool>* waits;  ///< set by the waiter when it is not enough; cleared by the thread that sees that it is
    bool may_help = false;     ///< it can take the helper's place when that is free
    bool helps = false;        ///< under the lock
    std::atomic<std::uint32_t> calls{0};  ///< grows with each call
  };

  void enter(waiter& g) {
    {
      const std::lock_guard guard(m_mutex);
      m_waiters.push_back(&g);
      m_count.store(m_waiters.size(), std::memory_order_relaxed);
    }
    full_fence();  // before the waiter looks by itself; the other half is that of a thread that changes something
  }
  void leave(waiter& g) {
    const std::lock_guard guard(m_mutex);
    std::erase(m_waiters, &g);
    m_count.store(m_waiters.size(), std::memory_order_relaxed);
  }
  bool empty() const noexcept { return m_count.load(std::memory_order_relaxed) == 0; }

  /// Calls all whose condition holds. Returns whether the helper is among them: it has to be woken where it sleeps.
  bool look() {
    bool helper = false;
    const std::lock_guard guard(m_mutex);
    for (waiter* g : m_waiters) {
      if (!(*g->enough)()) continue;
      g->waits->store(false);
      if (g->helps)
        helper = true;
      else
        call(*g);
    }
    return helper;
  }
  /// The helper's place has become free: calls the waiter that has waited longest among those that may take it, other
  /// than the one that leaves it.
  void offer_place(const waiter* leaving) {
    const std::lock_guard guard(m_mutex);
    for (waiter* g : m_waiters)
      if (g != leaving && g->may_help && !g->helps) {
        call(*g);
        return;
      }
  }
  /// By the waiter itself: now it helps, or no longer.
  void set_helps(waiter& g, bool helps) {
    const std::lock_guard guard(m_mutex);
    g.helps = helps;
  }
  /// By the waiter itself: sleeps until it has been called more often than `seen` times.
  static void sleep(waiter& g, std::uint32_t seen) noexcept {
    while (g.calls.load(std::memory_order_acquire) == seen) g.calls.wait(seen, std::memory_order_acquire);
  }

 private:
  static void call(waiter& g) noexcept {  // with the lock: the waiter cannot go before it has it
    g.calls.fetch_add(1, std::memory_order_release);
    g.calls.notify_one();
  }
  std::mutex m_mutex;
  std::vector<waiter*> m_waiters;  // the longest waiting first
  std::atomic<std::size_t> m_count{0};
};

}  // namespace tessera::schedule
