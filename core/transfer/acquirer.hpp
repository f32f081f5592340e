#pragma once
// Makes the blocks of a task available in one space.
#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "core/transfer/evictor.hpp"
#include "core/transfer/sources.hpp"

namespace tessera::transfer {

/// What became of an attempt to acquire.
enum class outcome : std::uint8_t {
  ready,      ///< all replicas are (or, after `waits`, will be) usable and pinned
  retry,      ///< nothing is held; try again when `waits` are reached (a copy goes through an intermediate space)
  no_memory,  ///< nothing is held; `missing_bytes` could not be reserved
  lost,       ///< nothing is held; the device of the space is lost
  failed      ///< nothing is held; `cause` says why the contents cannot be had
};

/// Result of an attempt; reused between attempts to keep its capacity.
struct acquisition {
  tessera::transfer::outcome outcome = tessera::transfer::outcome::ready;
  std::uint64_t scratch_bytes = 0;     ///< wanted beside the blocks, in the same memory; set by the caller
  block::chunk scratch;                ///< ready: these bytes, the caller's to give back
  std::vector<block::ticket> waits;    ///< reached or not; at most one per stream and block
  std::vector<block::ticket> sources;  ///< ready: exact points that make contents it needs, not reached yet
  bool copying = false;                ///< ready: some of these are copies
  memory::space_number lacking = memory::no_space;  ///< no_memory: the space that is full
  std::uint64_t missing_bytes = 0;
  std::vector<std::uint64_t> missing;  ///< no_memory: the sizes of the pieces that these are
  std::uint64_t memory_events = 0;     ///< of that space, read before the reservation that failed
  std::shared_ptr<const block::failure> cause;
};

/// Totals since the start; a snapshot.
struct acquisition_statistics {
  std::uint64_t saved_fetches = 0;  ///< write intents that found a valid copy elsewhere and did not fetch it
  std::uint64_t saved_bytes = 0;
  std::uint64_t joined = 0;  ///< reads that joined a transfer already under way
};

/// One per runtime. Thread-safe. Reserves everything before it moves anything, so that two tasks never hold half of a
/// memory each.
class acquirer {
 public:
  acquirer(memories& all, replicas& rules, sources& from, copy_failures& failures, copy_engine& copies, claims& claimed,
           evictor& leaving) noexcept
      : m_memories(all),
        m_replicas(rules),
        m_sources(from),
        m_failures(failures),
        m_copies(copies),
        m_claims(claimed),
        m_evictor(leaving) {}

  /// See coherence::acquire.
  void acquire(std::span<block::access> accesses, memory::space_number space, acquisition& out, std::uint64_t sequence);
  /// The task of this age has what it needs, or is given up.
  void end_claims(std::span<const block::access> accesses, std::uint64_t sequence);
  /// Nothing moves any more: ends all claims until a task has acquired, and wakes those that waited for them. False
  /// when there were none.
  bool suspend_claims();

  /// How often note_stuck was called since the last task acquired.
  std::uint32_t stuck_rounds() const noexcept { return m_stuck.load(std::memory_order_relaxed); }
  void note_stuck() noexcept { m_stuck.fetch_add(1, std::memory_order_relaxed); }
  acquisition_statistics statistics() const noexcept;

 private:
  struct attempt;
  enum class step : std::uint8_t {
    on,    ///< go on with the next step
    over,  ///< `out` has the outcome
    again  ///< something is in the middle of a call of a plugin: look again in a moment
  };
  struct findings;

  void acquire_part(attempt& a);
  step run(attempt& a);
  // The four steps; the first three with the locks of all blocks.
  step look_for_contents(attempt& a, findings& found);
  void look_at(attempt& a, std::size_t index, findings& found);
  void look_for_source(attempt& a, std::size_t index, const block::replica* here, findings& found);
  step reserve(attempt& a);
  void pin_and_plan(attempt& a);
  void pin(attempt& a, std::size_t index, std::uint32_t now);
  bool issue(attempt& a);  ///< without locks; false: a copy was refused or has failed, and nothing is held
  void stage_via(attempt& a, block::record& far);

  memories& m_memories;
  replicas& m_replicas;
  sources& m_sources;
  copy_failures& m_failures;
  copy_engine& m_copies;
  claims& m_claims;
  evictor& m_evictor;
  std::atomic<std::uint32_t> m_stuck{0};
  std::atomic<std::uint64_t> m_saved_fetches{0}, m_saved_bytes{0}, m_joined{0};
};

}  // namespace tessera::transfer
