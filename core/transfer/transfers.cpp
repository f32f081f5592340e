// The part of `coherence` that moves bytes: planning under locks, issuing without them, completion.
#include <fmt/format.h>

#include <algorithm>

#include "core/transfer/coherence.hpp"
#include "core/transfer/copy.hpp"
#include "core/transfer/planned_transfer.hpp"

namespace tessera::transfer {

planned coherence::plan(block::record& block, block::replica& target, memory::space_number from, bool write_back) {
  block::replica& source = *block.find(from);
  planned p;
  p.block = &block;
  p.from = from;
  p.to = target.space;
  p.version = block.committed;
  p.write_back = write_back;
  p.source = m_spaces[from]->address_of(source.where);
  p.destination = m_spaces[target.space]->address_of(target.where);
  if (m_spaces[from]->host_visible())
    p.source = {nullptr, reinterpret_cast<std::uintptr_t>(m_spaces[from]->host_pointer(source.where))};
  if (m_spaces[target.space]->host_visible())
    p.destination = {nullptr, reinterpret_cast<std::uintptr_t>(m_spaces[target.space]->host_pointer(target.where))};
  const auto wait_for = [&](block::ticket t) {
    if (t && !m_streams.reached(t)) p.waits.emplace_back(&m_streams.at(t.stream), t);
  };
  wait_for(source.ready);
  p.source_ready = source.ready;  // even when it has been reached: it may have failed since the source was chosen
  if (m_trouble.any() && m_trouble.failures(block, from, target.space, block.committed) > 0) m_trouble.note_retry();
  wait_for(target.ready);
  if (target.readers) {
    for (const block::ticket t : *target.readers) wait_for(t);
    target.readers->clear();
  }
  ++source.pins;
  ++source.issuing;
  ++target.issuing;
  target.state = block::replica_state::filling;
  target.version = block.committed;
  block.valid_spaces.add(target.space);
  return p;
}

void coherence::issue(planned& what, std::vector<block::ticket>* waits) {
  const route& way = m_links.between(what.from, what.to);
  memory::space &from = *m_spaces[what.from], &to = *m_spaces[what.to];
  block::record& b = *what.block;
  block::ticket arrived, left;  // left: the source is no longer read
  if (m_recorder != nullptr) what.issued = m_recorder->local().now();
  try {
    if (way.how == route_kind::staged) {
      stream& out = *m_copies[from.device().index()].out;
      stream& in = *m_copies[to.device().index()].in;
      arrived = m_rings[to.device().index()]->copy(from, what.source, out, to, what.destination, in, b.bytes,
                                                   {what.waits.data(), what.waits.size()}, what.source_ready, left, what.pieces);
    } else {
      stream& by = *executor_of(what.from, what.to);
      // Host memory of another plugin is plain host memory to the one that copies.
      const auto name = [&](const memory::space& s) {
        return s.device().plugin_name() == by.device().plugin_name() && !s.host_visible() ? s.reference()
                                                                                          : tsr_space_ref{nullptr, 0};
      };
      const std::lock_guard guard(by.enqueue_lock());
      for (const auto& [other, ticket] : what.waits) by.wait(*other, ticket);
      const std::uint64_t most = most_at_once(by.device(), b.bytes);
      std::uint64_t done = 0;
      try {
        for (; b.bytes - done > most; done += most)
          enqueue_copy(by, name(to), at(what.destination, done), name(from), at(what.source, done), most);
        enqueue_copy(by, name(to), at(what.destination, done), name(from), at(what.source, done), b.bytes - done);
      } catch (...) {
        if (done > 0) what.pieces.push_back(by.signal());  // waited for below
        throw;
      }
      arrived = left = by.signal({&what.source_ready, 1});
    }
  } catch (...) {
    for (const block::ticket piece : what.pieces) m_streams.passed_with_failure(piece);  // they still write to the target
    const std::lock_guard guard(b.lock);
    block::replica &source = *b.find(what.from), &target = *b.find(what.to);
    --source.pins, --source.issuing, --target.issuing;
    target.version = 0;
    target.state = block::replica_state::valid;
    b.valid_spaces.remove(what.to);
    throw;
  }
  link_counters& counters = m_links.counters(what.from, what.to);
  counters.transfers.fetch_add(1, std::memory_order_relaxed);
  counters.bytes.fetch_add(b.bytes, std::memory_order_relaxed);

  m_in_flight.fetch_add(1, std::memory_order_acq_rel);
  auto under_way = std::make_unique<transfer>();
  under_way->owner = this;
  under_way->what = what;
  what.arrived = arrived;
  under_way->done.at = arrived;
  under_way->done.fire = [](completion* self, tsr_status status) {
    auto* mine = reinterpret_cast<transfer*>(self);  // `done` is its first member
    mine->owner->transfer_done(*mine, status);
  };
  under_way->done.describe = [](const completion* self) {
    const planned& p = reinterpret_cast<const transfer*>(self)->what;
    const coherence& owner = *reinterpret_cast<const transfer*>(self)->owner;
    pending_work doing{fmt::format("the copy of {} from {} to {}", block::name_of(*p.block), owner.m_spaces[p.from]->name(),
                                   owner.m_spaces[p.to]->name()), {}};
    for (const auto& [by, point] : p.waits) doing.after.push_back(point);
    return doing;
  };
  {
    const std::lock_guard guard(b.lock);
    block::replica &source = *b.find(what.from), &target = *b.find(what.to);
    --source.issuing, --target.issuing;
    target.ready = arrived;
    if (!source.readers) source.readers = std::make_unique<std::vector<block::ticket>>();
    add_wait(*source.readers, left);
  }
  if (waits != nullptr) add_wait(*waits, arrived);
  stream& last = m_streams.at(arrived.stream);
  last.poll();  // an inline stream is done already
  last.on_completion(under_way.release()->done);
}

void coherence::transfer_done(transfer& t, tsr_status status) {
  const std::unique_ptr<transfer> owned(&t);
  const planned& what = t.what;
  block::record& b = *what.block;
  memory::space& from = *m_spaces[what.from];
  bool evictable = false;
  for (const block::ticket piece : what.pieces)
    if (status == TSR_OK && m_streams.passed_with_failure(piece)) status = TSR_INTERNAL;
  // The copy of something that was never made; whoever made it has said so, or is about to.
  if (status == TSR_OK && what.source_ready && m_streams.passed_with_failure(what.source_ready)) status = TSR_CANCELLED;
  if (m_recorder != nullptr) {
    trace::buffer& events = m_recorder->local();
    trace::event e{trace::event_kind::transfer};
    e.count = what.write_back;
    e.small = what.from;
    e.number = what.to;
    e.time = what.issued;
    e.task = m_recorder->name(block::name_of(b));
    e.words = {events.now(), b.bytes, trace::point_of(t.done.at.stream, t.done.at.value), 0, 0};
    for (std::size_t k = 0; k < std::min<std::size_t>(what.waits.size(), 2); ++k)
      e.words[3 + k] = trace::point_of(what.waits[k].second.stream, what.waits[k].second.value);
    events.add(e);
  }
  {
    const std::lock_guard guard(b.lock);
    block::replica* target = b.find(what.to);
    if (status != TSR_OK) {
      copy_failed(t, status);
    } else {
      m_trouble.arrived(b, what.to);
    }
    if (target != nullptr) settle(*target);
    block::replica* source = b.find(what.from);
    --source->pins;
    settle(*source);
    evictable = source->pins == 0;
    if (what.write_back && source->state == block::replica_state::cleaning) source->state = block::replica_state::valid;
    if (what.write_back && source->state == block::replica_state::draining) {
      stay(*source, from.footprint(b.bytes));
      const bool safe = status == TSR_OK && target != nullptr && usable(*target, b);
      if (evictable && source->issuing == 0 && (safe || !usable(*source, b))) {
        drop_replica(b, *source);
        from.count_eviction();
        if (m_recorder != nullptr) note_eviction(b, what.from, true);
        m_written_back.fetch_add(1, std::memory_order_relaxed);
      }
    }
    // A write-back pinned its target too, so that nothing else evicts it on the way.
    if (what.write_back && target != nullptr && target->pins > 0) --target->pins;
  }
  m_in_flight.fetch_sub(1, std::memory_order_acq_rel);
  if (evictable) from.notify();
  if (m_spaces[what.to]->was_full()) m_spaces[what.to]->notify();
}

}  // namespace tessera::transfer
