#pragma once
// One ready task that a thread keeps for itself as long as it goes on submitting.
#include "core/base/atomic.hpp"
#include "core/task/record.hpp"

namespace tessera::schedule {

/// Room for one task. Any thread puts one in and takes it out; who may take it when is said by worker_queues.
class kept_task {
 public:
  /// False: there is one already.
  bool put(task::record& t) noexcept {
    task::record* none = nullptr;
    // release: the task's fields are visible with it
    return m_task.load(std::memory_order_relaxed) == nullptr &&
           m_task.compare_exchange_strong(none, &t, std::memory_order_release, std::memory_order_relaxed);
  }
  /// Null: there is none.
  task::record* take() noexcept { return empty() ? nullptr : m_task.exchange(nullptr, std::memory_order_acquire); }
  bool empty() const noexcept { return m_task.load(std::memory_order_relaxed) == nullptr; }

 private:
  alignas(64) atomic<task::record*> m_task{nullptr};
};

}  // namespace tessera::schedule
