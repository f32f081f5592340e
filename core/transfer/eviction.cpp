// The part of `coherence` that makes room.
#include <algorithm>

#include "core/transfer/coherence.hpp"
#include "core/transfer/planned_transfer.hpp"

namespace tessera::transfer {

/// Frees a replica's memory and its entry. With the block's lock held; wakes nobody by itself.
void coherence::drop_replica(block::record& block, block::replica& r) {
  if (lost(r.space)) note_dropped(block, r);
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

eviction_policy parse_eviction(std::string_view text) {
  if (text == "next_use") return eviction_policy::next_use;
  if (text == "lru") return eviction_policy::lru;
  if (text == "fifo") return eviction_policy::fifo;
  throw error(error_kind::configuration, "unknown eviction policy '" + std::string(text) + "'", "memory.eviction",
              "one of next_use, lru, fifo");
}

void coherence::add_log(use_log& log) {
  const std::lock_guard guard(m_uses_mutex);
  m_logs.push_back(&log);
}

void coherence::find_next_uses(std::span<const memory::space::resident> residents) {
  for (const auto& r : residents) r.block->next_use = ~std::uint64_t{0};
  for (use_log* log : m_logs)
    log->for_each_pending(
        [](block::record& b, std::uint64_t sequence) { b.next_use = std::min(b.next_use, sequence); });
}

void coherence::relieve(memory::space_number number, std::uint64_t sequence) {
  const memory::space& space = *m_spaces[number];
  if (!space.was_full() || m_parents[number] == memory::no_space) return;
  const double used = static_cast<double>(space.used()), limit = static_cast<double>(space.limit());
  if (used <= m_eviction.high_watermark * limit) return;
  const double excess = used - m_eviction.low_watermark * limit;
  const std::uint64_t leaving = m_leaving[number].load(std::memory_order_relaxed);
  if (excess > static_cast<double>(leaving)) evict(number, static_cast<std::uint64_t>(excess) - leaving, sequence);
}

bool coherence::make_room(memory::space_number number, std::uint64_t bytes, std::uint64_t sequence) {
  if (bytes == 0) return false;
  const memory::space& space = *m_spaces[number];
  const std::uint64_t leaving = m_leaving[number].load(std::memory_order_relaxed);
  const std::uint64_t there = space.limit() - std::min(space.used(), space.limit()) + leaving;
  if (there < bytes) bytes -= there;
  else if (leaving > 0) return true;
  return evict(number, bytes, sequence);  // with enough free it was in pieces too small
}

void coherence::note_eviction(const block::record& block, memory::space_number space, bool written_back) const {
  trace::buffer& events = m_recorder->local();
  trace::event e{trace::event_kind::evicted};
  e.count = written_back;
  e.number = space;
  e.time = events.now();
  e.task = m_recorder->name(block::name_of(block));
  e.words[0] = block.bytes;
  events.add(e);
}

bool coherence::evict(memory::space_number number, std::uint64_t bytes, std::uint64_t sequence) {
  memory::space& space = *m_spaces[number];
  struct candidate {
    std::uint64_t next_use;  // the farthest leaves first
    std::uint64_t age;       // then the oldest
    block::record* block;
  };
  std::vector<candidate> victims;
  const std::vector<const block::record*> kept = m_claims.kept_from(sequence);
  const std::vector<memory::space::resident> residents = space.residents();
  const std::uint32_t now = space.tick();
  {
    std::unique_lock uses(m_uses_mutex, std::defer_lock);
    if (m_wants_uses) {
      uses.lock();
      find_next_uses(residents);
    }
    for (const auto& [b, arrival] : residents) {
      if (std::ranges::binary_search(kept, b)) continue;
      const std::unique_lock guard(b->lock, std::try_to_lock);
      if (!guard) continue;
      const block::replica* r = b->find(number);
      if (r == nullptr || r->pins != 0 || r->issuing != 0 || (b->foreign && space.host_visible())) continue;
      const std::uint64_t next = m_wants_uses ? b->next_use : ~std::uint64_t{0};
      if (next < sequence && usable(*r, *b)) continue;
      // A use noted after `now` counts as just now; the clock may wrap around.
      const auto idle = static_cast<std::uint64_t>(std::max(static_cast<std::int32_t>(now - r->last_use), 0));
      victims.push_back({next, m_eviction.policy == eviction_policy::fifo ? ~arrival : idle, b});
    }
  }
  std::ranges::sort(victims, [](const candidate& a, const candidate& b) {
    return a.next_use != b.next_use ? a.next_use > b.next_use : a.age > b.age;
  });

  std::uint64_t freed = 0, leaving = 0, owed = 0;
  for (const candidate& victim : victims) {
    if (freed + leaving >= bytes) break;
    block::record& b = *victim.block;
    bool sole = false;
    std::uint64_t room = 0;  // that it takes; the record may be another block's when the lock is gone
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
        if (m_recorder != nullptr) note_eviction(b, number, false);
        m_dropped.fetch_add(1, std::memory_order_relaxed);
        continue;
      }
      sole = b.only_valid_in(number);
      room = space.footprint(b.bytes);
    }
    std::uint64_t moved = 0;
    // Nothing moved yet: it leaves when room has been made for it behind.
    if (sole && write_back(b, number, moved, sequence, owed)) leaving += std::max(moved, room);
  }
  if (freed > 0) space.notify();
  return freed + leaving > 0;
}

