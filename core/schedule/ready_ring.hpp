#pragma once
// A bounded queue with one producer and many consumers, who may take several tasks at once.
#include <algorithm>
#include <array>
#include <cstdint>

#include "core/base/atomic.hpp"
#include "core/task/record.hpp"

namespace tessera::schedule {

/// First in, first out. Only the owner pushes; the owner and thieves take from the front by compare-and-swap, thieves
/// up to half of what is there (the design of Go's run queues). Nothing allocates.
class ready_ring {
 public:
  static constexpr std::uint32_t capacity = 256;

  /// Owner only; false: full.
  bool push(task::record& t) noexcept {
    const std::uint32_t tail = m_tail.load(std::memory_order_relaxed);
    // acquire: a consumer has finished reading the slot before it is overwritten
    if (tail - m_head.load(std::memory_order_acquire) == capacity) return false;
    m_slots[tail % capacity].store(&t, std::memory_order_relaxed);
    m_tail.store(tail + 1, std::memory_order_release);  // the task's fields are visible with it
    return true;
  }

  /// Owner: the oldest task, or null.
  task::record* pop() noexcept {
    task::record* one = nullptr;
    return take(&one, 1, false) == 1 ? one : nullptr;
  }

  /// Thief: up to `most` tasks, at most half (rounded up) of what is there. Returns how many.
  std::uint32_t steal(task::record** out, std::uint32_t most) noexcept { return take(out, most, true); }

  /// Owner: the task that pop will return unless somebody is faster; only its address is known. Null: there was none.
  const task::record* peek() const noexcept {
    const std::uint32_t head = m_head.load(std::memory_order_relaxed);
    return m_tail.load(std::memory_order_relaxed) == head ? nullptr
                                                          : m_slots[head % capacity].load(std::memory_order_relaxed);
  }
  std::uint32_t size() const noexcept {
    return m_tail.load(std::memory_order_relaxed) - m_head.load(std::memory_order_relaxed);
  }

 private:
  std::uint32_t take(task::record** out, std::uint32_t most, bool half) noexcept {
    std::uint32_t head = m_head.load(std::memory_order_acquire);
    for (;;) {
      const std::uint32_t there = m_tail.load(std::memory_order_acquire) - head;
      if (there == 0 || there > capacity) return 0;  // above: head is out of date and the queue has moved on
      const std::uint32_t count = std::min(most, half ? (there + 1) / 2 : there);
      // Slots may be overwritten while they are read if head is out of date; then the exchange fails.
      for (std::uint32_t k = 0; k < count; ++k) out[k] = m_slots[(head + k) % capacity].load(std::memory_order_relaxed);
      // release: the reads above come before the producer sees the room
      if (m_head.compare_exchange_weak(head, head + count, std::memory_order_acq_rel, std::memory_order_acquire))
        return count;
    }
  }

  alignas(64) atomic<std::uint32_t> m_head{0};
  alignas(64) atomic<std::uint32_t> m_tail{0};
  alignas(64) std::array<atomic<task::record*>, capacity> m_slots{};
};

}  // namespace tessera::schedule
