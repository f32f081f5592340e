#pragma once
// Blocks in memory of the program: their replica in one space, at home, is that memory.
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/transfer/replicas.hpp"

namespace tessera::transfer {

/// Whether the memory at an address is meant; empty: all is.
using memory_choice = std::function<bool(const void*)>;

/// One per runtime. Thread-safe. Knows which of these blocks have their last version elsewhere, so that a fence can
/// bring it home.
class adopted_memory {
 public:
  adopted_memory(memories& all, replicas& rules) noexcept : m_memories(all), m_replicas(rules) {}

  /// New blocks that lie one after the other in it: it has their first versions from now on. All is adopted in one
  /// space, its home. Throws as memory::foreign_memory::adopt, and has changed nothing then.
  void adopt(std::span<block::record* const> blocks, void* memory, memory::space_number home);
  /// The same for memory whose blocks come and go: it is adopted, and registered, once for all of them. Returns what
  /// `adopt_within` and `let_go` take.
  block::chunk take_over(void* memory, std::uint64_t bytes, memory::space_number home,
                         std::shared_ptr<const void> owner);
  /// New blocks in it, each at its offset in bytes: it has their first versions from now on. Throws nothing.
  void adopt_within(block::chunk all, std::span<block::record* const> blocks, std::span<const std::uint64_t> offsets);
  /// No further blocks in it: its owner is let go of when the last of those that are there has ended.
  void let_go(block::chunk all);
  /// Whether a space has the memory that a block is adopted in.
  bool is_home(const block::record& block, memory::space_number space) const noexcept {
    return block.foreign && space == m_home.load(std::memory_order_relaxed);
  }
  /// Whether versions were made elsewhere since the last take_stale; relaxed.
  bool any_stale() const noexcept { return m_any_stale.load(std::memory_order_relaxed); }
  /// A block is being added to: its last version is made when a task asks for it.
  void note_open_sum(const block::record& base);
  /// With the block's lock held: a version was made in this space.
  void note_version(block::record& block, memory::space_number made_in) {
    if (block.foreign && made_in != m_home.load(std::memory_order_relaxed)) note_stale(block);
  }
  /// The blocks in this memory whose last version is not at home now, though it could be; but for those that are kept
  /// to one thread. Not while `end` is called.
  std::vector<block::record*> take_stale(const memory_choice& where = {});
  void none_stale();  ///< when what take_stale gave is on its way: any_stale says so, unless there is more
  /// Whether a block is one of those.
  bool stale(block::record& block) const;
  /// The array of the block ends: take_stale does not return it any more.
  void end(block::record& block);

 private:
  void place(block::record& block, block::chunk where);
  void note_stale(block::record& block);
  bool is_stale(block::record& block) const;

  memories& m_memories;
  replicas& m_replicas;
  std::atomic<memory::space_number> m_home{memory::no_space};  // the same from the first adoption on
  std::mutex m_mutex;                                          // a leaf
  std::vector<block::record*> m_stale;                         // perhaps, and some of them twice
  std::atomic<bool> m_any_stale{false};
};

}  // namespace tessera::transfer
