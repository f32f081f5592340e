#include "core/transfer/replicas.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/transfer/invariants.hpp"

namespace tessera::transfer {

bool replicas::doubtful(const block::replica& r) const {
  return r.ready && m_memories.streams().reached(r.ready) && m_memories.streams().failed(r.ready);
}

void replicas::prune_tickets(block::replica& r) const {
  const stream_table& streams = m_memories.streams();
  if (r.ready && streams.reached(r.ready) && !streams.failed(r.ready)) r.ready = {};
  if (r.state == block::replica_state::filling && !r.ready && r.issuing == 0) r.state = block::replica_state::valid;
  if (r.readers) std::erase_if(*r.readers, [&](block::ticket t) { return streams.reached(t); });
}

void replicas::add_wait(std::vector<block::ticket>& waits, block::ticket t) const {
  if (m_memories.streams().reached(t)) return;
  for (block::ticket& w : waits)
    if (w.stream == t.stream) {
      w.value = std::max(w.value, t.value);
      return;
    }
  waits.push_back(t);
}

block::replica& replicas::add(block::record& block, memory::space_number space, block::chunk where) {
  block::replica& r = block.add();
  r.space = space;
  r.state = block::replica_state::valid;
  r.version = 0;
  r.where = where;
  r.ready = {};
  m_memories.at(space).residents().add(block);
  return r;
}

void replicas::drop(block::record& block, block::replica& r) {
  if (m_memories.lost(r.space) && block.valid_in(r.space) && block.committed != 0 && block.poison == nullptr) {
    bool elsewhere = false;  // maybe only on its way: when that copy fails, its completion looks again
    block.for_each_replica([&](const block::replica& other) { elsewhere = elsewhere || usable(other, block); });
    if (!elsewhere) give_up_contents(block);
  }
  memory::space& space = m_memories.at(r.space);
  space.residents().remove(block);
  if (space.foreign().has(r.where))
    space.foreign().forget(r.where);
  else
    space.give_back(r.where, block.bytes);
  block.valid_spaces.remove(r.space);
  r.state = block::replica_state::absent;
  r.where = {};
  r.version = 0;
  r.ready = {};
  r.readers.reset();
}

std::shared_ptr<const block::failure> replicas::give_up_contents(block::record& block) {
  std::string where = "a device";
  block.for_each_replica([&](const block::replica& r) {
    if (block.valid_in(r.space) && m_memories.lost(r.space)) where = m_memories.at(r.space).device().name();
  });
  auto why = std::make_shared<const block::failure>(
      block::failure{fmt::format("{} is lost: its only copy was on {}, which is lost", block::name_of(block), where),
                     {},
                     error_kind::device,
                     true});
  block.set_poison(why);
  if (block.from != nullptr) m_lost_blocks.note(block, why);
  return why;
}

void replicas::unpin(std::span<const block::access> accesses) const {
  for (const block::access& a : accesses) {
    bool evictable = false;
    {
      const std::lock_guard guard(a.block->lock);
      block::replica* const here = a.block->find(a.space);
      if (here != nullptr && here->pins > 0) evictable = --here->pins == 0;
      check_invariants(*a.block);
    }
    memory::space& space = m_memories.at(a.space);
    // Also when nothing waits yet: a task that has seen the pin and is about to wait must see that something has
    // happened since.
    if (evictable && space.was_full()) space.waiters().notify();
  }
}

}  // namespace tessera::transfer
