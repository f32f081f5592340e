// The part of `coherence` that knows memory of the program: blocks whose replica in one space, at home, is that memory.
#include "core/transfer/coherence.hpp"

namespace tessera::transfer {

void coherence::adopt(std::span<block::record* const> blocks, void* memory, memory::space_number home) {
  if (blocks.empty()) return;
  memory::space& space = *m_spaces[home];
  std::uint64_t bytes = 0;
  for (const block::record* b : blocks) bytes += b->bytes;
  const block::chunk all = space.adopt_foreign(memory, bytes, blocks.size());
  m_home.store(home, std::memory_order_relaxed);
  std::uint64_t offset = 0;
  for (block::record* const b : blocks) {
    const std::lock_guard guard(b->lock);
    b->foreign = true;
    block::replica& r = b->add();  // the first of a new block: it allocates nothing
    r.space = home;
    r.state = block::replica_state::valid;
    r.version = b->committed = b->flow.make_version();
    r.where = block::chunk::at(all.slab(), offset);
    b->valid_spaces = block::space_set::of(home);
    offset += b->bytes;
  }
}

void coherence::note_open_sum(const block::record& base) {
  auto& block = const_cast<block::record&>(base);
  const std::lock_guard guard(block.lock);
  note_away(block);
}

/// With the block's lock held: its last version is made elsewhere, or not made yet.
void coherence::note_away(block::record& block) {
  if (block.home != block::home_state::there) return;
  block.home = block::home_state::listed;
  const std::lock_guard guard(m_away_mutex);
  m_away.push_back(&block);
  m_any_away.store(true, std::memory_order_relaxed);
}

/// With the block's lock held.
bool coherence::is_away(block::record& block) const {
  if (!block.foreign || block.committed == 0 || block.poison != nullptr) return false;
  block::replica* const here = block.find(m_home.load(std::memory_order_relaxed));
  if (here == nullptr) return false;
  settle(*here);
  if (usable(*here, block)) return here->ready || here->issuing != 0;  // on its way
  bool elsewhere = false;                                              // what is lost with a device is told by others
  block.for_each_replica([&](const block::replica& r) { elsewhere = elsewhere || usable(r, block); });
  return elsewhere;
}

bool coherence::away(block::record& block) const {
  const std::lock_guard guard(block.lock);
  return is_away(block);
}

std::vector<block::record*> coherence::take_away() {
  std::vector<block::record*> listed;
  {
    const std::lock_guard guard(m_away_mutex);
    listed.swap(m_away);
  }
  std::erase_if(listed, [&](block::record* b) {
    bool open = false;
    if (!b->flow.is_private) {  // else this thread may not look
      const std::lock_guard guard(b->flow.lock);
      open = b->sums != nullptr;
    }
    const std::lock_guard guard(b->lock);
    if (b->home != block::home_state::listed) return true;  // its end takes its last version home
    b->home = block::home_state::there;
    return b->flow.is_private || !(open || is_away(*b));
  });
  return listed;
}

void coherence::none_away() {
  const std::lock_guard guard(m_away_mutex);
  if (m_away.empty()) m_any_away.store(false, std::memory_order_release);
}

void coherence::end_adoption(block::record& block) {
  const std::lock_guard guard(block.lock);
  block.home = block::home_state::ending;
}

}  // namespace tessera::transfer
