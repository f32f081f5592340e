// The part of `coherence` that copies what leaves a memory, or is about to, to the one behind it.
#include <algorithm>

#include "core/transfer/coherence.hpp"
#include "core/transfer/planned_transfer.hpp"

namespace tessera::transfer {

bool coherence::may_leave(const block::replica& r) const noexcept {
  if (m_spaces[r.space]->is_foreign(r.where)) return false;
  // The copy of one that is being cleaned holds a pin itself.
  return r.issuing == 0 && r.pins == (r.state == block::replica_state::cleaning ? 1u : 0u);
}

void coherence::leave(block::replica& r, std::uint64_t bytes) noexcept {
  r.state = block::replica_state::draining;
  m_leaving[r.space].fetch_add(bytes, std::memory_order_relaxed);
}

void coherence::stay(block::replica& r, std::uint64_t bytes) noexcept {
  if (r.state != block::replica_state::draining) return;
  r.state = block::replica_state::valid;
  m_leaving[r.space].fetch_sub(bytes, std::memory_order_relaxed);
}

/// What a copy behind takes; nothing when it cannot be tried.
std::optional<coherence::way_back> coherence::back_from(block::record& block, memory::space_number from) const {
  const memory::space_number to = m_parents[from];
  if (to == memory::no_space || m_links.between(from, to).how == route_kind::none || lost(from) || lost(to)) return std::nullopt;
  const std::unique_lock guard(block.lock, std::try_to_lock);
  if (!guard || m_trouble.exhausted(block, from, to, block.committed)) return std::nullopt;  // it stays, and others leave
  return way_back{.to = to, .bytes = block.bytes, .needs_room = block.find(to) == nullptr, .room = {}};
}

bool coherence::write_back(block::record& block, memory::space_number from, std::uint64_t& out_bytes,
                           std::uint64_t sequence, std::uint64_t& owed) {
  std::optional<way_back> way = back_from(block, from);
  if (!way) return false;
  if (way->needs_room) {
    // Tiers: what leaves this memory may first have to push something out of the next. The room there is taken before the
    // block is locked, since making it looks at other blocks.
    memory::space& parent = *m_spaces[way->to];
    const auto reserve = [&] { return m_claims.may_take(way->to, sequence) && parent.reserve({&way->bytes, 1}, {&way->room, 1}); };
    if (!reserve()) {
      parent.wake_too(*m_spaces[from]);
      if (!m_claims.may_take(way->to, sequence)) return false;
      m_claims.lack_behind(from, way->to, sequence);
      // What leaves the parent now makes room later: then whoever waits here is woken, and comes back.
      owed += parent.footprint(way->bytes);
      if (!make_room(way->to, owed, sequence)) return false;
      if (!reserve()) return true;
    }
  }
  if (!copy_back(block, from, *way, block::replica_state::draining)) return false;
  out_bytes = m_spaces[from]->footprint(way->bytes);
  return true;
}

bool coherence::write_ahead(block::record& block, memory::space_number from, std::uint64_t sequence) {
  std::optional<way_back> way = back_from(block, from);
  if (!way) return false;
  // Only where room is free: nothing leaves the parent for a copy that nobody needs yet.
  if (way->needs_room && !(m_claims.may_take(way->to, sequence) && m_spaces[way->to]->reserve({&way->bytes, 1}, {&way->room, 1}))) return false;
  if (!copy_back(block, from, *way, block::replica_state::cleaning)) return false;
  m_written_ahead.fetch_add(1, std::memory_order_relaxed);
  return true;
}

/// Begins to copy; `meanwhile` is the state of what is copied. Room that was reserved is used or given back.
bool coherence::copy_back(block::record& block, memory::space_number from, way_back& way, block::replica_state meanwhile) {
  memory::space& parent = *m_spaces[way.to];
  const std::uint64_t leaving = m_spaces[from]->footprint(way.bytes);
  planned p;
  const auto decide = [&] {
    const std::unique_lock guard(block.lock, std::try_to_lock);
    if (!guard || block.bytes != way.bytes) return false;
    block::replica* source = block.find(from);
    if (source == nullptr || source->pins != 0 || !may_leave(*source) || !block.only_valid_in(from)) return false;
    block::replica* target = block.find(way.to);
    if (target == nullptr && !way.needs_room) return false;
    // A pinned target is being overwritten by a task that needs no contents: what is here will be stale in a moment,
    // and a copy would spoil what that task writes.
    if (target != nullptr && (target->issuing != 0 || target->pins != 0)) return false;
    if (target == nullptr) {
      target = &block.add();
      target->space = way.to;
      target->state = block::replica_state::valid;
      target->version = 0;
      target->where = way.room;
      target->ready = {};
      way.room = {};
      parent.add_resident(block);
      source = block.find(from);  // add may have moved it
    }
    settle(*target);
    const stream* by = executor_of(from, way.to);
    const auto unreachable = [&](block::ticket t) { return t && !by->can_wait_for(m_streams.at(t.stream)); };
    if (unreachable(target->ready) ||
        (target->readers && std::ranges::any_of(*target->readers, unreachable)))
      return false;
    ++target->pins;
    target->last_use = parent.tick();
    p = plan(block, *target, from, true);
    if (meanwhile == block::replica_state::draining) leave(*source, leaving);
    else source->state = meanwhile;
    return true;
  };
  const bool decided = decide();
  if (way.room) parent.release(way.room, way.bytes);
  if (!decided) return false;
  try {
    issue(p, nullptr);
  } catch (const error& why) {
    copy_refused(p, why);
    m_failed_write_backs.fetch_add(1, std::memory_order_relaxed);
    const std::lock_guard guard(block.lock);
    if (block::replica* source = block.find(from)) {
      stay(*source, leaving);
      if (source->state == block::replica_state::cleaning) source->state = block::replica_state::valid;
    }
    if (block::replica* target = block.find(way.to)) --target->pins;
    return false;
  }
  return true;
}

}  // namespace tessera::transfer
