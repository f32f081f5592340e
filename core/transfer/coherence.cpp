#include "core/transfer/coherence.hpp"

#include <fmt/format.h>

#include "core/base/units.hpp"
#include "core/transfer/invariants.hpp"

namespace tessera::transfer {

coherence::coherence(std::span<const std::unique_ptr<memory::space>> spaces, std::vector<memory::space_number> parents,
                     stream_table& streams, std::uint64_t staging_bytes, eviction_settings eviction,
                     std::uint32_t copy_retries)
    : m_memories(spaces, std::move(parents), streams),
      m_replicas(m_memories, m_lost_blocks),
      m_failures(copy_retries),
      m_losses(m_memories, m_replicas, m_lost_blocks),
      m_copies(m_memories, m_replicas, m_failures, m_losses, staging_bytes),
      m_claims(spaces.size()),
      m_evictor(m_memories, m_replicas, m_copies, m_failures, m_claims, eviction),
      m_sources(m_memories, m_replicas, m_failures),
      m_acquirer(m_memories, m_replicas, m_sources, m_failures, m_copies, m_claims, m_evictor),
      m_adopted(m_memories, m_replicas) {}

bool coherence::arrived(std::span<const block::access> accesses) const {
  for (const block::access& a : accesses) {
    if (!needs_contents(a.intent)) continue;
    block::record& b = *a.block;
    const std::lock_guard guard(b.lock);
    const block::replica* const here = b.find(a.space);
    if (here == nullptr || !m_replicas.usable(*here, b) || m_replicas.doubtful(*here)) return false;
    // A task that waited for the same copy has begun another one.
    if (here->state == block::replica_state::filling &&
        (here->issuing != 0 || !m_memories.streams().reached(here->ready)))
      return false;
  }
  return true;
}

tsr_address coherence::address_of(const block::access& held, void** out_host) const {
  // The caller's pin keeps the entry and its chunk; other entries may change, so the lock is taken for the search.
  const std::lock_guard guard(held.block->lock);
  const block::chunk where = held.block->find(held.space)->where;
  const memory::space& space = m_memories.at(held.space);
  if (out_host != nullptr) *out_host = space.host_pointer(where);
  return space.address_of(where);
}

void coherence::publish(std::span<const block::access> accesses, block::ticket done) {
  for (const block::access& a : accesses) {
    block::record& b = *a.block;
    const std::lock_guard guard(b.lock);
    check_use(b, a);
    block::replica& here = *b.find(a.space);
    if (a.intent == intent::read) {
      if (!done) continue;
      if (!here.readers) here.readers = std::make_unique<std::vector<block::ticket>>();
      m_replicas.prune_tickets(here);
      m_replicas.add_wait(*here.readers, done);
      continue;
    }
    const bool contents = makes_version(a.intent);
    b.committed = contents ? a.version : 0;
    b.valid_spaces = contents ? block::space_set::of(a.space) : block::space_set();
    here.version = b.committed;
    here.ready = done;
    here.state = block::replica_state::valid;
    m_adopted.note_version(b, a.space);
    if (here.readers) here.readers->clear();  // this task waited for them
    // Written again. An update says nothing about what it was made from: that may turn out to be poisoned meanwhile.
    if (b.poison != nullptr && !needs_contents(a.intent)) b.clear_poison();
    if (contents) m_versions.fetch_add(1, std::memory_order_relaxed);
    check_invariants(b);
  }
}

void coherence::finish(std::span<const block::access> accesses, const std::shared_ptr<const block::failure>& why,
                       block::ticket done) {
  if (why || done)
    for (const block::access& a : accesses) {
      block::record& b = *a.block;
      const std::lock_guard guard(b.lock);
      block::replica* const here = b.find(a.space);
      if (done && here != nullptr && here->ready == done) here->ready = {};  // known now: made, or poisoned below
      if (!why || a.intent == intent::read) continue;
      // A version that another task has made since then has come to no harm; one that was made of this one fails
      // itself.
      if (b.committed != (makes_version(a.intent) ? a.version : 0)) continue;
      b.set_poison(why);
      if (why->by_loss && b.from != nullptr) m_lost_blocks.note(b, why);
    }
  m_replicas.unpin(accesses);
}

void coherence::publish_and_finish(std::span<const block::access> accesses) {
  publish(accesses, {});
  finish(accesses);
}

void coherence::poison(std::span<const block::access> accesses, const std::shared_ptr<const block::failure>& why) {
  for (const block::access& a : accesses) {
    if (a.intent == intent::read || a.intent == intent::accumulate) continue;  // a missing addend: the reduction fails
    const std::lock_guard guard(a.block->lock);
    a.block->set_poison(why);
  }
}

bool coherence::try_drop(block::record& block, std::vector<block::ticket>& waits) {
  bool busy = false;
  block::space_set touched;
  {
    const std::lock_guard guard(block.lock);
    block.for_each_replica([&](block::replica& r) {
      m_replicas.prune_tickets(r);
      if (r.ready) m_replicas.add_wait(waits, r.ready);
      if (r.readers)
        for (const block::ticket t : *r.readers) m_replicas.add_wait(waits, t);
      busy = busy || r.pins != 0 || r.issuing != 0;
    });
    if (busy || !waits.empty()) return false;
    m_failures.forget(block);
    m_lost_blocks.forget(block);
    block.committed = 0;  // its contents are not missed
    block.for_each_replica([&](block::replica& r) {
      touched.add(r.space);
      m_replicas.drop(block, r);
    });
  }
  m_memories.wake(touched);
  return true;
}

std::string coherence::why_stuck(memory::space_number number) const {
  const memory::space& space = m_memories.at(number);
  std::string why = space.alloc_trouble();
  if (!why.empty()) why = "its plugin gives no more of it: " + why;
  const memory::space_number above = m_memories.parent_of(number);
  if (above == memory::no_space) return why;
  const auto add = [&](const std::string& more) { why += (why.empty() ? "" : "; ") + more; };
  if (m_memories.lost(above))
    add(fmt::format("{}, where its blocks would go, is lost", m_memories.at(above).device().name()));
  if (const std::string failed = m_failures.last_from(number); !failed.empty()) add(failed);
  const memory::space& parent = m_memories.at(above);
  const std::string its = parent.alloc_trouble();
  if (parent.was_full())
    add(fmt::format(
            "{}, where its blocks would go, is full ({} of {} in use{}{})", parent.name(),
            format_bytes(static_cast<double>(parent.used())),
            parent.limit() == ~std::uint64_t{0} ? "no limit" : format_bytes(static_cast<double>(parent.limit())),
            its.empty() ? "" : ": ", its) +
        (parent.device().description().device_class == TSR_DEVICE_STORAGE
             ? fmt::format("; plugin.{}.capacity gives it more", parent.device().plugin_name())
             : std::string()));
  return why;
}

coherence_statistics coherence::statistics() const {
  const acquisition_statistics acquired = m_acquirer.statistics();
  const eviction_statistics evicted = m_evictor.statistics();
  return {.versions = m_versions.load(),
          .saved_fetches = acquired.saved_fetches,
          .saved_bytes = acquired.saved_bytes,
          .joined = acquired.joined,
          .dropped = evicted.dropped,
          .written_back = evicted.written_back,
          .written_ahead = evicted.written_ahead};
}

}  // namespace tessera::transfer
