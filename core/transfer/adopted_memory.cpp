#include "core/transfer/adopted_memory.hpp"

namespace tessera::transfer {

void adopted_memory::adopt(std::span<block::record* const> blocks, void* memory, memory::space_number home,
                           std::shared_ptr<const void> owner) {
  if (blocks.empty()) return;
  memory::space& space = m_memories.at(home);
  std::uint64_t bytes = 0;
  for (const block::record* b : blocks) bytes += b->bytes;
  const block::chunk all = space.adopt_foreign(memory, bytes, blocks.size(), std::move(owner));
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

void adopted_memory::note_open_sum(const block::record& base) {
  auto& block = const_cast<block::record&>(base);
  const std::lock_guard guard(block.lock);
  note_stale(block);
}

/// With the block's lock held: its last version is made elsewhere, or not made yet.
void adopted_memory::note_stale(block::record& block) {
  if (block.home != block::home_state::there) return;
  block.home = block::home_state::listed;
  const std::lock_guard guard(m_mutex);
  m_stale.push_back(&block);
  m_any_stale.store(true, std::memory_order_relaxed);
}

/// With the block's lock held.
bool adopted_memory::is_stale(block::record& block) const {
  if (!block.foreign || block.committed == 0 || block.poison != nullptr) return false;
  block::replica* const here = block.find(m_home.load(std::memory_order_relaxed));
  if (here == nullptr) return false;
  m_replicas.prune_tickets(*here);
  if (m_replicas.usable(*here, block)) return !m_replicas.arrived(*here, block);  // on its way
  bool elsewhere = false;  // what is lost with a device is reported elsewhere
  block.for_each_replica([&](const block::replica& r) { elsewhere = elsewhere || m_replicas.usable(r, block); });
  return elsewhere;
}

bool adopted_memory::stale(block::record& block) const {
  const std::lock_guard guard(block.lock);
  return is_stale(block);
}

std::vector<block::record*> adopted_memory::take_stale() {
  std::vector<block::record*> listed;
  {
    const std::lock_guard guard(m_mutex);
    listed.swap(m_stale);
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
    return b->flow.is_private || !(open || is_stale(*b));
  });
  return listed;
}

void adopted_memory::none_stale() {
  const std::lock_guard guard(m_mutex);
  if (m_stale.empty()) m_any_stale.store(false, std::memory_order_release);
}

void adopted_memory::end(block::record& block) {
  const std::lock_guard guard(block.lock);
  block.home = block::home_state::ending;
}

}  // namespace tessera::transfer
