#include "core/transfer/coherence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "core/transfer/coherence_locks.hpp"
#include "core/transfer/invariants.hpp"
#include "core/transfer/planned_transfer.hpp"

namespace tessera::transfer {

coherence::coherence(std::span<const std::unique_ptr<memory::space>> spaces,
                     std::vector<memory::space_number> parents, stream_table& streams, std::uint64_t staging_bytes,
                     eviction_settings eviction, std::uint32_t copy_retries)
    : m_parents(std::move(parents)), m_streams(streams), m_links(spaces), m_claims(spaces.size()),
      m_leaving(std::make_unique<std::atomic<std::uint64_t>[]>(spaces.size())), m_eviction(eviction), m_trouble(copy_retries) {
  if (spaces.size() > block::space_set::most)
    throw error(error_kind::configuration, fmt::format("more than {} memory spaces", block::space_set::most));
  memory::space* host = nullptr;
  for (const auto& s : spaces) {
    m_spaces.push_back(s.get());
    if (host == nullptr && s->host_visible()) host = s.get();
    const std::uint32_t index = s->device().index();
    if (m_copies.size() <= index) m_copies.resize(index + 1), m_rings.resize(index + 1);
    copy_streams& copies = m_copies[index];
    if (copies.in != nullptr) continue;
    if (s->device().has(TSR_DEVICE_INLINE)) {
      copies.in = copies.out = &m_streams.create(s->device(), TSR_STREAM_COPY | TSR_STREAM_INLINE);
    } else {
      copies.in = &m_streams.create(s->device(), TSR_STREAM_COPY);
      copies.out = share_of(s->device()).copying == 1 ? copies.in : &m_streams.create(s->device(), TSR_STREAM_COPY);
    }
  }
  for (const auto& s : spaces)
    m_wants_uses = m_wants_uses || (m_eviction.policy == eviction_policy::next_use && m_parents[s->number()] != memory::no_space &&
                                    s->limit() != ~std::uint64_t{0});
  for (const auto& to : spaces)
    for (const auto& from : spaces)
      if (from != to && host != nullptr && m_links.between(from->number(), to->number()).how == route_kind::staged) {
        auto& ring = m_rings[to->device().index()];
        if (!ring) ring = std::make_unique<staging_ring>(*host, staging_bytes);
      }
  watch_losses();
}

coherence::~coherence() { unwatch_losses(); }

bool coherence::usable(const block::replica& r, const block::record& b) const noexcept {
  return b.valid_in(r.space) && r.version == b.committed && b.committed != 0 && !lost(r.space);
}

void coherence::settle(block::replica& r) const {
  if (r.ready && m_streams.reached(r.ready) && !m_streams.failed(r.ready)) r.ready = {};
  if (r.state == block::replica_state::filling && !r.ready && r.issuing == 0) r.state = block::replica_state::valid;
  if (r.readers) std::erase_if(*r.readers, [&](block::ticket t) { return m_streams.reached(t); });
}

void coherence::add_wait(std::vector<block::ticket>& waits, block::ticket t) const {
  if (m_streams.reached(t)) return;
  for (block::ticket& w : waits)
    if (w.stream == t.stream) {
      w.value = std::max(w.value, t.value);
      return;
    }
  waits.push_back(t);
}

const block::replica* coherence::cheapest_source(block::record& block, memory::space_number to) const {
  const block::replica* best = nullptr;
  double best_seconds = 0;
  block.for_each_replica([&](block::replica& r) {
    if (r.space == to || !usable(r, block)) return;
    const route& way = m_links.between(r.space, to);
    if (way.how == route_kind::none) return;
    settle(r);
    // A copy that is itself still arriving is worth waiting for only when it is much nearer.
    double seconds = way.seconds(block.bytes) * (r.ready || r.issuing != 0 ? 2 : 1);
    if (m_trouble.any()) {  // what has failed is tried again when there is nothing else
      if (doubtful(r) || m_trouble.exhausted(block, r.space, to, block.committed)) return;
      seconds = (seconds + 1e-6) * (1 + 1000.0 * m_trouble.failures(block, r.space, to, block.committed));
    } else if (doubtful(r)) {
      return;
    }
    if (best == nullptr || seconds < best_seconds) best = &r, best_seconds = seconds;
  });
  return best;
}

stream* coherence::executor_of(memory::space_number from, memory::space_number to) const {
  const route& way = m_links.between(from, to);
  return way.executor == m_spaces[to]->device().index() ? m_copies[way.executor].in : m_copies[way.executor].out;
}

void coherence::acquire(std::span<block::access> accesses, memory::space_number space, acquisition& out,
                        std::uint64_t sequence) {
  acquire_for(accesses, accesses, space, out, sequence);
  if (out.what == outcome::ready && (m_stuck.load(std::memory_order_relaxed) != 0 || m_claims.lifted())) {
    m_stuck.store(0, std::memory_order_relaxed);
    m_claims.end_lift();
  }
  if (out.what == outcome::ready || out.what == outcome::failed) end_claims(accesses, sequence);
}

void coherence::end_claims(std::span<const block::access> accesses, std::uint64_t sequence) {
  if (m_claims.any()) wake(m_claims.end(sequence, accesses));
}

void coherence::wake(const block::space_set& spaces) {
  spaces.for_each([&](memory::space_number k) { m_spaces[k]->notify(); });
}

bool coherence::lift_claims() {
  const block::space_set spaces = m_claims.lift();
  wake(spaces);
  return !spaces.empty();
}

void coherence::acquire_for(std::span<const block::access> whole, std::span<block::access> accesses, memory::space_number space,
                            acquisition& out, std::uint64_t sequence) {
  while (!attempt(whole, accesses, space, out, sequence)) continue;
}

/// False: a copy was refused; nothing is held.
bool coherence::attempt(std::span<const block::access> whole, std::span<block::access> accesses, memory::space_number space,
                        acquisition& out, std::uint64_t sequence) {
  out.waits.clear();
  out.sources.clear();
  out.copying = false;
  out.cause.reset();
  memory::space& target = *m_spaces[space];
  lock_set locks(accesses);
  boost::container::small_vector<planned, 4> plans;
  // By access: where step 1 has found the contents; nowhere, where none are to come. Step 3 does not ask again: devices are lost without
  // the locks, and makers fail. Then the copy is one of something that was never made, and ends so.
  boost::container::small_vector<memory::space_number, 8> from(accesses.size(), memory::no_space);

  for (unsigned attempts = 0;; ++attempts) {
    if (attempts > 64) std::this_thread::yield();
    if (lost(space)) {
      out.what = outcome::lost;
      return true;
    }
    out.memory_events = target.events();
    locks.lock();

    // 1. Can it be had in one step, now?
    std::ranges::fill(from, memory::no_space);
    bool busy = false, failed = false;
    block::record* far = nullptr;
    for (block::access& a : accesses) {
      block::record& b = *a.block;
      block::replica* here = b.find(space);
      if (here != nullptr) settle(*here);
      if (here != nullptr && here->issuing != 0) busy = true;
      if (here != nullptr && needs_contents(a.how) && doubtful(*here)) busy = true;
      if (!needs_contents(a.how)) {
        // Overwriting in place: whoever still reads these bytes comes first. Waits are collected below.
        continue;
      }
      if (b.poison != nullptr) {
        out.cause = *b.poison;
        failed = true;
        break;
      }
      if (b.valid_spaces.empty()) {
        out.cause = std::make_shared<block::failure>(block::failure{
            fmt::format("{} is {} before it was ever written", block::name_of(b),
                        a.how == intent::read ? "read" : "updated")});
        failed = true;
        break;
      }
      if (here != nullptr && usable(*here, b)) continue;
      const block::replica* source = cheapest_source(b, space);
      if (source == nullptr) {
        const no_source why = why_no_source(b, space);
        if (why == no_source::exhausted) {
          out.cause = gave_up(b, space);
          m_trouble.arrived(b, space);  // told: the next task that wants it begins anew
          failed = true;
          break;
        }
        if (why == no_source::lost) {
          out.cause = give_up_contents(b);
          failed = true;
          break;
        }
        if (why == no_source::doubtful) busy = true;
        else far = &b;
      } else if (source->issuing != 0) {
        busy = true;
      } else {
        from[static_cast<std::size_t>(&a - accesses.data())] = source->space;
        // The copying stream waits on the device for what comes before; where it cannot, the host has to.
        const stream* by = executor_of(source->space, space);
        const auto check = [&](block::ticket t) {
          if (t && !m_streams.reached(t) && !by->can_wait_for(m_streams.at(t.stream))) add_wait(out.waits, t);
        };
        check(source->ready);
        if (here != nullptr) {
          check(here->ready);
          if (here->readers)
            for (const block::ticket t : *here->readers) check(t);
        }
      }
    }
    if (failed) {
      locks.unlock();
      out.waits.clear();
      out.what = outcome::failed;
      return true;
    }
    if (busy) {
      locks.unlock();
      out.waits.clear();
      cpu_relax();
      continue;
    }
    if (!out.waits.empty()) {
      locks.unlock();
      out.what = outcome::retry;
      return true;
    }
    if (far != nullptr) {
      locks.unlock();
      bring_near(whole, *far, space, out, sequence);
      return true;
    }

    // 2. All missing memory at once, or nothing.
    boost::container::small_vector<std::uint64_t, 8> sizes;
    boost::container::small_vector<block::record*, 8> fresh;
    for (block::access& a : accesses)
      if (a.block->find(space) == nullptr && std::ranges::find(fresh, a.block) == fresh.end()) {
        fresh.push_back(a.block);
        sizes.push_back(a.block->bytes);
      }
    boost::container::small_vector<block::chunk, 8> chunks(sizes.size());
    const bool may_take = m_claims.may_take(space, sequence);
    if (!sizes.empty() && !(may_take && target.reserve({sizes.data(), sizes.size()}, {chunks.data(), chunks.size()}))) {
      locks.unlock();
      out.what = outcome::no_memory;
      out.lacking = space;
      out.missing_bytes = 0;
      if (!may_take) return true;  // somebody older makes room for himself; who waits for that is woken
      for (const std::uint64_t size : sizes) out.missing_bytes += target.footprint(size);
      m_claims.lack(space, sequence, whole);
      return true;
    }
    for (std::size_t k = 0; k < fresh.size(); ++k) {
      block::replica& r = fresh[k]->add();
      r.space = space;
      r.state = block::replica_state::valid;
      r.version = 0;
      r.where = chunks[k];
      r.ready = {};
      target.add_resident(*fresh[k]);
    }

    // 3. Pin, collect hazards, decide transfers.
    const std::uint32_t now = target.tick();
    for (block::access& a : accesses) {
      block::record& b = *a.block;
      block::replica& here = *b.find(space);
      a.space = space;
      ++here.pins;
      here.last_use = now;
      stay(here, target.footprint(b.bytes));  // wanted again
      const memory::space_number source = from[static_cast<std::size_t>(&a - accesses.data())];
      if (source != memory::no_space && !usable(here, b)) {  // another access of this task may have planned it already
        plans.push_back(plan(b, here, source, false));
      } else if (here.ready) {
        add_wait(out.waits, here.ready);
        if (needs_contents(a.how)) {
          out.sources.push_back(here.ready);
          out.copying = out.copying || here.state == block::replica_state::filling;
        }
        if (here.state == block::replica_state::filling) m_joined.fetch_add(1, std::memory_order_relaxed);
      }
      if (a.how != intent::read) {
        if (here.readers)
          for (const block::ticket t : *here.readers) add_wait(out.waits, t);
        if (a.how == intent::write && !b.valid_spaces.empty() && !b.valid_in(space)) {
          m_saved_fetches.fetch_add(1, std::memory_order_relaxed);
          m_saved_bytes.fetch_add(b.bytes, std::memory_order_relaxed);
        }
      }
    }
    locks.unlock();
    break;
  }

  // 4. Without locks: let the plugins copy.
  out.what = outcome::ready;
  bool refused = false;
  for (planned& p : plans) {
    try {
      issue(p, &out.waits);
      out.sources.push_back(p.arrived);
      out.copying = true;
    } catch (const error& e) {
      copy_refused(p, e);
      refused = true;
    }
  }
  // What has failed already is not in `waits`: nobody would look at it again.
  const bool failed = refused || std::ranges::any_of(out.sources, [&](block::ticket t) { return m_streams.reached(t) && m_streams.failed(t); });
  if (!failed) return true;
  finish(accesses);
  return false;  // the next attempt takes another source, or gives up
}

void coherence::bring_near(std::span<const block::access> whole, block::record& block, memory::space_number space, acquisition& out,
                           std::uint64_t sequence) {
  memory::space_number stop = memory::no_space;
  {
    const std::lock_guard guard(block.lock);
    block.for_each_replica([&](block::replica& r) {
      if (stop == memory::no_space && usable(r, block)) stop = m_links.stop_between(r.space, space);
    });
  }
  if (stop == memory::no_space) {
    out.what = outcome::failed;
    out.cause = std::make_shared<block::failure>(block::failure{
        fmt::format("no way to bring {} to {}: no pair of links joins the spaces", block::name_of(block),
                    m_spaces[space]->name())});
    return;
  }
  block::access visit{.block = &block, .version = 0, .how = intent::read, .flags = 0, .space = stop};
  acquire_for(whole, {&visit, 1}, stop, out, sequence);
  if (out.what == outcome::lost) out.what = outcome::retry;  // there may be another stop
  if (out.what != outcome::ready) return;
  finish({&visit, 1});
  out.what = outcome::retry;
}

void coherence::publish(std::span<const block::access> accesses, block::ticket done) {
  for (const block::access& a : accesses) {
    block::record& b = *a.block;
    const std::lock_guard guard(b.lock);
    check_use(b, a);
    block::replica& here = *b.find(a.space);
    if (a.how == intent::read) {
      if (!done) continue;
      if (!here.readers) here.readers = std::make_unique<std::vector<block::ticket>>();
      settle(here);
      add_wait(*here.readers, done);
      continue;
    }
    const bool contents = makes_version(a.how);
    b.committed = contents ? a.version : 0;
    b.valid_spaces = contents ? block::space_set::of(a.space) : block::space_set();
    here.version = b.committed;
    here.ready = done;
    here.state = block::replica_state::valid;
    if (b.foreign && a.space != m_home.load(std::memory_order_relaxed)) note_away(b);
    if (here.readers) here.readers->clear();  // this task waited for them
    // Written anew. An update has nothing to say about what it was made from: that may turn out to be poisoned meanwhile.
    if (b.poison != nullptr && !needs_contents(a.how)) b.unspoil();
    if (contents) m_versions.fetch_add(1, std::memory_order_relaxed);
    check_invariants(b);
  }
}

void coherence::finish(std::span<const block::access> accesses, const std::shared_ptr<const block::failure>& why,
                       block::ticket done) {
  for (const block::access& a : accesses) {
    block::record& b = *a.block;
    bool evictable = false;
    {
      const std::lock_guard guard(b.lock);
      block::replica* here = b.find(a.space);
      if (here != nullptr && here->pins > 0) evictable = --here->pins == 0;
      if (done && here != nullptr && here->ready == done) here->ready = {};  // settled now: made, or spoiled below
      // A version made by somebody else since then has come to no harm by a lost device.
      const bool superseded = why && why->by_loss && b.committed != (makes_version(a.how) ? a.version : 0);
      if (why && a.how != intent::read && !superseded) {
        b.spoil(why);
        if (why->by_loss && b.from != nullptr) m_losses.note(b, why);
      }
      check_invariants(b);
    }
    // Also when nothing waits yet: a task that has seen the pin and is about to wait must see that something has happened since.
    if (evictable && m_spaces[a.space]->was_full()) m_spaces[a.space]->notify();
  }
}

void coherence::publish_and_finish(std::span<const block::access> accesses) {
  publish(accesses, {});
  finish(accesses);
}

void coherence::poison(std::span<const block::access> accesses, const std::shared_ptr<const block::failure>& why) {
  for (const block::access& a : accesses) {
    if (a.how == intent::read || a.how == intent::accumulate) continue;  // an addend that is missing: the sum's matter
    const std::lock_guard guard(a.block->lock);
    a.block->spoil(why);
  }
}

tsr_address coherence::address_of(const block::access& held, void** out_host) const {
  // The caller's pin keeps the entry and its chunk; other entries may change, so the lock is taken for the search.
  const std::lock_guard guard(held.block->lock);
  const block::chunk where = held.block->find(held.space)->where;
  if (out_host != nullptr) *out_host = m_spaces[held.space]->host_pointer(where);
  return m_spaces[held.space]->address_of(where);
}

coherence::estimate coherence::cost_of(std::span<const block::access> accesses, memory::space_number space) const {
  estimate total;
  for (const block::access& a : accesses) {
    if (!needs_contents(a.how)) continue;
    block::record& b = *a.block;
    const std::lock_guard guard(b.lock);
    if (b.valid_spaces.empty() || b.valid_in(space)) {
      total.resident_bytes += b.valid_spaces.empty() ? 0 : b.bytes;
      continue;
    }
    total.missing_bytes += b.bytes;
    const block::replica* source = cheapest_source(b, space);
    if (source != nullptr) {
      total.seconds += m_links.between(source->space, space).seconds(b.bytes);
    } else {  // through an intermediate space: both legs of the first one found
      b.for_each_replica([&](block::replica& r) {
        const memory::space_number stop = usable(r, b) ? m_links.stop_between(r.space, space) : memory::no_space;
        if (stop != memory::no_space)
          total.seconds += m_links.between(r.space, stop).seconds(b.bytes) + m_links.between(stop, space).seconds(b.bytes);
      });
    }
  }
  return total;
}

bool coherence::poll(std::uint32_t device_index) {
  if (device_index >= m_copies.size() || m_copies[device_index].in == nullptr) return false;
  const bool in = m_copies[device_index].in->poll();
  return m_copies[device_index].out->poll() || in;
}

coherence_statistics coherence::statistics() const {
  return {.versions = m_versions.load(),
          .saved_fetches = m_saved_fetches.load(),
          .saved_bytes = m_saved_bytes.load(),
          .joined = m_joined.load(),
          .dropped = m_dropped.load(),
          .written_back = m_written_back.load(),
          .written_ahead = m_written_ahead.load()};
}

}  // namespace tessera::transfer