bool coherence::write_back(block::record& block, memory::space_number from, std::uint64_t& out_bytes,
                           std::uint64_t sequence, std::uint64_t& owed) {
  const memory::space_number to = m_parents[from];
  if (to == memory::no_space || m_links.between(from, to).how == route_kind::none || lost(from) || lost(to)) return false;
  memory::space& parent = *m_spaces[to];
  // Tiers: what leaves this memory may first have to push something out of the next. The room there is taken before the
  // block is locked, since making it looks at other blocks.
  std::uint64_t bytes = 0;
  bool needs_room = false;
  {
    const std::unique_lock guard(block.lock, std::try_to_lock);
    if (!guard) return false;
    if (m_trouble.exhausted(block, from, to, block.committed)) return false;  // it stays, and others leave
    bytes = block.bytes;
    needs_room = block.find(to) == nullptr;
  }
  block::chunk room;
  if (needs_room) {
    const auto reserve = [&] { return m_claims.may_take(to, sequence) && parent.reserve({&bytes, 1}, {&room, 1}); };
    if (!reserve()) {
      parent.wake_too(*m_spaces[from]);
      if (!m_claims.may_take(to, sequence)) return false;
      m_claims.lack_behind(from, to, sequence);
      // What leaves the parent now makes room later: then whoever waits here is woken, and comes back.
      owed += parent.footprint(bytes);
      if (!make_room(to, owed, sequence)) return false;
      if (!reserve()) return true;
    }
  }
  planned p;
  const auto decide = [&] {
    const std::unique_lock guard(block.lock, std::try_to_lock);
    if (!guard || block.bytes != bytes) return false;
    block::replica* source = block.find(from);
    if (source == nullptr || source->pins != 0 || source->issuing != 0 || !block.only_valid_in(from)) return false;
    block::replica* target = block.find(to);
    if (target == nullptr && !needs_room) return false;
    // A pinned target is being overwritten by a task that needs no contents: what is here will be stale in a moment,
    // and a copy would spoil what that task writes.
    if (target != nullptr && (target->issuing != 0 || target->pins != 0)) return false;
    if (target == nullptr) {
      target = &block.add();
      target->space = to;
      target->state = block::replica_state::valid;
      target->version = 0;
      target->where = room;
      target->ready = {};
      room = {};
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
    out_bytes = m_spaces[from]->footprint(bytes);
    m_leaving[from].fetch_add(out_bytes, std::memory_order_relaxed);
    source->state = block::replica_state::draining;
    return true;
  };
  const bool decided = decide();
  if (room) parent.release(room, bytes);
  if (!decided) return false;
  try {
    issue(p, nullptr);
  } catch (const error& why) {
    copy_refused(p, why);
    m_failed_write_backs.fetch_add(1, std::memory_order_relaxed);
    m_leaving[from].fetch_sub(out_bytes, std::memory_order_relaxed);
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
    m_trouble.forget(block);
    m_losses.forget(block);
    block.committed = 0;  // nobody misses it
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
