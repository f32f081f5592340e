#pragma once
// An iteration recorded once: its tasks, the edges among them, and how it meets the tasks before and after it.
//
// A recording is a graph without state. Replaying needs a counter per task and, per block, the version it starts from
// (replay.hpp in schedule). Only the tasks that others outside may wait for, or that may wait for others outside, need
// a task record before they are ready: the boundary. All the rest get one from the running thread's pool at that
// moment, so that a replay of a million tasks touches a few records that stay in the cache.
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/huge_pages.hpp"
#include "core/block/combination.hpp"
#include "core/task/record.hpp"

namespace tessera::block {
class table;
}

namespace tessera::task {

/// One use of a block by a recorded task; 8 bytes.
struct recorded_access {
  static constexpr std::uint32_t max_versions = (1u << 27) - 1;  ///< of one block in one recording
  std::uint32_t block = 0;                                       ///< index into recording::blocks
  std::uint32_t version : 27 = 0;  ///< read or made, counted from the version that the replay starts from
  std::uint32_t intent : 3 = 0;    ///< an intent
  std::uint32_t fresh : 1 = 0;     ///< access_fresh
  std::uint32_t of_part : 1 = 0;   ///< access_of_part
};

/// One task: two cache lines hold all that most tasks need when they become ready and when they are done.
struct alignas(64) recorded_task {
  static constexpr std::uint32_t inner = 0xffff'ffff;
  static constexpr std::size_t inline_accesses = 4, inline_successors = 8;

  const operation::definition* operation = nullptr;
  std::source_location site;
  const void* arguments = nullptr;  ///< owned by the recording
  std::uint32_t argument_size = 0;
  std::uint32_t hint = no_hint;
  std::uint32_t boundary = inner;     ///< index into recording::boundary, or inner
  std::uint32_t first_access = 0;     ///< into recording::accesses, when there are more than inline_accesses
  std::uint32_t first_successor = 0;  ///< into recording::successors, when there are more than inline_successors
  std::uint32_t successor_count = 0;
  std::uint32_t access_count = 0;
  std::int16_t priority = 0;
  std::uint16_t cores = 1;                 ///< that it wants on the host
  mutable std::uint16_t place = no_place;  ///< where it was placed; no_place: not yet. Through std::atomic_ref
  bool ends_group = false;  ///< sums a group of accumulates: the first access becomes a write when there is nothing yet
  std::array<recorded_access, inline_accesses> accesses{};
  std::array<std::uint32_t, inline_successors> successors{};
};
static_assert(sizeof(recorded_task) == 128);

/// One block of a recording and the tasks that meet the world at it.
struct recorded_block {
  block::record* block = nullptr;
  block::version_number versions = 0;        ///< made by one replay
  std::vector<std::uint32_t> first_readers;  ///< read it before any task of the recording writes it
  std::uint32_t first_writer = recorded_task::inner;
  std::uint32_t last_writer = recorded_task::inner;
  std::vector<std::uint32_t> last_readers;  ///< read it after the last writer (without a writer: first_readers)
};

/// Immutable but for placement, arguments and blocks that are exchanged between replays.
struct recording {
  recording() = default;
  recording(const recording&) = delete;
  recording& operator=(const recording&) = delete;
  ~recording();

  large_vector<recorded_task> tasks;
  std::vector<recorded_access> accesses;   ///< of tasks that have many
  std::vector<std::uint32_t> successors;   ///< likewise
  std::vector<std::int32_t> predecessors;  ///< per task, within the recording
  std::vector<recorded_block> blocks;
  std::vector<std::uint32_t> lock_order;                                   ///< blocks by slot
  std::vector<std::uint32_t> boundary;                                     ///< tasks that meet the world
  std::vector<std::uint32_t> tasks_without_blocks;                         ///< tasks without blocks
  std::uint32_t leaf_count = 0;                                            ///< tasks without successors
  std::vector<std::shared_ptr<const void>> kept;                           ///< let go of when it ends
  std::vector<std::shared_ptr<std::atomic<std::uint64_t>>> replay_counts;  ///< counted up when a replay begins
  std::vector<std::shared_ptr<const void>> ranges;                         ///< validate::ranges_in_use of each replay

  std::size_t size() const noexcept { return tasks.size(); }
  std::span<const recorded_access> accesses_of(const recorded_task& t) const noexcept {
    return {t.access_count > recorded_task::inline_accesses ? accesses.data() + t.first_access : t.accesses.data(),
            t.access_count};
  }
  std::span<const std::uint32_t> successors_of(const recorded_task& t) const noexcept {
    return {t.successor_count > recorded_task::inline_successors ? successors.data() + t.first_successor
                                                                 : t.successors.data(),
            t.successor_count};
  }
  /// Index of a block, or recorded_task::inner when the recording does not use it. A block that was exchanged is found
  /// under the one that was recorded.
  std::uint32_t index_of(const block::record& b) const noexcept;
  /// Exchanges blocks, all at once, for the replays that start from now on: the recorded one on the left, the one to
  /// use on the right, of the same type and extents. Throws tessera::error (usage), changing nothing, for a block that
  /// is not recorded, does not fit, or is then used under two names.
  void substitute(std::span<const std::pair<const block::record*, block::record*>> pairs);
  std::vector<std::uint32_t> submitted;  ///< tasks of the program, in the order in which it submitted them
  /// Forgets where tasks were placed: the next replay asks the policy again.
  void forget_places() noexcept;

