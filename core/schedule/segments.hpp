#pragma once
// Which tasks of a recording become one piece of work of a device: pure functions from a placed recording to a plan.
//
// A segment is a set of tasks on one device that nothing outside lies between (it is convex): it can wait for all that
// any of them waits for, run as one, and release all that waits for any of them, without a cycle.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/schedule/captured_graphs.hpp"
#include "core/task/recording.hpp"

namespace tessera::schedule {

/// What planning knows of a place.
struct segment_place {
  bool captures = false;                   ///< a device whose plugin records graphs
  const plugin::device* device = nullptr;  ///< that device, which tasks with kernels or workspace are asked about
  std::uint64_t memory_bytes = ~std::uint64_t{0};  ///< of its memory
  std::uint64_t max_bytes = 0;                     ///< blocks of one segment, all together
  std::uint64_t granule = 1;                       ///< each block is counted as a multiple of it
  std::uint32_t streams = 1;                       ///< pieces that run side by side
  double ns_per_flop = 0;                          ///< estimate, to tell long tasks
};

/// One piece of work. Immutable but for its captured graphs.
struct segment {
  static constexpr std::size_t max_tasks = 1024;
  /// A launch saves microseconds per task. What takes longer than this gains nothing from being one piece with others,
  /// and would lose the overlap with their transfers and with other streams.
  static constexpr double longest_task_seconds = 100e-6;

  std::uint16_t place = 0;
  std::int16_t priority = 0;                ///< the highest of its tasks
  std::uint32_t gates = 0;                  ///< tasks of it that wait for something outside, or may
  std::uint32_t sinks = 0;                  ///< tasks of it without successors in the recording
  double work = 0;                          ///< floating-point operations, all together
  std::uint64_t bytes_used = 0;             ///< of its blocks
  std::uint64_t workspace = 0;              ///< bytes; its tasks use the same, one after the other
  std::uint64_t bytes_of_tasks = 0;         ///< of the blocks of each task, summed
  std::vector<std::uint32_t> members;       ///< tasks in the order in which they were recorded
  std::vector<task::recorded_access> uses;  ///< each block once: the intent and the version of all its uses together
  std::vector<std::uint32_t> operands;      ///< per access of each member in turn: index into uses
  std::vector<std::uint32_t> after;         ///< tasks outside that wait for some of it, each once
  captured_graphs graphs;                   ///< by the device's driver only
};

struct segment_plan {
  static constexpr std::uint32_t none = 0xffff'ffff;
  std::vector<std::unique_ptr<segment>> segments;
  std::vector<std::uint32_t> segment_of;   ///< by task; or none
  std::vector<std::int32_t> predecessors;  ///< by task: tasks and segments outside its own that it waits for
};

/// The accesses of a recorded task, for functions that ask for blocks and intents. @param blocks  by recorded number:
/// those of the recording, or of a replay
template <class Blocks>
std::vector<block::access> accesses_of(const task::recording& of, const task::recorded_task& t, const Blocks& blocks) {
  std::vector<block::access> accesses;
  for (const task::recorded_access& a : of.accesses_of(t))
    accesses.push_back({.block = blocks[a.block].block,
                        .version = 0,
                        .intent = static_cast<intent>(a.intent),
                        .flags = 0,
                        .space = 0});
  return accesses;
}

/// Whether all kernels of the recording's tasks are loaded where the tasks are placed, so that a plan can take them in.
bool kernels_are_loaded(const task::recording& of, std::span<const segment_place> places);

/// Maximal segments of at least two tasks, within the limits. Needs a recording all of whose tasks are placed; null
/// when it has none. Tasks stay alone that sum accumulates or zero private copies, have no blocks, have native
/// functions or kernels that are not loaded, want workspace for a library, are long, or have kernels where memory is
/// too small.
/// @param places  by place number
std::unique_ptr<segment_plan> plan_segments(const task::recording& of, std::span<const segment_place> places);

}  // namespace tessera::schedule
