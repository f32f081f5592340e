#include "core/transfer/evictor.hpp"

#include <algorithm>

#include "core/transfer/use_log.hpp"

namespace tessera::transfer {

eviction_policy parse_eviction(std::string_view text) {
  if (text == "next_use") return eviction_policy::next_use;
  if (text == "lru") return eviction_policy::lru;
  if (text == "fifo") return eviction_policy::fifo;
  throw error(error_kind::configuration, "unknown eviction policy '" + std::string(text) + "'", "memory.eviction",
              "one of next_use, lru, fifo");
}

/// A block that may leave.
struct evictor::candidate {
  std::uint64_t next_use;  // the farthest leaves first
  std::uint64_t age;       // then the oldest
  block::record* block;
};

evictor::evictor(memories& all, replicas& rules, copy_engine& copies, copy_failures& failures, claims& claimed,
                 eviction_settings settings)
    : m_memories(all),
      m_replicas(rules),
      m_copies(copies),
      m_failures(failures),
      m_claims(claimed),
      m_settings(settings),
      m_leaving(std::make_unique<std::atomic<std::uint64_t>[]>(all.all().size())) {
  for (const memory::space* s : all.all()) {
    const bool evicts = all.parent_of(s->number()) != memory::no_space && s->limit() != ~std::uint64_t{0};
    m_wants_uses = m_wants_uses || (evicts && settings.policy == eviction_policy::next_use);
  }
  copies.report_to(*this);
}

bool evictor::may_leave(const block::replica& r) const noexcept {
  if (m_memories.at(r.space).is_foreign(r.where)) return false;
  // The copy of one that is being cleaned holds a pin itself.
  return r.issuing == 0 && r.pins == (r.state == block::replica_state::cleaning ? 1u : 0u);
}

bool evictor::in_use(block::replica& r) const {
  m_replicas.prune_tickets(r);
  return r.pins != 0 || r.issuing != 0 || r.ready || (r.readers && !r.readers->empty());
}

bool evictor::is_elsewhere(block::record& block, memory::space_number besides) const {
  bool elsewhere = false;
  block.for_each_replica([&](block::replica& other) {
    if (other.space == besides || !m_replicas.usable(other, block)) return;
    m_replicas.prune_tickets(other);
    elsewhere = elsewhere || m_replicas.arrived(other, block);
  });
  return elsewhere;
}

void evictor::begin_eviction(block::replica& r, std::uint64_t block_bytes) noexcept {
  r.state = block::replica_state::draining;
  m_leaving[r.space].fetch_add(m_memories.at(r.space).allocated_size(block_bytes), std::memory_order_relaxed);
}

void evictor::cancel_eviction(block::replica& r, std::uint64_t block_bytes) noexcept {
  if (r.state != block::replica_state::draining) return;
  r.state = block::replica_state::valid;
  m_leaving[r.space].fetch_sub(m_memories.at(r.space).allocated_size(block_bytes), std::memory_order_relaxed);
}

void evictor::drop(block::record& block, block::replica& r) {
  const memory::space_number number = r.space;
  m_replicas.drop(block, r);
  m_memories.at(number).count_eviction();
  if (m_tracer != nullptr) trace_eviction(block, number, false);
  m_dropped.fetch_add(1, std::memory_order_relaxed);
}

void evictor::trace_eviction(const block::record& block, memory::space_number space, bool written_back) const {
  trace::buffer& events = m_tracer->local();
  trace::event e{trace::event_kind::evicted};
  e.count = written_back;
  e.number = space;
  e.time = events.now();
  e.task = m_tracer->name(block::name_of(block));
  e.words[0] = block.bytes;
  events.add(e);
}

eviction_statistics evictor::statistics() const noexcept {
  return {.dropped = m_dropped.load(), .written_back = m_written_back.load(), .written_ahead = m_written_ahead.load()};
}

void evictor::relieve(memory::space_number number, std::uint64_t sequence) {
  const memory::space& space = m_memories.at(number);
  if (!space.was_full() || m_memories.parent_of(number) == memory::no_space) return;
  const auto used = static_cast<double>(space.used()), limit = static_cast<double>(space.limit());
  if (used <= m_settings.high_watermark * limit) return;
  const double excess = used - m_settings.low_watermark * limit;
  const std::uint64_t leaving = m_leaving[number].load(std::memory_order_relaxed);
  if (excess > static_cast<double>(leaving)) evict(number, static_cast<std::uint64_t>(excess) - leaving, sequence);
}

bool evictor::make_room(memory::space_number number, std::uint64_t bytes, std::uint64_t sequence) {
  if (bytes == 0) return false;
  const memory::space& space = m_memories.at(number);
  const std::uint64_t leaving = m_leaving[number].load(std::memory_order_relaxed);
  const std::uint64_t there = space.limit() - std::min(space.used(), space.limit()) + leaving;
  if (there < bytes)
    bytes -= there;
  else if (leaving > 0)
    return true;
  return evict(number, bytes, sequence);  // with enough free it was in pieces too small
}

/// What may leave, the first to leave first. `out_dying`: bytes of blocks that only tasks under way use, which can
/// leave before anything that is wanted again.
std::vector<evictor::candidate> evictor::candidates(memory::space_number number, std::uint64_t sequence,
                                                    std::uint64_t& out_dying) {
  memory::space& space = m_memories.at(number);
  std::vector<candidate> found;
  const std::vector<const block::record*> kept = m_claims.protected_blocks(sequence);
  const std::uint32_t now = space.tick();
  for (const auto& [b, arrival] : space.residents()) {
    if (std::ranges::binary_search(kept, b)) continue;
    const std::unique_lock guard(b->lock, std::try_to_lock);
    if (!guard) continue;
    const block::replica* r = b->find(number);
    if (r == nullptr) continue;
    const use_log::coming_use coming = m_wants_uses ? use_log::next_use(*b) : use_log::coming_use();
    // What was expected for long ago will not come.
    const std::uint64_t next = coming.expected && coming.age < sequence ? use_log::never : coming.age;
    if (!may_leave(*r)) {
      if (m_wants_uses && next == use_log::never && r->pins != 0) out_dying += space.allocated_size(b->bytes);
      continue;
    }
    if (next < sequence && m_replicas.usable(*r, *b)) continue;
    // A use noted after `now` counts as just now; the clock may wrap around.
    const auto idle = static_cast<std::uint64_t>(std::max(static_cast<std::int32_t>(now - r->last_use), 0));
    found.push_back({next, m_settings.policy == eviction_policy::fifo ? ~arrival : idle, b});
  }
  std::ranges::sort(found, [](const candidate& a, const candidate& b) {
    return a.next_use != b.next_use ? a.next_use > b.next_use : a.age > b.age;
  });
  return found;
}

bool evictor::evict(memory::space_number number, std::uint64_t bytes, std::uint64_t sequence) {
  memory::space& space = m_memories.at(number);
  std::uint64_t dying = 0;
  const std::vector<candidate> victims = candidates(number, sequence, dying);
  // Beyond what is wanted now, the next ones are copied to the parent, so that they can leave at once when their turn
  // comes. Where nothing is known of the uses to come they would often be written again before that, and the copy made
  // for nothing.
  const auto ahead =
      !m_wants_uses ? 0 : static_cast<std::uint64_t>(m_settings.write_ahead * static_cast<double>(space.limit()));
  std::uint64_t freed = 0, leaving = 0, deficit = 0, clean = 0;
  for (const candidate& victim : victims) {
    const bool now_wanted = freed + leaving + (victim.next_use == use_log::never ? 0 : dying) < bytes;
    block::record& b = *victim.block;
    std::uint64_t room = 0;  // that it takes; the record may be another block's when the lock is gone
    {
      const std::unique_lock guard(b.lock, std::try_to_lock);
      if (!guard) continue;
      block::replica* r = b.find(number);
      if (r == nullptr || !may_leave(*r)) continue;
      room = space.allocated_size(b.bytes);
      if (!now_wanted && clean + room > ahead) break;
      if (r->state == block::replica_state::cleaning) {
        if (now_wanted) begin_eviction(*r, b.bytes);
        (now_wanted ? leaving : clean) += room;
        continue;
      }
      if (in_use(*r)) continue;
      if (!m_replicas.usable(*r, b) || is_elsewhere(b, number)) {
        if (now_wanted) drop(b, *r);
        (now_wanted ? freed : clean) += room;
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
    // Nothing moved yet: it leaves when room has been made for it in the parent.
    if (write_back(b, number, moved, sequence, deficit)) leaving += std::max(moved, room);
  }
  if (freed > 0) space.notify();
  return freed + leaving > 0;
}

evacuation evictor::evacuate(memory::space_number number) {
  memory::space& space = m_memories.at(number);
  const memory::space_number to = m_memories.parent_of(number);
  evacuation out;
  bool freed = false;
  std::uint64_t deficit = 0;
  for (const auto& [b, arrival] : space.residents()) {
    std::uint64_t bytes = 0;
    {
      const std::lock_guard guard(b->lock);
      block::replica* r = b->find(number);
      if (r == nullptr) continue;
      ++out.left;
      if (in_use(*r)) {
        out.waiting = true;
        continue;
      }
      if (!m_replicas.usable(*r, *b) || is_elsewhere(*b, number) || b->poison != nullptr) {
        drop(*b, *r);
        --out.left;
        freed = true;
        continue;
      }
      bool arriving = false, target_busy = false;  // a task that overwrites the parent's replica makes this one stale
      b->for_each_replica([&](const block::replica& other) {
        arriving = arriving || (other.space != number && m_replicas.usable(other, *b));
        target_busy = target_busy || (other.space == to && (other.pins != 0 || other.issuing != 0));
      });
      if (arriving || target_busy) {
        out.waiting = true;
        continue;
      }
      bytes = b->bytes;
    }
    std::uint64_t moved = 0;
    if (write_back(*b, number, moved, 0, deficit)) {
      (moved > 0 ? out.progress : out.waiting) = true;  // nothing moved: something leaves the parent first
      continue;
    }
    block::chunk room;
    if (to != memory::no_space && m_memories.links().between(number, to).kind != route_kind::none &&
        m_memories.at(to).reserve({&bytes, 1}, {&room, 1})) {
      m_memories.at(to).give_back(room, bytes);
      out.busy = true;  // it was not for lack of room
      continue;
    }
    if (out.lacking_bytes == 0) {
      const std::lock_guard guard(b->lock);
      out.example = block::name_of(*b);
    }
    out.lacking_bytes += bytes;
  }
  out.progress = out.progress || freed;
  if (freed) space.notify();
  return out;
}

}  // namespace tessera::transfer
