// The part of `coherence` that empties a space whose device leaves.
#include "core/transfer/coherence.hpp"

namespace tessera::transfer {

coherence::evacuation coherence::evacuate(memory::space_number number) {
  memory::space& space = *m_spaces[number];
  const memory::space_number to = m_parents[number];
  evacuation out;
  bool freed = false;
  std::uint64_t owed = 0;
  for (const auto& [b, arrival] : space.residents()) {
    std::uint64_t bytes = 0;
    bool target_busy = false;
    {
      const std::lock_guard guard(b->lock);
      block::replica* r = b->find(number);
      if (r == nullptr) continue;
      ++out.left;
      settle(*r);
      if (r->pins != 0 || r->issuing != 0 || r->ready || (r->readers && !r->readers->empty())) {
        out.waiting = true;
        continue;
      }
      bool elsewhere = false, arriving = false;
      b->for_each_replica([&](block::replica& other) {
        if (other.space == number) return;
        settle(other);
        target_busy = target_busy || (other.space == to && (other.pins != 0 || other.issuing != 0));
        if (!usable(other, *b)) return;
        const bool there = !other.ready && other.issuing == 0;
        elsewhere = elsewhere || there;
        arriving = arriving || !there;
      });
      if (!usable(*r, *b) || elsewhere || b->poison != nullptr) {
        drop_replica(*b, *r);
        --out.left;
        freed = true;
        space.count_eviction();
        if (m_recorder != nullptr) note_eviction(*b, number, false);
        m_dropped.fetch_add(1, std::memory_order_relaxed);
        continue;
      }
      if (arriving || target_busy) {  // whoever overwrites the parent's replica makes this one stale
        out.waiting = true;
        continue;
      }
      bytes = b->bytes;
    }
    std::uint64_t moved = 0;
    if (write_back(*b, number, moved, 0, owed)) {
      (moved > 0 ? out.progress : out.waiting) = true;  // nothing moved: something leaves the parent first
      continue;
    }
    block::chunk room;
    if (to != memory::no_space && m_links.between(number, to).how != route_kind::none &&
        m_spaces[to]->reserve({&bytes, 1}, {&room, 1})) {
      m_spaces[to]->give_back(room, bytes);
      out.again = true;  // it was not for lack of room
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
