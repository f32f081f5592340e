// The part of `coherence` that makes room.
#include <algorithm>

#include "core/transfer/coherence.hpp"
#include "core/transfer/planned_transfer.hpp"

namespace tessera::transfer {

/// Frees a replica's memory and its entry. With the block's lock held; wakes nobody by itself.
void coherence::drop_replica(block::record& block, block::replica& r) {
  memory::space& space = *m_spaces[r.space];
  space.remove_resident(block);
  if (block.foreign && space.host_visible()) space.forget_foreign(r.where);
  else space.give_back(r.where, block.bytes);
  block.valid_mask &= ~(std::uint64_t{1} << r.space);
  r.state = block::replica_state::absent;
  r.where = {};
  r.version = 0;
  r.ready = {};
  r.readers.reset();
}

bool coherence::evict(memory::space_number number, std::uint64_t bytes) {
  memory::space& space = *m_spaces[number];
  struct candidate {
    std::uint32_t age;
    block::record* block;
  };
  std::vector<candidate> victims;
  const std::uint32_t now = space.tick();
  for (block::record* b : space.residents()) {
    const std::unique_lock guard(b->lock, std::try_to_lock);
    if (!guard) continue;
    const block::replica* r = b->find(number);
    if (r == nullptr || r->pins != 0 || r->issuing != 0 || (b->foreign && space.host_visible())) continue;
    // A use noted after `now` counts as just now; the clock may wrap around.
    const auto age = static_cast<std::int32_t>(now - r->last_use);
    victims.push_back({static_cast<std::uint32_t>(std::max(age, 0)), b});
  }
  std::ranges::sort(victims, std::greater<>{}, &candidate::age);  // least recently used first

  std::uint64_t freed = 0, leaving = 0;
  for (const candidate& victim : victims) {
    if (freed + leaving >= bytes) break;
    block::record& b = *victim.block;
    bool sole = false;
    {
      const std::unique_lock guard(b.lock, std::try_to_lock);
      if (!guard) continue;
      block::replica* r = b.find(number);
      if (r == nullptr || r->pins != 0 || r->issuing != 0) continue;
      settle(*r);
      if (r->ready || (r->readers && !r->readers->empty())) continue;
      bool elsewhere = false;  // a copy that is already there, not one on its way
      b.for_each_replica([&](block::replica& other) {
        if (other.space == number || !usable(other, b)) return;
        settle(other);
        elsewhere = elsewhere || (!other.ready && other.issuing == 0);
      });
      if (!usable(*r, b) || elsewhere) {
        drop_replica(b, *r);
        freed += space.footprint(b.bytes);
        space.count_eviction();
        m_dropped.fetch_add(1, std::memory_order_relaxed);
        continue;
      }
      sole = b.only_valid_in(number);
    }
    std::uint64_t moved = 0;
    if (sole && write_back(b, number, moved)) leaving += moved;
  }
  if (freed > 0) space.notify();
  return freed + leaving > 0;
}

bool coherence::write_back(block::record& block, memory::space_number from, std::uint64_t& out_bytes) {
  const memory::space_number to = m_parents[from];
  if (to == memory::no_space || m_links.between(from, to).how == route_kind::none) return false;
  memory::space& parent = *m_spaces[to];
  planned p;
  {
    const std::unique_lock guard(block.lock, std::try_to_lock);
    if (!guard) return false;
    block::replica* source = block.find(from);
    if (source == nullptr || source->pins != 0 || source->issuing != 0 || !block.only_valid_in(from)) return false;
    block::replica* target = block.find(to);
    // A pinned target is being overwritten by a task that needs no contents: what is here will be stale in a moment,
    // and a copy would spoil what that task writes.
    if (target != nullptr && (target->issuing != 0 || target->pins != 0)) return false;
    if (target == nullptr) {
      block::chunk memory;
      if (!parent.reserve({&block.bytes, 1}, {&memory, 1})) return false;
      target = &block.add();
      target->space = to;
      target->state = block::replica_state::valid;
      target->version = 0;
      target->where = memory;
      target->ready = {};
      parent.add_resident(block);
      source = block.find(from);  // add may have moved it
    }
    settle(*target);
    const stream* by = executor_of(from, to);
    const auto unreachable = [&](block::ticket t) { return t && !by->can_wait_for(m_streams.at(t.stream)); };
    if (unreachable(target->ready) ||
        (target->readers && std::ranges::any_of(*target->readers, unreachable)))
      return false;
    ++target->pins;
    target->last_use = parent.tick();
    p = plan(block, *target, from, true);
    out_bytes = m_spaces[from]->footprint(block.bytes);
    source->state = block::replica_state::draining;
  }
  try {
    issue(p, nullptr);
  } catch (const error&) {
    const std::lock_guard guard(block.lock);
    if (block::replica* source = block.find(from)) source->state = block::replica_state::valid;
    if (block::replica* target = block.find(to)) --target->pins;
    return false;
  }
  return true;
}

bool coherence::try_drop(block::record& block, std::vector<block::ticket>& waits) {
  bool busy = false;
  std::uint64_t touched = 0;
  {
    const std::lock_guard guard(block.lock);
    block.for_each_replica([&](block::replica& r) {
      settle(r);
      if (r.ready) add_wait(waits, r.ready);
      if (r.readers)
        for (const block::ticket t : *r.readers) add_wait(waits, t);
      busy = busy || r.pins != 0 || r.issuing != 0;
    });
    if (busy || !waits.empty()) return false;
    block.for_each_replica([&](block::replica& r) {
      touched |= std::uint64_t{1} << r.space;
      drop_replica(block, r);
    });
  }
  for (std::size_t k = 0; k < m_spaces.size(); ++k)
    if (touched >> k & 1) m_spaces[k]->notify();
  return true;
}

}  // namespace tessera::transfer
