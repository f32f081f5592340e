#pragma once
// Sleep until something may have changed, without losing a wake-up and without a lock.
#include <cstdint>

#include "core/base/atomic.hpp"
#include "core/base/fence.hpp"

namespace tessera::schedule {

/// Use: `key = prepare(); if (condition) cancel(); else wait(key);` against `change the state; notify_…();`.
class event_count {
 public:
  /// Announces a sleeper. Look at the condition again before wait.
  std::uint32_t prepare() noexcept {
    m_sleepers.fetch_add(1, std::memory_order_relaxed);
    // Orders the announcement before the second look at the condition, whatever that reads; someone_sleeps() is the
    // other half.
    full_fence();
    return m_epoch.load(std::memory_order_acquire);
  }
  void cancel() noexcept { m_sleepers.fetch_sub(1, std::memory_order_relaxed); }
  void wait(std::uint32_t key) noexcept {
    while (m_epoch.load(std::memory_order_acquire) == key) m_epoch.wait(key, std::memory_order_acquire);
    m_sleepers.fetch_sub(1, std::memory_order_relaxed);
  }
  void notify_one() noexcept {
    if (!someone_sleeps()) return;
    m_epoch.fetch_add(1, std::memory_order_seq_cst);
    m_epoch.notify_one();
  }
  void notify_all() noexcept {
    if (!someone_sleeps()) return;
    m_epoch.fetch_add(1, std::memory_order_seq_cst);
    m_epoch.notify_all();
  }

  /// Whether a notification would wake a thread. The caller's change of state comes before the look at the sleepers;
  /// prepare() is the other half.
  bool someone_sleeps() const noexcept {
    full_fence();
    return has_sleepers();
  }
  /// The same for a caller that has passed a full_fence since it changed the state.
  bool has_sleepers() const noexcept { return m_sleepers.load(std::memory_order_relaxed) != 0; }

 private:
  alignas(64) atomic<std::uint32_t> m_epoch{0};
  atomic<std::uint32_t> m_sleepers{0};
};

}  // namespace tessera::schedule
