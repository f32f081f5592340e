#pragma once
// One run of a recording.
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "core/operation/context.hpp"
#include "core/task/flow.hpp"
#include "core/task/recording.hpp"

namespace tessera::task {

/// The changing part of a replay: used again when all of its tasks are through.
struct replay {
  explicit replay(const task::recording& what);

  const task::recording& recording;
  const std::int32_t*
      predecessors;  ///< per task: what `waiting` starts from; recording::predecessors unless a plan says otherwise
  std::unique_ptr<std::atomic<std::int32_t>[]>
      waiting;  ///< per task: predecessors within the recording not yet released
  struct place {
    block::record* block = nullptr;
    block::version_number base = 0;  ///< its version before the replay
  };
  std::vector<place> blocks;         ///< by recorded_access::block
  std::vector<record*> boundary;     ///< by recorded_task::boundary
  std::uint64_t first_sequence = 0;  ///< of task 0
  /// Arguments that replace the recorded ones, by task; never changed while the replay runs.
  std::unordered_map<std::uint32_t, std::shared_ptr<const std::vector<std::byte>>> patches;

  operation::replay_value value;  ///< what the program gave this run; never changed while the replay runs

  /// Back to the start: counters, blocks, no boundary.
  void rewind();
  /// Fills a renewed record with task `index`; versions need place::base.
  void fill(record& t, std::uint32_t index);
};

/// Joins a rewound replay, whose boundary records are renewed, to the tasks submitted before and makes it the
/// predecessor of those submitted later. Takes the flow locks of all its blocks in slot order. Calls ready(record&) for
/// each boundary task that waits for nothing; after the first call the replay is running. `events`: null, or where
/// submissions are written down.
void link(replay& r, reduction_source& reductions, trace::buffer* events, const std::function<void(record&)>& ready);

/// What starting a task looks at will be in the cache: tasks of a large recording come from memory.
inline void prefetch(const recorded_task& t) noexcept {
  const char* const lines = reinterpret_cast<const char*>(&t);
  for (std::size_t at = 0; at < sizeof t; at += 64) __builtin_prefetch(lines + at);
}

/// One of the tasks that `index` waits for within the replay is done: calls ready(index) or ready_boundary(record&)
/// when that was the last thing it waited for.
template <class Inner, class Boundary>
void count_down(replay& r, std::uint32_t index, Inner&& ready, Boundary&& ready_boundary) {
  const recorded_task& t = r.recording.tasks[index];
  // The only predecessor need not count: no other thread does.
  const std::int32_t before = r.predecessors[index] == 1 ? 1 : r.waiting[index].fetch_sub(1, std::memory_order_acq_rel);
  if (before == 2) prefetch(t);  // the next one starts it
  if (before != 1) return;
  const std::uint32_t boundary = t.boundary;
  if (boundary == recorded_task::inner) {
    ready(index);
  } else {
    record& there = *r.boundary[boundary];
    if (there.dependencies.fetch_sub(1, std::memory_order_acq_rel) == 1) ready_boundary(there);
  }
}

/// To be called for every task of a replay when it has been enqueued or has run: calls ready(index) for each inner
/// successor that waited for nothing else and ready_boundary(record&) for those of the boundary.
template <class Inner, class Boundary>
void release_replayed(replay& r, std::uint32_t index, Inner&& ready, Boundary&& ready_boundary) {
  const recording& recorded = r.recording;
  for (const std::uint32_t s : recorded.successors_of(recorded.tasks[index])) count_down(r, s, ready, ready_boundary);
}

}  // namespace tessera::task
