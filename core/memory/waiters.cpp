#include "core/memory/waiters.hpp"

#include <algorithm>

#include "core/base/fence.hpp"

namespace tessera::memory {
namespace {

bool younger(const memory_waiter* a, const memory_waiter* b) { return a->age > b->age; }

}  // namespace

bool waiters::wait(memory_waiter& waiter, std::uint64_t seen) {
  const std::lock_guard guard(m_mutex);
  m_count.fetch_add(1, std::memory_order_relaxed);
  full_fence();  // before the test: notify counts first, then looks here
  if (m_events.load(std::memory_order_acquire) != seen) {
    m_count.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  m_waiting.push_back(&waiter);
  std::ranges::push_heap(m_waiting, younger);
  return true;
}

void waiters::notify() {
  m_events.fetch_add(1, std::memory_order_release);
  full_fence();  // the count of events before the look at the waiters; wait is the other half
  if (!any()) return;
  std::vector<memory_waiter*> woken;
  std::vector<waiters*> others;
  {
    const std::lock_guard guard(m_mutex);
    std::ranges::sort_heap(m_waiting, younger);  // youngest first
    woken.swap(m_waiting);
    others.swap(m_wake_too);
    m_count.store(0, std::memory_order_release);
  }
  // The oldest first: what it leaves may serve the next.
  for (auto waiter = woken.rbegin(); waiter != woken.rend(); ++waiter) (*waiter)->wake(*waiter);
  for (waiters* const other : others) other->notify();
}

void waiters::wake_too(waiters& other) {
  const std::lock_guard guard(m_mutex);
  if (std::ranges::find(m_wake_too, &other) != m_wake_too.end()) return;
  m_wake_too.push_back(&other);
  m_count.fetch_add(1, std::memory_order_relaxed);
  full_fence();
}

memory_waiter* waiters::take_oldest() {
  const std::lock_guard guard(m_mutex);
  if (m_waiting.empty()) return nullptr;
  std::ranges::pop_heap(m_waiting, younger);
  memory_waiter* const oldest = m_waiting.back();
  m_waiting.pop_back();
  m_count.fetch_sub(1, std::memory_order_relaxed);
  return oldest;
}

}  // namespace tessera::memory
