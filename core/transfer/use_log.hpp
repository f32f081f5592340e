#pragma once
// Which blocks the submitted tasks will use, and when: what eviction by next use looks at.
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/block/announced_use.hpp"

namespace tessera::transfer {

/// The uses that one submitter has announced, in its order, in a ring: the oldest are forgotten when there are more
/// than fit. Announced by its thread alone, ended by the thread that begins the task, read by those that evict; where
/// these meet, a use may be missed, which makes a worse victim, never a wrong result. Blocks point into it: it must
/// live as long as a thread evicts.
class use_log {
 public:
  static constexpr std::uint64_t capacity = block::begun_tasks::capacity;
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  use_log();

  /// The task of age `sequence` will use the block, and perhaps write it. By the owning thread.
  void note(block::record& block, std::uint64_t sequence, bool writes) noexcept { add(block, sequence, writes, false); }
  /// A task of about this age is expected to be submitted, and to use the block so: a recording is usually replayed
  /// again. Holds until a use is announced behind it. By the owning thread.
  void expect(block::record& block, std::uint64_t sequence, bool writes) noexcept {
    add(block, sequence, writes, true);
  }

  /// The task of age `sequence` has its blocks, or is given up: its uses are no longer to come. Tasks begin in any
  /// order. Any thread.
  void begin(std::uint64_t sequence) noexcept { m_begun.note(sequence); }

  /// A use that is to come.
  struct coming_use {
    std::uint64_t age = never;  ///< of the task
    bool expected = false;      ///< nobody has announced it: it may order victims, and protects none
  };
  /// The first one, as far as it was announced in any log or is expected there; else never. Any thread; takes as long
  /// as there are uses that have begun since the last call.
  static coming_use next_use(block::record& block) noexcept;
  /// Whether a task that was announced, or is expected, will write the block. Any thread; takes as long as there are
  /// uses to come.
  static bool will_be_written(const block::record& block) noexcept;

 private:
  void add(block::record& block, std::uint64_t sequence, bool writes, bool expected) noexcept;
  static block::announced_use* first_known(const block::record& block) noexcept;

  static constexpr std::uint64_t chunk = 1 << 12;
  std::vector<std::unique_ptr<block::announced_use[]>> m_entries;  // chunks; one that no use has reached takes nothing
  block::begun_tasks m_begun;
  std::uint64_t m_head = 0;
};

}  // namespace tessera::transfer
