#pragma once
// Who has waited longest for memory, so that waiting ends.
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/memory/space.hpp"

namespace tessera::transfer {

/// The oldest task that has found no memory in a space has a claim there until it has all that it needs, or is given
/// up. Meanwhile no younger task takes memory there, and blocks of the task leave no space for a younger one: neither
/// what it has, nor what was brought nearer for it. A task may have claims in several spaces: where it is to run, where
/// its blocks stop on their way, where what leaves goes to. Ages are compared across spaces, so that of all that wait
/// the oldest gets everything, then the next: no task waits for ever, and nothing goes back and forth. Thread-safe.
class claims {
 public:
  static constexpr std::uint64_t no_claim = ~std::uint64_t{0};

  explicit claims(std::size_t spaces);

  /// A task finds no memory: it has the claim from now on, unless an older task has. Age 0 claims nothing. @param
  /// blocks  all that the task uses
  void reserve_priority(memory::space_number space, std::uint64_t age, std::span<const block::access> blocks);
  /// What leaves one space for a task finds no room in the next: if the task has a claim in the one, it wants one in
  /// the other.
  void extend_to_parent(memory::space_number space, memory::space_number behind, std::uint64_t age);
  /// Whether a task may take memory; of age 0: always.
  bool may_take(memory::space_number space, std::uint64_t age) const noexcept {
    return age == 0 || age <= m_spaces[space].age.load(std::memory_order_seq_cst);
  }
  /// Blocks that stay where they are for a task that is as old or older, sorted. Age 0: for any.
  std::vector<const block::record*> protected_blocks(std::uint64_t age) const;
  /// The task of this age that uses these blocks has what it needs, or is given up; two threads may submit tasks of one
  /// age. Returns the spaces where it had claims: what waits there is to be woken.
  block::space_set end(std::uint64_t age, std::span<const block::access> blocks);
  /// Ends all of them, because nothing moves any more; there are none until the next call of `resume`. Returns as
  /// `end`.
  block::space_set suspend();
  void resume() noexcept { m_suspended.store(false, std::memory_order_relaxed); }
  bool suspended() const noexcept { return m_suspended.load(std::memory_order_relaxed); }
  bool any() const noexcept { return m_count.load(std::memory_order_seq_cst) != 0; }

 private:
  struct claim {
    std::atomic<std::uint64_t> age{no_claim};
    std::vector<const block::record*> blocks;  // under m_mutex
  };
  void set(claim& c, std::uint64_t age, std::vector<const block::record*> blocks);  // under m_mutex

  std::size_t m_size;
  std::unique_ptr<claim[]> m_spaces;
  std::atomic<std::size_t> m_count{0};
  std::atomic<bool> m_suspended{false};
  mutable std::mutex m_mutex;
};

}  // namespace tessera::transfer
