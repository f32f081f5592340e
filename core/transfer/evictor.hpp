#pragma once
// Makes room in memories that are full: chooses which replicas leave, and copies what has no other copy to the parent
// memory.
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/transfer/claims.hpp"
#include "core/transfer/copy_engine.hpp"

namespace tessera::transfer {

/// Which replica leaves a full memory first.
enum class eviction_policy : std::uint8_t {
  next_use,  ///< the one that the submitted tasks use last; ties and unannounced uses: the least recently used
  lru,       ///< the least recently used
  fifo       ///< the one that came first
};
/// "next_use", "lru", "fifo"; throws tessera::error (configuration).
eviction_policy parse_eviction(std::string_view text);

/// How full a space may be. Only spaces that have been full once are relieved in the background.
struct eviction_settings {
  eviction_policy policy = eviction_policy::next_use;
  double high_watermark = 0.95;  ///< of the limit: above it blocks leave before any task waits for the room
  double low_watermark = 0.90;   ///< until that much is in use
  double write_ahead = 0.01;  ///< of the limit: as much is kept ready to leave at once, by copies to the parent memory
};

/// Totals since the start; a snapshot.
struct eviction_statistics {
  std::uint64_t dropped = 0;        ///< replicas evicted without a copy
  std::uint64_t written_back = 0;   ///< replicas evicted with a copy to the parent memory
  std::uint64_t written_ahead = 0;  ///< copies to the parent memory made before anything had to leave
};

/// One step of emptying a space.
struct evacuation {
  std::size_t left = 0;             ///< blocks that still have a replica there
  bool progress = false;            ///< something was dropped or has started to leave
  bool waiting = false;             ///< work or transfers that use some of them are under way
  bool busy = false;                ///< a lock was busy: try at once
  bool failing = false;             ///< copies of some have failed so often that they are not tried any more
  std::uint64_t lacking_bytes = 0;  ///< of sole copies for which the parent has no room; 0: none was found
  std::string example;              ///< one of those blocks
};

/// One per runtime. Thread-safe.
class evictor final : private write_back_listener {
 public:
  evictor(memories& all, replicas& rules, copy_engine& copies, copy_failures& failures, claims& claimed,
          eviction_settings settings);

  /// Writes evictions down from now on. Before the first one.
  void record_to(trace::tracer& events) noexcept { m_tracer = &events; }
  /// Whether submitters should announce uses: the policy looks at them, and there is a memory with a limit and a
  /// parent.
  bool wants_uses() const noexcept { return m_wants_uses; }

  /// Starts to make `bytes` available in a space: drops replicas that are stale or valid elsewhere, writes sole copies
  /// back to the parent, in the order of the policy. Returns true when something was freed at once or is on its way.
  /// With a `sequence`, and by next use, nothing leaves that is needed before the task of that age.
  bool evict(memory::space_number number, std::uint64_t bytes, std::uint64_t sequence = 0);
  /// Starts to make room for pieces of these sizes beside each other or apart: what is free, and what leaves already,
  /// counts. Of what may leave, those neighbours do that cost least: the bytes of a block count the more the sooner the
  /// policy expects it to be used. Returns true when something was freed at once or is on its way.
  bool make_room(memory::space_number number, std::span<const std::uint64_t> sizes, std::uint64_t sequence);
  /// Evicts from a space that is above its high watermark; for the task of age `sequence`, whose blocks have come.
  void relieve(memory::space_number number, std::uint64_t sequence);
  /// One step of emptying a space whose device leaves: drops what is stale or valid elsewhere, writes sole copies back,
  /// and says what is left. Call it again until nothing is; by one thread at a time for each space.
  evacuation evacuate(memory::space_number number);

  /// With the block's lock held: a replica that was about to be dropped is wanted again.
  void cancel_eviction(block::replica& r, std::uint64_t block_bytes) noexcept;

  eviction_statistics statistics() const noexcept;

 private:
  struct candidate;
  struct survey;
  struct room_made;
  struct write_back_plan;
  survey look_over(memory::space_number number, std::uint64_t sequence);
  void add_to(memory::room_plan& plan, const survey& found, memory::page_grid grid, std::uint64_t sequence,
              std::span<const block::record* const> staying) const;
  double cost_of(const candidate& leaving, std::uint64_t sequence) const noexcept;
  room_made send_away(const candidate& leaving, memory::space_number number, std::uint64_t sequence,
                      std::uint64_t& deficit);
  bool replace_alike(memory::space_number number, std::span<const std::uint64_t> sizes, std::uint64_t sequence);
  bool make_bytes_free(memory::space_number number, std::uint64_t bytes, std::uint64_t sequence);
  void keep_some_ready(memory::space_number number, std::span<const candidate> next, std::uint64_t sequence);
  /// With the block's lock held. Not memory of the program: a list of residents may be older than a block whose record
  /// was used again for an adopted one.
  bool may_leave(const block::replica& r) const noexcept;
  bool in_use(block::replica& r) const;  ///< with the block's lock held: by work that is under way
  bool is_elsewhere(block::record& block,
                    memory::space_number besides) const;  ///< likewise: a usable copy is there, not on its way
  void begin_eviction(block::replica& r,
                      std::uint64_t block_bytes) noexcept;  ///< likewise: it is dropped when its copy has arrived
  void drop(block::record& block, block::replica& r);       ///< likewise, and counted
  void trace_eviction(const block::record& block, memory::space_number space, bool written_back) const;

  // write_back.cpp
  std::optional<write_back_plan> plan_write_back(block::record& block, memory::space_number from) const;
  /// `deficit`: bytes for which the parent had no room so far.
  bool write_back(block::record& block, memory::space_number from, std::uint64_t& out_bytes, std::uint64_t sequence,
                  std::uint64_t& deficit);
  bool write_ahead(block::record& block, memory::space_number from, std::uint64_t sequence);
  bool copy_back(block::record& block, memory::space_number from, write_back_plan& plan,
                 block::replica_state meanwhile);
  std::optional<planned_copy> decide(block::record& block, memory::space_number from, write_back_plan& plan,
                                     block::replica_state meanwhile);
  void write_back_ended(block::record& block, block::replica& source, bool arrived) override;

  memories& m_memories;
  replicas& m_replicas;
  copy_engine& m_copies;
  copy_failures& m_failures;
  claims& m_claims;
  const eviction_settings m_settings;
  bool m_wants_uses = false;
  trace::tracer* m_tracer = nullptr;
  std::unique_ptr<std::atomic<std::uint64_t>[]> m_leaving;  // by space: bytes that are being written back from there
  std::atomic<std::uint64_t> m_dropped{0}, m_written_back{0}, m_written_ahead{0};
};

/// What the copy of a block to the parent memory takes.
struct evictor::write_back_plan {
  memory::space_number to;
  std::uint64_t bytes;
  bool needs_room;
  block::chunk room;
};

}  // namespace tessera::transfer
