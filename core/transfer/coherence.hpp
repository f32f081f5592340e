#pragma once
// The version table at work: makes the blocks of a task available in one space, publishes what it made, makes room.
//
// The house of this room: `memories` (what there is, and what is lost) < `replicas` (the rules of one block's copies) <
// `sources` (from where a block comes), `copy_engine` (how it comes) < `evictor` (what leaves) < `acquirer` (all that a
// task needs, or nothing) < `coherence`, which the scheduler and the runtime talk to.
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/transfer/acquirer.hpp"
#include "core/transfer/adopted_memory.hpp"
#include "core/transfer/statistics.hpp"

namespace tessera::transfer {

/// One per runtime. Thread-safe. Lock order: blocks by slot, then the space's own lock. No block's lock is held across
/// an enqueueing call of a plugin (replicas that a call will leave a ticket on are marked `issuing` instead, and others
/// wait for that); a reservation may ask the plugin for a slab, and dropping adopted memory may unregister it.
class coherence {
 public:
  /// @param parents  per space: where its evicted data go, or no_space
  coherence(std::span<const std::unique_ptr<memory::space>> spaces, std::vector<memory::space_number> parents,
            stream_table& streams, std::uint64_t staging_bytes, eviction_settings eviction = {},
            std::uint32_t copy_retries = 3);

  /// Writes transfers and evictions down from now on. Before anything is transferred.
  void record_to(trace::tracer& events) noexcept {
    m_copies.record_to(events);
    m_evictor.record_to(events);
  }

  // The life of a task's blocks.

  /// Reserves, transfers and pins everything that a task with these accesses needs in `space`; see outcome. Sets
  /// access::space. Tickets are left in `waits`, also those that the device can wait for; the caller decides how to
  /// wait. Scratch memory that the task wants there is reserved with its blocks. `sequence` is the task's age: 0 for
  /// none. A task that lacks memory, here or where a block stops on its way, may have a claim there from then on
  /// (claims.hpp), until a later attempt succeeds, or give_up.
  void acquire(std::span<block::access> accesses, memory::space_number space, acquisition& out,
               std::uint64_t sequence = 0) {
    m_acquirer.acquire(accesses, space, out, sequence);
  }
  /// The task of this age is given up: it will not acquire.
  void give_up(std::span<const block::access> accesses, std::uint64_t sequence) {
    m_acquirer.end_claims(accesses, sequence);
  }
  /// Whether everything that an acquired task reads is where it was acquired, once its waits are reached. False: a copy
  /// has failed; finish, and acquire again.
  bool arrived(std::span<const block::access> accesses) const;
  /// Address of an acquired block at its space, and its host pointer where there is one (else null). The replica must
  /// be pinned by the caller; the block's lock is taken for the search only.
  tsr_address address_of(const block::access& held, void** out_host = nullptr) const;
  /// The task has been enqueued (device: `done` is its ticket) or has run (host: no ticket): its versions are now the
  /// committed ones, other replicas are stale, readers are noted.
  void publish(std::span<const block::access> accesses, block::ticket done);
  /// The task is complete: unpins. With `why`, what it made is poisoned; `done`: the ticket that it was published with.
  void finish(std::span<const block::access> accesses, const std::shared_ptr<const block::failure>& why = nullptr,
              block::ticket done = {});
  /// publish and finish in one pass, for tasks that ran on the host.
  void publish_and_finish(std::span<const block::access> accesses);
  /// Marks what an unstarted task would have made as unusable.
  void poison(std::span<const block::access> accesses, const std::shared_ptr<const block::failure>& why);
  /// Drops all replicas of a block that no task uses any more. False: device work or transfers still read it; try again
  /// when `waits` are reached.
  bool try_drop(block::record& block, std::vector<block::ticket>& waits);

  // Full memories; see evictor.
  bool evict(memory::space_number space, std::uint64_t bytes, std::uint64_t sequence = 0) {
    return m_evictor.evict(space, bytes, sequence);
  }
  bool make_room(memory::space_number space, std::span<const std::uint64_t> sizes, std::uint64_t sequence) {
    return m_evictor.make_room(space, sizes, sequence);
  }
  void relieve(memory::space_number space, std::uint64_t sequence) { m_evictor.relieve(space, sequence); }
  transfer::evacuation evacuate(memory::space_number space) { return m_evictor.evacuate(space); }
  bool wants_uses() const noexcept { return m_evictor.wants_uses(); }
  memory::space_number parent_of(memory::space_number space) const noexcept { return m_memories.parent_of(space); }
  std::uint64_t failed_write_backs() const noexcept { return m_copies.failed_write_backs(); }
  /// Why nothing leaves a full space, as far as something is wrong; else empty.
  std::string why_stuck(memory::space_number space) const;
  // Nothing moves any more; see acquirer.
  bool suspend_claims() { return m_acquirer.suspend_claims(); }
  std::uint32_t stuck_rounds() const noexcept { return m_acquirer.stuck_rounds(); }
  void note_stuck() noexcept { m_acquirer.note_stuck(); }

  device_losses& losses() noexcept { return m_losses; }
  bool lost(memory::space_number space) const noexcept { return m_memories.lost(space); }
  const copy_failures& failed_copies() const noexcept { return m_failures; }  ///< so far
  adopted_memory& adopted() noexcept { return m_adopted; }

  /// What it would cost to bring the blocks that are read to each of several spaces; see sources.
  void costs_of(std::span<const block::access> accesses, std::span<const memory::space_number> spaces,
                std::span<transfer_estimate> out) const {
    m_sources.costs_of(accesses, spaces, out);
  }

  /// Fires what is due on all copy streams of a device.
  bool poll(std::uint32_t device_index) { return m_copies.poll(device_index); }
  /// Whether any transfer is still under way.
  bool transfers_pending() const noexcept { return m_copies.pending(); }

  const link_map& links() const noexcept { return m_memories.links(); }
  link_map& links() noexcept { return m_memories.links(); }
  coherence_statistics statistics() const;
  memory::space& space_at(memory::space_number number) const noexcept { return m_memories.at(number); }
  std::size_t space_count() const noexcept { return m_memories.all().size(); }
  copy_streams& copies_of(std::uint32_t device_index) noexcept { return m_copies.streams_of(device_index); }
  stream_table& streams() noexcept { return m_memories.streams(); }

 private:
  memories m_memories;
  lost_blocks m_lost_blocks;
  replicas m_replicas;
  copy_failures m_failures;
  device_losses m_losses;
  copy_engine m_copies;
  claims m_claims;
  evictor m_evictor;
  sources m_sources;
  acquirer m_acquirer;
  adopted_memory m_adopted;
  std::atomic<std::uint64_t> m_versions{0};
};

}  // namespace tessera::transfer
