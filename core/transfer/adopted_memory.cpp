#include "core/transfer/adopted_memory.hpp"

#include <utility>

namespace tessera::transfer {

void adopted_memory::adopt(std::span<block::record* const> blocks, void* memory, memory::space_number home) {
  if (blocks.empty()) return;
  std::uint64_t bytes = 0;
  for (const block::record* b : blocks) bytes += b->bytes;
  const block::chunk all = m_memories.at(home).foreign().adopt(memory, bytes, blocks.size());
  m_home.store(home, std::memory_order_relaxed);
  std::uint64_t offset = 0;
  for (block::record* const b : blocks) {
    place(*b, block::chunk::at(all.slab(), offset));
    offset += b->bytes;
  }
}

/// The memory at home has its first version.
void adopted_memory::place(block::record& block, block::chunk where) {
  const std::lock_guard guard(block.lock);
  const memory::space_number home = m_home.load(std::memory_order_relaxed);
  block.foreign = true;
  block::replica& r = block.add();  // the first of a new block: it allocates nothing
  r.space = home;
  r.state = block::replica_state::valid;
  r.version = block.committed = block.flow.make_version();
  r.where = where;
  block.valid_spaces = block::space_set::of(home);
}

block::chunk adopted_memory::take_over(void* memory, std::uint64_t bytes, memory::space_number home,
                                       std::shared_ptr<const void> owner) {
  const block::chunk all = m_memories.at(home).foreign().adopt(memory, bytes, 1, std::move(owner));
  m_home.store(home, std::memory_order_relaxed);
  return all;
}

void adopted_memory::adopt_within(block::chunk all, std::span<block::record* const> blocks,
                                  std::span<const std::uint64_t> offsets) {
  m_memories.at(m_home.load(std::memory_order_relaxed)).foreign().share(all, blocks.size());
  for (std::size_t k = 0; k < blocks.size(); ++k) place(*blocks[k], block::chunk::at(all.slab(), offsets[k]));
}

void adopted_memory::let_go(block::chunk all) {
  m_memories.at(m_home.load(std::memory_order_relaxed)).foreign().forget(all);
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

// No block ends meanwhile.
std::vector<block::record*> adopted_memory::take_stale(const memory_choice& where) {
  std::vector<block::record*> listed, left;
  {
    const std::lock_guard guard(m_mutex);
    listed.swap(m_stale);
  }
  // One that has ended may be another block by now, which its maker alone looks into.
  const auto ended = [](block::record* b) {
    const std::lock_guard guard(b->lock);
    return b->home != block::home_state::listed;
  };
  std::erase_if(listed, [&](block::record* b) {
    if (ended(b)) return true;  // its end takes its last version home
    bool open = false;
    if (!b->flow.is_private) {  // else this thread may not look
      const std::lock_guard guard(b->flow.lock);
      open = b->sums != nullptr;
    }
    const std::lock_guard guard(b->lock);
    if (where) {
      const memory::space_number home = m_home.load(std::memory_order_relaxed);
      const block::replica* const here = b->find(home);
      if (here == nullptr || !where(m_memories.at(home).host_pointer(here->where))) {
        left.push_back(b);
        return true;
      }
    }
    b->home = block::home_state::there;
    return b->flow.is_private || !(open || is_stale(*b));
  });
  const std::lock_guard guard(m_mutex);
  m_stale.insert(m_stale.end(), left.begin(), left.end());
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
