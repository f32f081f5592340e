// The part of `coherence` that makes room.
#include <algorithm>

#include "core/transfer/coherence.hpp"
#include "core/transfer/use_log.hpp"

namespace tessera::transfer {

/// Frees a replica's memory and its entry. With the block's lock held; wakes nobody by itself.
void coherence::drop_replica(block::record& block, block::replica& r) {
  if (lost(r.space)) note_dropped(block, r);
  memory::space& space = *m_spaces[r.space];
  space.remove_resident(block);
  if (space.is_foreign(r.where)) space.forget_foreign(r.where);
  else space.give_back(r.where, block.bytes);
  block.valid_spaces.remove(r.space);
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
  const std::uint32_t now = space.tick();
  std::uint64_t dying = 0;  // of blocks that only tasks under way use: they can leave before anything that is wanted again
  for (const auto& [b, arrival] : space.residents()) {
    if (std::ranges::binary_search(kept, b)) continue;
    const std::unique_lock guard(b->lock, std::try_to_lock);
    if (!guard) continue;
    const block::replica* r = b->find(number);
    if (r == nullptr) continue;
    const std::uint64_t next = m_wants_uses ? use_log::next_use(*b) : use_log::never;
    if (!may_leave(*r)) {
      if (m_wants_uses && next == use_log::never && r->pins != 0) dying += space.footprint(b->bytes);
      continue;
    }
    if (next < sequence && usable(*r, *b)) continue;
    // A use noted after `now` counts as just now; the clock may wrap around.
    const auto idle = static_cast<std::uint64_t>(std::max(static_cast<std::int32_t>(now - r->last_use), 0));
    victims.push_back({next, m_eviction.policy == eviction_policy::fifo ? ~arrival : idle, b});
  }
  std::ranges::sort(victims, [](const candidate& a, const candidate& b) {
    return a.next_use != b.next_use ? a.next_use > b.next_use : a.age > b.age;
  });

  // Beyond what is wanted now, the next ones get a copy behind, so that they can leave at once when their turn comes. Where nothing is
  // known of the uses to come they would often be written again before that, and the copy made for nothing.
  const auto ahead = !m_wants_uses ? 0 : static_cast<std::uint64_t>(m_eviction.write_ahead * static_cast<double>(space.limit()));
  std::uint64_t freed = 0, leaving = 0, owed = 0, clean = 0;
  for (const candidate& victim : victims) {
    const bool now_wanted = freed + leaving + (victim.next_use == use_log::never ? 0 : dying) < bytes;
    block::record& b = *victim.block;
    std::uint64_t room = 0;  // that it takes; the record may be another block's when the lock is gone
    {
      const std::unique_lock guard(b.lock, std::try_to_lock);
      if (!guard) continue;
      block::replica* r = b.find(number);
      if (r == nullptr || !may_leave(*r)) continue;
      room = space.footprint(b.bytes);
      if (!now_wanted && clean + room > ahead) break;
      if (r->state == block::replica_state::cleaning) {
        if (now_wanted) {
          leave(*r, room);
          leaving += room;
        } else {
          clean += room;
        }
        continue;
      }
      settle(*r);
      if (r->ready || (r->readers && !r->readers->empty())) continue;
      bool elsewhere = false;  // a copy that is already there, not one on its way
      b.for_each_replica([&](block::replica& other) {
        if (other.space == number || !usable(other, b)) return;
        settle(other);
        elsewhere = elsewhere || (!other.ready && other.issuing == 0);
      });
      if (!usable(*r, b) || elsewhere) {
        if (!now_wanted) {
          clean += room;
          continue;
        }
        drop_replica(b, *r);
        freed += room;
        space.count_eviction();
        if (m_recorder != nullptr) note_eviction(b, number, false);
        m_dropped.fetch_add(1, std::memory_order_relaxed);
        continue;
      }
      if (!b.only_valid_in(number)) continue;  // its copy is on its way
    }
    if (!now_wanted) {
      if (use_log::will_be_written(b)) continue;
      if (!write_ahead(b, number, sequence)) break;
      clean += room;
      continue;
    }
    std::uint64_t moved = 0;
    // Nothing moved yet: it leaves when room has been made for it behind.
    if (write_back(b, number, moved, sequence, owed)) leaving += std::max(moved, room);
  }
  if (freed > 0) space.notify();
  return freed + leaving > 0;
}

bool coherence::try_drop(block::record& block, std::vector<block::ticket>& waits) {
  bool busy = false;
  block::space_set touched;
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
      touched.add(r.space);
      drop_replica(block, r);
    });
  }
  wake(touched);
  return true;
}

}  // namespace tessera::transfer
