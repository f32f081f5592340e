#pragma once
// What holds of the replicas of one block: which can be used, and how they come and go.
#include <memory>
#include <span>
#include <vector>

#include "core/block/record.hpp"
#include "core/transfer/lost_blocks.hpp"
#include "core/transfer/memories.hpp"

namespace tessera::transfer {

/// The rules of replicas, for the thread that holds the block's lock, unless a function says otherwise. Keeps nothing
/// itself.
class replicas {
 public:
  replicas(memories& all, lost_blocks& lost) noexcept : m_memories(all), m_lost_blocks(lost) {}

  /// Whether a replica has the committed version, or is going to have it.
  bool usable(const block::replica& r, const block::record& b) const noexcept {
    return b.valid_in(r.space) && r.version == b.committed && b.committed != 0 && !m_memories.lost(r.space);
  }
  /// Whether the work that makes it has failed, and its completion has not been processed yet.
  bool doubtful(const block::replica& r) const;
  /// Whether its contents are there: usable, and nothing is on its way.
  bool arrived(const block::replica& r, const block::record& b) const noexcept {
    return usable(r, b) && !r.ready && r.issuing == 0;
  }
  /// Drops tickets that have been reached.
  void prune_tickets(block::replica& r) const;
  /// Adds a ticket to a list that has at most one for each stream, unless it has been reached. Needs no lock.
  void add_wait(std::vector<block::ticket>& waits, block::ticket t) const;

  /// A new replica without contents, in memory that was reserved for it. Invalidates pointers to replicas of the block.
  block::replica& add(block::record& block, memory::space_number space, block::chunk where);
  /// Frees a replica's memory and its entry; wakes no thread. What only a lost device had is given up with it.
  void drop(block::record& block, block::replica& r);
  /// The contents are on lost devices only: they are poisoned. Returns why.
  std::shared_ptr<const block::failure> give_up_contents(block::record& block);

  /// Ends the uses of an acquired task; its memory may be evicted from now on. Takes the blocks' locks.
  void unpin(std::span<const block::access> accesses) const;

 private:
  memories& m_memories;
  lost_blocks& m_lost_blocks;
};

}  // namespace tessera::transfer
