#pragma once
// A replay on its way through the scheduler.
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/schedule/segments.hpp"
#include "core/task/replay.hpp"
#include "core/transfer/use_log.hpp"

namespace tessera::schedule {

/// What the replays of one recording share: the segments that its tasks form where they were placed. Written by the
/// thread that plays it.
struct replay_planning {
  bool planned = false;                ///< there is nothing left to find out
  std::uint32_t tries = 0;             ///< replays that could have planned, and found kernels that were not loaded
  std::shared_ptr<segment_plan> plan;  ///< null: none yet, or no segments
  void restart() noexcept { planned = false, tries = 0, plan.reset(); }
};

/// How a recording uses one of its blocks first.
struct first_use {
  std::uint32_t block;  ///< among those of the replay
  std::uint32_t task;   ///< its place in the recording
  bool writes;
};

/// One segment in one replay.
struct segment_run {
  tessera::schedule::segment* segment = nullptr;
  const task::replay* replay = nullptr;
  graph_counters* counters = nullptr;
  std::atomic<std::uint32_t> waiting{0};  ///< gates not yet passed
  bool enqueued = false;
};

/// Knows when it is through: all its tasks without successors have released (each thread counts its own, so that nobody
/// contends), hence all others have.
struct running_replay : task::replay {
  running_replay(const task::recording& what, replay_planning& common) : task::replay(what), planning(common) {}

  struct alignas(64) counter {
    std::atomic<std::uint32_t> tasks{0};
  };
  std::vector<counter> done;          ///< by thread
  counter done_by_others;             ///< by threads that are younger than this run, together
  bool started = false;               ///< by the thread that plays it
  transfer::use_log* uses = nullptr;  ///< where its uses were announced
  std::vector<first_use> first_uses;  ///< of its blocks; empty until they are announced
  replay_planning& planning;
  std::shared_ptr<segment_plan> plan;       ///< of this run; null: every task for itself
  std::unique_ptr<segment_run[]> segments;  ///< by segment of the plan

  void rewind_counts(std::size_t threads) {
    if (done.size() < threads) done = std::vector<counter>(threads);
    for (counter& c : done) c.tasks.store(0, std::memory_order_relaxed);
    done_by_others.tasks.store(0, std::memory_order_relaxed);
  }
  void count_done(std::size_t thread_context, std::uint32_t tasks) noexcept {
    if (thread_context >= done.size()) {
      done_by_others.tasks.fetch_add(tasks, std::memory_order_release);
      return;
    }
    std::atomic<std::uint32_t>& thread = done[thread_context].tasks;
    thread.store(thread.load(std::memory_order_relaxed) + tasks, std::memory_order_release);
  }

  bool finished() const noexcept {
    if (!started) return true;
    std::uint32_t sum = done_by_others.tasks.load(std::memory_order_acquire);
    for (const counter& c : done) sum += c.tasks.load(std::memory_order_acquire);
    return sum == recording.leaf_count;
  }
};

}  // namespace tessera::schedule
