#pragma once
// How old tasks are: the order of their submission.
#include <algorithm>
#include <atomic>
#include <cstdint>

#include "core/schedule/thread_context.hpp"

namespace tessera::schedule {

/// Deals out ages, younger tasks get higher ones. A count of its own per thread, so that nothing is shared by every
/// task; but no thread lags behind what others have told, and each tells every so many tasks. So ages are exact within
/// a thread, and between threads as good as this.
class task_ages {
 public:
  /// For so many tasks that the thread submits; returns the first, the others follow it.
  std::uint64_t take(thread_context& thread, std::uint64_t count) noexcept {
    constexpr std::uint64_t told_every = 32;
    const std::uint64_t first = std::max(thread.age, m_youngest.load(std::memory_order_relaxed)) + 1;
    thread.age = first + count - 1;
    if (thread.age - thread.known_age >= told_every) tell(thread);
    return first;
  }

 private:
  void tell(thread_context& thread) noexcept {
    thread.known_age = thread.age;
    std::uint64_t known = m_youngest.load(std::memory_order_relaxed);
    while (known < thread.age && !m_youngest.compare_exchange_weak(known, thread.age, std::memory_order_relaxed)) {
    }
  }

  alignas(64) std::atomic<std::uint64_t> m_youngest{0};  // that threads know of each other
};

}  // namespace tessera::schedule