 private:
  friend class graph_recorder;
  void order_locks();
  struct argument_piece {  // 16-byte aligned, never moved
    alignas(16) std::byte bytes[16];
  };
  std::vector<std::unique_ptr<argument_piece[]>> m_plain;  // copied arguments, many to a chunk
  std::size_t m_plain_used = 0, m_plain_room = 0;          // pieces of the last chunk
  std::vector<record*> m_kept;                             // records whose arguments cannot be copied
  std::unordered_map<const block::record*, std::uint32_t> m_index;
  std::vector<block::record*> m_private;  // copies for accumulates
  block::table* m_table = nullptr;

 public:
  /// The private copies, for the end of the recording's life: they are destroyed like any other block.
  std::span<block::record* const> private_blocks() const noexcept { return m_private; }
  /// Records that hold arguments; their arguments are to be destroyed and they go back to their pools.
  std::span<record* const> kept_records() const noexcept { return m_kept; }
};

/// Takes down tasks in the order of their submission. One thread.
class graph_recorder {
 public:
  /// @param reduce  the operation that sums private copies: destination update or write, sources read
  /// @param combine  the same for those that are not added; its arguments are a block::combination
  /// @param max_versions  that a block may get; for tests
  graph_recorder(block::table& blocks, const operation::definition& reduce, const operation::definition& combine,
                 std::uint32_t max_versions = recorded_access::max_versions);
  ~graph_recorder();

  /// A task with its operation, accesses, arguments, priority and hint. Returns whether the record is kept (its
  /// arguments cannot be copied); otherwise the caller may reuse it.
  bool add(record& t);
  /// Something that is there as long as the recording: let go of when it ends, or is not finished.
  void keep(std::shared_ptr<const void> what) { m_recording->kept.push_back(std::move(what)); }
  /// Each replay uses these ranges: a validate::ranges_in_use.
  void use_ranges(std::shared_ptr<const void> uses) { m_recording->ranges.push_back(std::move(uses)); }
  /// Each replay counts these up, once: others may have to know that there was one.
  void count_replays(const std::shared_ptr<std::atomic<std::uint64_t>>& by);
  /// To be called once when the recording ends: with true before it is finished, when tasks can still be added, and
  /// with false, throwing nothing, where it is not.
  void at_end(std::function<void(bool finished)> what) { m_at_end.push_back(std::move(what)); }
  /// Calls those. Throws what one of them throws, when all have been called.
  void call_at_end(bool finished);
  /// The program destroys a block: a recording that uses it could never be replayed.
  void destroyed(const block::record& b);
  /// Ends the open groups of accumulates and derives everything else. The recorder is empty afterwards. Throws
  /// tessera::error (usage) when a block that it uses was destroyed meanwhile, or is written more often than versions
  /// count.
  std::unique_ptr<recording> finish();
  /// When recording failed: what is to be given back (see replay_player::forget).
  recording& incomplete() noexcept { return *m_recording; }

  /// Private copies per group of accumulates. Adders take them in turn, so that the order of all additions, and with it
  /// the rounding of the sum, depends on nothing but the program.
  static constexpr std::uint32_t copies_per_group = 4;

 private:
  struct group;
  struct block_state;
  std::uint32_t index_of(block::record& b);
  std::uint32_t new_task(const operation::definition& what, std::source_location site);
  recorded_access visit(std::uint32_t task, std::uint32_t block, intent how, bool fresh);
  recorded_access add_private(std::uint32_t task, std::uint32_t base, block::combination_number how);
  std::uint32_t new_private(std::uint32_t base);
  void close_group(std::uint32_t base);
  void edge(std::uint32_t before, std::uint32_t after);

  block::table& m_table;
  const operation::definition& m_reduce;
  const operation::definition& m_combine;
  std::uint32_t m_max_versions;
  std::string m_destroyed;  // name of a block that it needs
  std::unique_ptr<recording> m_recording;
  std::vector<std::function<void(bool)>> m_at_end;
  std::vector<std::unique_ptr<block_state>> m_states;
  std::vector<recorded_access> m_accesses;  // of all tasks, in order
  std::vector<std::pair<std::uint32_t, std::uint32_t>> m_edges;
};

}  // namespace tessera::task
