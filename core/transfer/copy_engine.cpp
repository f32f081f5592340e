#include "core/transfer/copy_engine.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/transfer/copy.hpp"

namespace tessera::transfer {

/// Enqueued. Frees itself when it is done.
struct copy_engine::copy_in_flight {
  /// What one stream does for it, so that a stream that hangs can tell what it is doing.
  struct part : completion {
    copy_in_flight* whole = nullptr;

    void begin(copy_in_flight& copy, block::ticket end) {
      whole = &copy;
      ticket = end;
      fire = [](completion* self, tsr_status status) {
        auto* const mine = static_cast<part*>(self);
        mine->whole->ended(*mine, status);
      };
      describe = [](const completion* self) {
        const auto* const mine = static_cast<const part*>(self);
        return mine->whole->describe(mine->ticket.stream);
      };
    }
  };

  copy_in_flight(copy_engine& engine, planned_copy planned)
      : owner(&engine), plan(std::move(planned)), parts(staged() ? 2 : 1) {
    arriving.begin(*this, plan.points.arrived);
    if (staged()) leaving.begin(*this, plan.points.left);
  }
  /// Over two streams.
  bool staged() const noexcept { return plan.points.left.stream != plan.points.arrived.stream; }

  void ended(const part& one, tsr_status status) {
    if (&one == &arriving) arrival = status;  // it fails with all that it depends on
    if (parts.fetch_sub(1, std::memory_order_acq_rel) == 1) owner->completed(*this, arrival);
  }
  pending_work describe(std::uint32_t stream) const {
    const memories& all = owner->m_memories;
    pending_work doing{fmt::format("the copy of {} from {} to {}", block::name_of(*plan.block),
                                   all.at(plan.from).name(), all.at(plan.to).name()),
                       plan.points.behind};
    for (const auto& [by, point] : plan.waits) doing.after.push_back(point);
    // The streams take turns: the first piece that is not there holds up the other one.
    const auto next =
        std::ranges::find_if(plan.points.pieces, [&](block::ticket t) { return !all.streams().reached(t); });
    if (next != plan.points.pieces.end() && next->stream != stream) doing.after.push_back(*next);
    return doing;
  }

