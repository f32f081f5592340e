#include "core/transfer/acquirer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <thread>

#include "core/transfer/coherence_locks.hpp"

namespace tessera::transfer {

/// One attempt for some blocks of a task in one space. `whole`: all that the task uses, of which `accesses` may be a
/// block on its way.
struct acquirer::attempt {
  std::span<const block::access> whole;
  std::span<block::access> accesses;
  memory::space_number space;
  std::uint64_t sequence;
  acquisition& out;
  /// False: one block of the task, on its way.
  bool is_whole() const noexcept { return accesses.data() == whole.data(); }
  /// By access: where look_for_contents has found them; no_space, where none are to come. Later steps do not ask again:
  /// devices are lost without the locks, and makers fail. Then the copy is one of something that was never made, and
  /// ends so.
  boost::container::small_vector<memory::space_number, 8> from = {};
  boost::container::small_vector<planned_copy, 4> copies = {};
};

/// Of the first step.
struct acquirer::findings {
  bool busy = false;
  block::record* far = nullptr;                 ///< has no one-step route
  std::shared_ptr<const block::failure> cause;  ///< the contents of some block cannot be had
};

void acquirer::acquire(std::span<block::access> accesses, memory::space_number space, acquisition& out,
                       std::uint64_t sequence) {
  attempt all{.whole = accesses, .accesses = accesses, .space = space, .sequence = sequence, .out = out};
  out.scratch = {};
  acquire_part(all);
  if (out.outcome != outcome::ready && out.scratch)
    m_memories.at(space).give_back(std::exchange(out.scratch, {}), out.scratch_bytes);
  if (out.outcome == outcome::ready && (stuck_rounds() != 0 || m_claims.suspended())) {
    m_stuck.store(0, std::memory_order_relaxed);
    m_claims.resume();
  }
  if (out.outcome == outcome::ready || out.outcome == outcome::failed) end_claims(accesses, sequence);
}

void acquirer::end_claims(std::span<const block::access> accesses, std::uint64_t sequence) {
  if (m_claims.any()) m_memories.wake(m_claims.end(sequence, accesses));
}

bool acquirer::suspend_claims() {
  const block::space_set spaces = m_claims.suspend();
  m_memories.wake(spaces);
  return !spaces.empty();
}

acquisition_statistics acquirer::statistics() const noexcept {
  return {.saved_fetches = m_saved_fetches.load(), .saved_bytes = m_saved_bytes.load(), .joined = m_joined.load()};
}

void acquirer::acquire_part(attempt& a) {
  do {
    step next = step::again;
    for (unsigned rounds = 0; (next = run(a)) == step::again; ++rounds)
      if (rounds < 64)
        cpu_relax();
      else
        std::this_thread::yield();
    if (next == step::over) return;
  } while (!issue(a));  // the next attempt takes another source, or gives up
}

/// The steps under locks.
acquirer::step acquirer::run(attempt& a) {
  a.out.waits.clear();
  a.out.sources.clear();
  a.out.copying = false;
  a.out.cause.reset();
  a.copies.clear();
  if (m_memories.lost(a.space)) {
    a.out.outcome = outcome::lost;
    return step::over;
  }
  a.out.memory_events = m_memories.at(a.space).waiters().events();
  findings found;
  {
    lock_set locks(a.accesses);
    const std::lock_guard guard(locks);
    step next = look_for_contents(a, found);
    if (next == step::on && found.far == nullptr) next = reserve(a);
    if (next != step::on) return next;
    if (found.far == nullptr) {
      pin_and_plan(a);
      return step::on;
    }
  }
  stage_via(a, *found.far);
  return step::over;
}

/// 1. Can everything be had in one step, now?
acquirer::step acquirer::look_for_contents(attempt& a, findings& found) {
  a.from.assign(a.accesses.size(), memory::no_space);
  for (std::size_t k = 0; k < a.accesses.size() && found.cause == nullptr; ++k) look_at(a, k, found);
  if (found.cause != nullptr) {
    a.out.waits.clear();
    a.out.cause = std::move(found.cause);
    a.out.outcome = outcome::failed;
    return step::over;
  }
  if (found.busy) return step::again;
  if (a.out.waits.empty()) return step::on;
  a.out.outcome = outcome::retry;
  return step::over;
}

void acquirer::look_at(attempt& a, std::size_t index, findings& found) {
  block::access& access = a.accesses[index];
  block::record& b = *access.block;
  if ((access.flags & block::access_of_part) != 0 && b.valid_spaces.empty() && b.poison == nullptr)
    access.intent = intent::write;
  block::replica* const here = b.find(a.space);
  const bool needed = needs_contents(access.intent);
  if (here != nullptr) {
    m_replicas.prune_tickets(*here);
    found.busy = found.busy || here->issuing != 0 || (needed && m_replicas.doubtful(*here));
  }
  if (!needed) return;  // overwrites in place: pin collects what still reads these bytes
  if (b.poison != nullptr) {
    found.cause = *b.poison;
  } else if (b.valid_spaces.empty()) {
    found.cause = std::make_shared<block::failure>(block::failure{fmt::format(
        "{} is {} before it was ever written", block::name_of(b), access.intent == intent::read ? "read" : "updated")});
  } else if (here == nullptr || !m_replicas.usable(*here, b)) {
    look_for_source(a, index, here, found);
  }
}

void acquirer::look_for_source(attempt& a, std::size_t index, const block::replica* here, findings& found) {
  block::record& b = *a.accesses[index].block;
  const block::replica* const source = m_sources.cheapest(b, a.space);
  if (source == nullptr) {
    switch (m_sources.why_none(b, a.space)) {
      case no_source::exhausted:
        found.cause = m_sources.gave_up(b, a.space);
        m_failures.arrived(b, a.space);  // reported: the next task that wants it begins afresh
        break;
      case no_source::lost:
        found.cause = m_replicas.give_up_contents(b);
        break;
      case no_source::doubtful:
        found.busy = true;
        break;
      case no_source::far:
        found.far = &b;
        break;
    }
    return;
  }
  if (source->issuing != 0) {
    found.busy = true;
    return;
  }
  a.from[index] = source->space;
  // The copying stream waits on the device for what comes before; where it cannot, the host has to.
  const stream_table& streams = m_memories.streams();
  const stream& by = m_copies.stream_between(source->space, a.space);
  const auto check = [&](block::ticket t) {
    if (t && !streams.reached(t) && !by.can_wait_for(streams.at(t.stream))) m_replicas.add_wait(a.out.waits, t);
  };
  check(source->ready);
  if (here == nullptr) return;
  check(here->ready);
  if (here->readers)
    for (const block::ticket t : *here->readers) check(t);
}

/// 2. All missing memory at once, or nothing.
acquirer::step acquirer::reserve(attempt& a) {
  memory::space& target = m_memories.at(a.space);
  boost::container::small_vector<std::uint64_t, 8> sizes;
  boost::container::small_vector<block::record*, 8> fresh;
  for (const block::access& access : a.accesses)
    if (access.block->find(a.space) == nullptr && std::ranges::find(fresh, access.block) == fresh.end()) {
      fresh.push_back(access.block);
      sizes.push_back(access.block->bytes);
    }
  // At once with the blocks, so that the largest piece is placed first, as when room was made for them.
  const bool with_scratch = a.is_whole() && a.out.scratch_bytes != 0 && !a.out.scratch;
  if (with_scratch) sizes.push_back(a.out.scratch_bytes);
  if (sizes.empty()) return step::on;
  boost::container::small_vector<block::chunk, 8> chunks(sizes.size());
  const bool may_take = m_claims.may_take(a.space, a.sequence);
  if (may_take && target.reserve({sizes.data(), sizes.size()}, {chunks.data(), chunks.size()})) {
    for (std::size_t k = 0; k < fresh.size(); ++k) m_replicas.add(*fresh[k], a.space, chunks[k]);
    if (with_scratch) a.out.scratch = chunks.back();
    return step::on;
  }
  a.out.outcome = outcome::no_memory;
  a.out.lacking = a.space;
  a.out.missing_bytes = 0;
  a.out.missing.clear();
  if (!may_take)
    return step::over;  // an older task makes room for itself, and wakes this one when it has what it needs
  a.out.missing.assign(sizes.begin(), sizes.end());
  for (const std::uint64_t size : sizes) a.out.missing_bytes += target.allocated_size(size);
  m_claims.reserve_priority(a.space, a.sequence, a.whole);
  return step::over;
}

/// 3. Pins, collects hazards, decides copies.
void acquirer::pin_and_plan(attempt& a) {
  const std::uint32_t now = m_memories.at(a.space).tick();
  for (std::size_t k = 0; k < a.accesses.size(); ++k) pin(a, k, now);
}

void acquirer::pin(attempt& a, std::size_t index, std::uint32_t now) {
  block::access& access = a.accesses[index];
  block::record& b = *access.block;
  block::replica& here = *b.find(a.space);
  access.space = a.space;
  ++here.pins;
  here.last_use = now;
  m_evictor.cancel_eviction(here, b.bytes);
  const memory::space_number source = a.from[index];
  if (source != memory::no_space &&
      !m_replicas.usable(here, b)) {  // another access of this task may have planned it already
    a.copies.push_back(m_copies.plan(b, here, source, copy_purpose::use));
  } else if (here.ready) {
    m_replicas.add_wait(a.out.waits, here.ready);
    if (needs_contents(access.intent)) {
      a.out.sources.push_back(here.ready);
      a.out.copying = a.out.copying || here.state == block::replica_state::filling;
    }
    if (here.state == block::replica_state::filling) m_joined.fetch_add(1, std::memory_order_relaxed);
  }
  if (access.intent == intent::read) return;
  if (here.readers)
    for (const block::ticket t : *here.readers) m_replicas.add_wait(a.out.waits, t);
  if (access.intent == intent::write && !b.valid_spaces.empty() && !b.valid_in(a.space)) {
    m_saved_fetches.fetch_add(1, std::memory_order_relaxed);
    m_saved_bytes.fetch_add(b.bytes, std::memory_order_relaxed);
  }
}

/// 4. The plugins copy.
bool acquirer::issue(attempt& a) {
  a.out.outcome = outcome::ready;
  bool refused = false;
  for (planned_copy& p : a.copies) {
    try {
      m_copies.issue(p, &a.out.waits);
      a.out.sources.push_back(p.points.arrived);
      a.out.copying = true;
    } catch (const error& e) {
      m_copies.note_refused(p, e);
      refused = true;
    }
  }
  // What has failed already is not in `waits`: nothing would look at it again.
  const stream_table& streams = m_memories.streams();
  const auto has_failed = [&](block::ticket t) { return streams.reached(t) && streams.failed(t); };
  if (!refused && std::ranges::none_of(a.out.sources, has_failed)) return true;
  m_replicas.unpin(a.accesses);
  return false;
}

/// Brings a block to a space between, from where it is had in one step.
void acquirer::stage_via(attempt& a, block::record& far) {
  const memory::space_number stop = m_sources.stop_towards(far, a.space);
  if (stop == memory::no_space) {
    a.out.outcome = outcome::failed;
    a.out.cause = std::make_shared<block::failure>(
        block::failure{fmt::format("no way to bring {} to {}: no pair of links joins the spaces", block::name_of(far),
                                   m_memories.at(a.space).name())});
    return;
  }
  block::access visit{.block = &far, .version = 0, .intent = intent::read, .flags = 0, .space = stop};
  attempt part{.whole = a.whole, .accesses = {&visit, 1}, .space = stop, .sequence = a.sequence, .out = a.out};
  acquire_part(part);
  if (a.out.outcome == outcome::lost) a.out.outcome = outcome::retry;  // there may be another stop
  if (a.out.outcome != outcome::ready) return;
  m_replicas.unpin({&visit, 1});
  a.out.outcome = outcome::retry;
}

}  // namespace tessera::transfer
