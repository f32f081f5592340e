#pragma once
// Which blocks the submitted tasks will use, and when: what eviction by next use looks at.
#include <atomic>
#include <cstdint>
#include <memory>

#include "core/block/record.hpp"

namespace tessera::transfer {

/// The uses that one submitter has announced, in its order, in a ring: the oldest are forgotten when there are more than
/// fit. Announced by its thread alone, ended by whoever begins the task, read by whoever evicts; an entry that is being overwritten may
/// be misread, which makes a worse victim, never a wrong result.
class use_log {
 public:
  static constexpr std::uint64_t capacity = 1 << 16;
  use_log() : m_entries(std::make_unique<entry[]>(capacity)), m_begun(std::make_unique<std::atomic<std::uint64_t>[]>(capacity)) {}

  /// The task of age `sequence` will use the block. By the owning thread.
  void note(block::record& block, std::uint64_t sequence) noexcept {
    const std::uint64_t at = m_head.load(std::memory_order_relaxed);
    entry& e = m_entries[at % capacity];
    e.sequence.store(sequence, std::memory_order_relaxed);
    e.block.store(&block, std::memory_order_relaxed);
    m_head.store(at + 1, std::memory_order_release);
  }

  /// The task of age `sequence` has its blocks, or is given up: its uses are no longer to come. Tasks begin in any order. Any thread.
  void begin(std::uint64_t sequence) noexcept { m_begun[sequence % capacity].store(sequence, std::memory_order_relaxed); }

  /// Calls function(block, sequence) for uses that have not begun, the oldest first. One thread at a time.
  template <class Function>
  void for_each_pending(Function&& function) {
    const std::uint64_t head = m_head.load(std::memory_order_acquire);
    if (head > capacity) m_tail = std::max(m_tail, head - capacity);
    bool begun_only = true;
    for (std::uint64_t at = m_tail; at < head; ++at) {
      const entry& e = m_entries[at % capacity];
      block::record& block = *e.block.load(std::memory_order_relaxed);
      const std::uint64_t sequence = e.sequence.load(std::memory_order_relaxed);
      if (m_begun[sequence % capacity].load(std::memory_order_relaxed) == sequence) {
        if (begun_only) m_tail = at + 1;
        continue;
      }
      begun_only = false;
      function(block, sequence);
    }
  }

 private:
  struct entry {
    std::atomic<block::record*> block{nullptr};
    std::atomic<std::uint64_t> sequence{0};
  };
  std::unique_ptr<entry[]> m_entries;
  std::unique_ptr<std::atomic<std::uint64_t>[]> m_begun;  // by age: the age of the last task there that has begun
  std::atomic<std::uint64_t> m_head{0};
  std::uint64_t m_tail = 0;
};

}  // namespace tessera::transfer
