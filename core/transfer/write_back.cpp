// The part of the evictor that copies what leaves a memory, or is about to, to the parent memory.
#include <algorithm>

#include "core/transfer/evictor.hpp"

namespace tessera::transfer {

/// What the copy takes; nothing when it cannot be tried.
std::optional<evictor::write_back_plan> evictor::plan_write_back(block::record& block,
                                                                 memory::space_number from) const {
  const memory::space_number to = m_memories.parent_of(from);
  if (to == memory::no_space || m_memories.links().between(from, to).kind == route_kind::none) return std::nullopt;
  if (m_memories.lost(from) || m_memories.lost(to)) return std::nullopt;
  const std::unique_lock guard(block.lock, std::try_to_lock);
  if (!guard || m_failures.exhausted(block, from, to, block.committed))
    return std::nullopt;  // it stays, and others leave
  return write_back_plan{.to = to, .bytes = block.bytes, .needs_room = block.find(to) == nullptr, .room = {}};
}

bool evictor::write_back(block::record& block, memory::space_number from, std::uint64_t& out_bytes,
                         std::uint64_t sequence, std::uint64_t& deficit) {
  std::optional<write_back_plan> plan = plan_write_back(block, from);
  if (!plan) return false;
  if (plan->needs_room) {
    // Tiers: what leaves this memory may first have to push something out of the next. The room there is taken before
    // the block is locked, since making it looks at other blocks.
    memory::space& parent = m_memories.at(plan->to);
    const auto reserve = [&] {
      return m_claims.may_take(plan->to, sequence) && parent.reserve({&plan->bytes, 1}, {&plan->room, 1});
    };
    if (!reserve()) {
      parent.waiters().wake_too(m_memories.at(from).waiters());
      if (!m_claims.may_take(plan->to, sequence)) return false;
      m_claims.extend_to_parent(from, plan->to, sequence);
      // What leaves the parent now makes room later: then the tasks that wait here are woken, and come back.
      deficit += parent.allocated_size(plan->bytes);
      if (!make_bytes_free(plan->to, deficit, sequence)) return false;
      if (!reserve()) return true;
    }
  }
  if (!copy_back(block, from, *plan, block::replica_state::draining)) return false;
  out_bytes = m_memories.at(from).allocated_size(plan->bytes);
  return true;
}

bool evictor::write_ahead(block::record& block, memory::space_number from, std::uint64_t sequence) {
  std::optional<write_back_plan> plan = plan_write_back(block, from);
  if (!plan) return false;
  // Only where room is free: nothing leaves the parent for a copy that no task needs yet.
  if (plan->needs_room &&
      !(m_claims.may_take(plan->to, sequence) && m_memories.at(plan->to).reserve({&plan->bytes, 1}, {&plan->room, 1})))
    return false;
  if (!copy_back(block, from, *plan, block::replica_state::cleaning)) return false;
  m_written_ahead.fetch_add(1, std::memory_order_relaxed);
  return true;
}

/// Under the block's lock, unless that is busy: the copy, or nothing where the block is used after all.
std::optional<planned_copy> evictor::decide(block::record& block, memory::space_number from, write_back_plan& plan,
                                            block::replica_state meanwhile) {
  const std::unique_lock guard(block.lock, std::try_to_lock);
  if (!guard || block.bytes != plan.bytes) return std::nullopt;
  block::replica* source = block.find(from);
  if (source == nullptr || source->pins != 0 || !may_leave(*source) || !block.only_valid_in(from)) return std::nullopt;
  block::replica* target = block.find(plan.to);
  if (target == nullptr && !plan.needs_room) return std::nullopt;
  // A pinned target is being overwritten by a task that needs no contents: what is here will be stale in a moment,
  // and a copy would spoil what that task writes.
  if (target != nullptr && (target->issuing != 0 || target->pins != 0)) return std::nullopt;
  if (target == nullptr) {
    target = &m_replicas.add(block, plan.to, std::exchange(plan.room, {}));
    source = block.find(from);  // add may have moved it
  }
  m_replicas.prune_tickets(*target);
  const stream& by = m_copies.stream_between(from, plan.to);
  const auto unreachable = [&](block::ticket t) { return t && !by.can_wait_for(m_memories.streams().at(t.stream)); };
  if (unreachable(target->ready) || (target->readers && std::ranges::any_of(*target->readers, unreachable)))
    return std::nullopt;
  ++target->pins;
  target->last_use = m_memories.at(plan.to).tick();
  std::optional<planned_copy> copy = m_copies.plan(block, *target, from, copy_purpose::write_back);
  if (meanwhile == block::replica_state::draining)
    begin_eviction(*source, block.bytes);
  else
    source->state = meanwhile;
  return copy;
}

/// Begins to copy; `meanwhile` is the state of what is copied. Room that was reserved is used or given back.
bool evictor::copy_back(block::record& block, memory::space_number from, write_back_plan& plan,
                        block::replica_state meanwhile) {
  std::optional<planned_copy> copy = decide(block, from, plan, meanwhile);
  if (plan.room) m_memories.at(plan.to).release(plan.room, plan.bytes);
  if (!copy) return false;
  try {
    m_copies.issue(*copy, nullptr);
  } catch (const error& why) {
    m_copies.note_refused(*copy, why);
    const std::lock_guard guard(block.lock);
    if (block::replica* source = block.find(from)) {
      cancel_eviction(*source, plan.bytes);
      if (source->state == block::replica_state::cleaning) source->state = block::replica_state::valid;
    }
    if (block::replica* target = block.find(plan.to)) --target->pins;
    return false;
  }
  return true;
}

void evictor::write_back_ended(block::record& block, block::replica& source, bool arrived) {
  if (source.state == block::replica_state::cleaning) source.state = block::replica_state::valid;
  if (source.state != block::replica_state::draining) return;
  cancel_eviction(source, block.bytes);
  if (source.pins != 0 || source.issuing != 0 || !(arrived || !m_replicas.usable(source, block))) return;
  const memory::space_number from = source.space;
  m_replicas.drop(block, source);
  m_memories.at(from).count_eviction();
  if (m_tracer != nullptr) trace_eviction(block, from, true);
  m_written_back.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace tessera::transfer