  copy_engine* owner;
  planned_copy plan;
  part arriving, leaving;  // leaving: of a staged one
  std::atomic<int> parts;  // that have not ended
  tsr_status arrival = TSR_OK;
};

copy_engine::copy_engine(memories& all, replicas& rules, copy_failures& failures, device_losses& losses,
                         std::uint64_t staging_bytes)
    : m_memories(all), m_replicas(rules), m_failures(failures), m_losses(losses) {
  make_streams();
  make_rings(staging_bytes);
}

void copy_engine::make_streams() {
  for (const memory::space* s : m_memories.all()) {
    const plugin::device& device = s->device();
    if (m_streams_of.size() <= device.index())
      m_streams_of.resize(device.index() + 1), m_rings.resize(device.index() + 1);
    copy_streams& copies = m_streams_of[device.index()];
    if (copies.in != nullptr) continue;
    if (device.has(TSR_DEVICE_INLINE)) {
      copies.in = copies.out = &m_memories.streams().create(device, TSR_STREAM_COPY | TSR_STREAM_INLINE);
    } else {
      copies.in = &m_memories.streams().create(device, TSR_STREAM_COPY);
      copies.out = share_of(device).copying == 1 ? copies.in : &m_memories.streams().create(device, TSR_STREAM_COPY);
    }
  }
}

void copy_engine::make_rings(std::uint64_t staging_bytes) {
  const auto all = m_memories.all();
  const auto host = std::ranges::find_if(all, [](const memory::space* s) { return s->host_visible(); });
  if (host == all.end()) return;
  for (const memory::space* to : all)
    for (const memory::space* from : all) {
      if (from == to || m_memories.links().between(from->number(), to->number()).kind != route_kind::staged) continue;
      auto& ring = m_rings[to->device().index()];
      if (!ring) ring = std::make_unique<staging_ring>(**host, staging_bytes);
    }
}

stream& copy_engine::stream_between(memory::space_number from, memory::space_number to) const {
  const route& way = m_memories.links().between(from, to);
  const copy_streams& copies = m_streams_of[way.executor];
  return way.executor == m_memories.at(to).device().index() ? *copies.in : *copies.out;
}

bool copy_engine::poll(std::uint32_t device_index) {
  if (device_index >= m_streams_of.size() || m_streams_of[device_index].in == nullptr) return false;
  const bool in = m_streams_of[device_index].in->poll();
  return m_streams_of[device_index].out->poll() || in;
}

planned_copy copy_engine::plan(block::record& block, block::replica& target, memory::space_number from,
                               copy_purpose purpose) {
  block::replica& source = *block.find(from);
  planned_copy p;
  p.block = &block;
  p.from = from;
  p.to = target.space;
  p.version = block.committed;
  p.purpose = purpose;
  const auto address = [&](const block::replica& r) -> tsr_address {
    const memory::space& space = m_memories.at(r.space);
    if (space.host_visible()) return {nullptr, reinterpret_cast<std::uintptr_t>(space.host_pointer(r.where))};
    return space.address_of(r.where);
  };
  p.source = address(source);
  p.destination = address(target);
  const stream_table& streams = m_memories.streams();
  const auto wait_for = [&](block::ticket t) {
    if (t && !streams.reached(t)) p.waits.emplace_back(&streams.at(t.stream), t);
  };
  wait_for(source.ready);
  p.source_ready = source.ready;  // even when it has been reached: it may have failed since the source was chosen
  if (m_failures.any() && m_failures.failures(block, from, target.space, block.committed) > 0) m_failures.note_retry();
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

/// On one stream, in as many pieces as its device needs.
block::ticket copy_engine::enqueue_direct(planned_copy& what) {
  stream& by = stream_between(what.from, what.to);
  // Host memory of another plugin is plain host memory to the one that copies.
  const auto name = [&](const memory::space& s) {
    return s.device().plugin_name() == by.device().plugin_name() && !s.host_visible() ? s.reference()
                                                                                      : tsr_space_ref{nullptr, 0};
  };
  const tsr_space_ref from = name(m_memories.at(what.from)), to = name(m_memories.at(what.to));
  const std::uint64_t bytes = what.block->bytes, most = max_at_once(by.device(), bytes);
  const std::lock_guard guard(by.enqueue_lock());
  for (const auto& [other, ticket] : what.waits) by.wait(*other, ticket);
  std::uint64_t done = 0;
  try {
    for (; bytes - done > most; done += most)
      enqueue_copy(by, to, at(what.destination, done), from, at(what.source, done), most);
    enqueue_copy(by, to, at(what.destination, done), from, at(what.source, done), bytes - done);
  } catch (...) {
    if (done > 0) what.points.pieces.push_back(by.signal());  // waited for in take_back
    throw;
  }
  return by.signal({&what.source_ready, 1});
}

void copy_engine::enqueue(planned_copy& what) {
  memory::space &from = m_memories.at(what.from), &to = m_memories.at(what.to);
  if (m_memories.links().between(what.from, what.to).kind == route_kind::staged) {
    stream& out = *m_streams_of[from.device().index()].out;
    stream& in = *m_streams_of[to.device().index()].in;
    m_rings[to.device().index()]->copy(from, what.source, out, to, what.destination, in, what.block->bytes, what.waits,
                                       what.source_ready, what.points);
  } else {
    what.points.arrived = what.points.left = enqueue_direct(what);
  }
}

/// A part of it may have been enqueued: that still writes to the target, and is waited for.
void copy_engine::take_back(planned_copy& what) {
  for (const block::ticket piece : what.points.pieces) m_memories.streams().passed_with_failure(piece);
  block::record& b = *what.block;
  const std::lock_guard guard(b.lock);
  block::replica &source = *b.find(what.from), &target = *b.find(what.to);
  --source.pins, --source.issuing, --target.issuing;
  target.version = 0;
  target.state = block::replica_state::valid;
  b.valid_spaces.remove(what.to);
}

void copy_engine::issue(planned_copy& what, std::vector<block::ticket>* waits) {
  block::record& b = *what.block;
  if (m_tracer != nullptr) what.issued = m_tracer->local().now();
  try {
    enqueue(what);
  } catch (...) {
    take_back(what);
    throw;
  }
  link_counters& counters = m_memories.links().counters(what.from, what.to);
  counters.transfers.fetch_add(1, std::memory_order_relaxed);
  counters.bytes.fetch_add(b.bytes, std::memory_order_relaxed);
  m_in_flight.fetch_add(1, std::memory_order_acq_rel);
  auto under_way = std::make_unique<copy_in_flight>(*this, what);
  const auto [arrived, left] = std::pair(what.points.arrived, what.points.left);
  {
    const std::lock_guard guard(b.lock);
    block::replica &source = *b.find(what.from), &target = *b.find(what.to);
    --source.issuing, --target.issuing;
    target.ready = arrived;
    if (!source.readers) source.readers = std::make_unique<std::vector<block::ticket>>();
    m_replicas.add_wait(*source.readers, left);
  }
  if (waits != nullptr) m_replicas.add_wait(*waits, arrived);
  const auto follow = [&](completion& part) {
    stream& by = m_memories.streams().at(part.ticket.stream);
    by.poll();  // an inline stream is done already
    by.on_completion(part);
  };
  copy_in_flight& copy = *under_way.release();  // it may be gone once its last part is followed
  if (copy.staged()) follow(copy.leaving);
  follow(copy.arriving);
}

void copy_engine::note_refused(const planned_copy& what, const error& why) {
  if (what.purpose == copy_purpose::write_back) m_failed_write_backs.fetch_add(1, std::memory_order_relaxed);
  m_losses.ask_health(what.from);
  m_losses.ask_health(what.to);
  if (m_memories.lost(what.from) || m_memories.lost(what.to)) return;
  const std::lock_guard guard(what.block->lock);
  m_failures.note({.block = what.block,
                   .from = what.from,
                   .to = what.to,
                   .version = what.version,
                   .status = TSR_UNKNOWN,
                   .text = fmt::format("the copy of {} from {} to {} was refused: {}", block::name_of(*what.block),
                                       m_memories.at(what.from).name(), m_memories.at(what.to).name(), why.message())});
}

/// The copy's own failure, with that of its pieces; CANCELLED: what it should have copied was never made, which its
/// maker reports.
tsr_status copy_engine::status_of(const planned_copy& what, tsr_status own) {
  stream_table& streams = m_memories.streams();
  if (own != TSR_OK) return own;
  bool whole = true;
  for (const block::ticket piece : what.points.pieces) whole = !streams.passed_with_failure(piece) && whole;
  if (!whole) return TSR_INTERNAL;
  return what.source_ready && streams.passed_with_failure(what.source_ready) ? TSR_CANCELLED : TSR_OK;
}

/// With the block's lock held. Takes back what planning has promised: the target is not valid. Its source still is.
void copy_engine::note_failed(const planned_copy& planned, tsr_status status) {
  const block::ticket arrived = planned.points.arrived;
  block::record& b = *planned.block;
  if (planned.purpose == copy_purpose::write_back) m_failed_write_backs.fetch_add(1, std::memory_order_relaxed);
  block::replica* const target = b.find(planned.to);
  if (target != nullptr &&
      target->version == planned.version) {  // else a task has made another version on top of it, and fails
    target->version = 0;
    target->state = block::replica_state::valid;
    b.valid_spaces.remove(planned.to);
  }
  if (target != nullptr && target->ready == arrived) target->ready = {};
  // The last hope of a block whose lost replica has been dropped in view of it.
  if (b.valid_spaces.empty() && b.committed != 0 && b.poison == nullptr && m_memories.any_lost())
    m_replicas.give_up_contents(b);
  if (status == TSR_CANCELLED || m_memories.lost(planned.from) || m_memories.lost(planned.to))
    return;  // not the copy's own failure
  const std::string details = m_memories.streams().at(arrived.stream).details_at(arrived.value);
  m_failures.note({.block = &b,
                   .from = planned.from,
                   .to = planned.to,
                   .version = planned.version,
                   .status = status,
                   .text = fmt::format("the copy of {} from {} to {} failed: {}{}{}", block::name_of(b),
                                       m_memories.at(planned.from).name(), m_memories.at(planned.to).name(),
                                       plugin::name_of(status), details.empty() ? "" : ": ", details)});
}

void copy_engine::trace_copy(const planned_copy& what, block::ticket point) const {
  trace::buffer& events = m_tracer->local();
  trace::event e{trace::event_kind::transfer};
  e.count = what.purpose == copy_purpose::write_back;
  e.small = what.from;
  e.number = what.to;
  e.time = what.issued;
  e.task = m_tracer->name(block::name_of(*what.block));
  e.words = {events.now(), what.block->bytes, trace::point_of(point.stream, point.value), 0, 0};
  for (std::size_t k = 0; k < std::min<std::size_t>(what.waits.size(), 2); ++k)
    e.words[3 + k] = trace::point_of(what.waits[k].second.stream, what.waits[k].second.value);
  events.add(e);
}

void copy_engine::completed(copy_in_flight& copy, tsr_status own) {
  const std::unique_ptr<copy_in_flight> owned(&copy);
  const planned_copy& planned = copy.plan;
  block::record& b = *planned.block;
  const tsr_status status = status_of(planned, own);
  if (m_tracer != nullptr) trace_copy(planned, planned.points.arrived);
  bool evictable = false;
  {
    const std::lock_guard guard(b.lock);
    if (status != TSR_OK)
      note_failed(planned, status);
    else
      m_failures.arrived(b, planned.to);
    block::replica* const target = b.find(planned.to);
    if (target != nullptr) m_replicas.prune_tickets(*target);
    block::replica& source = *b.find(planned.from);
    --source.pins;
    m_replicas.prune_tickets(source);
    evictable = source.pins == 0;
    if (planned.purpose == copy_purpose::write_back) {
      m_listener->write_back_ended(b, source, status == TSR_OK && target != nullptr && m_replicas.usable(*target, b));
      // A write-back pinned its target too, so that nothing else evicts it on the way.
      if (target != nullptr && target->pins > 0) --target->pins;
    }
  }
  m_in_flight.fetch_sub(1, std::memory_order_acq_rel);
  if (evictable) m_memories.at(planned.from).waiters().notify();
  if (m_memories.at(planned.to).was_full()) m_memories.at(planned.to).waiters().notify();
}

}  // namespace tessera::transfer
