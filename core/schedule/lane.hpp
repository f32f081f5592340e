#pragma once
// What one thread owns while it works with a runtime.
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/operation/context.hpp"
#include "core/schedule/ready_ring.hpp"
#include "core/task/pool.hpp"
#include "core/transfer/coherence.hpp"

namespace tessera::schedule {

/// Per operation: how many tasks a lane ran, how long they took (only when timing is on).
struct operation_counter {
  std::uint64_t tasks = 0, nanoseconds = 0;
};

/// Every thread that submits or runs tasks has one. Written by its thread only, except where marked.
struct lane {
  explicit lane(std::uint16_t n) : number(n), tasks(n) {}

  std::uint16_t number;
  std::uint32_t executor = 0;           ///< host: whose workers it belongs to; a driver's: its device's
  bool is_driver = false;
  location::node_id where = location::no_node;
  task::pool tasks;                     ///< give_back is for all threads
  ready_ring ready;                     ///< others steal from it
  task::record* next_task = nullptr;    ///< runs before the ring: the successor whose data are still in cache
  std::uint32_t ticks = 0;
  std::uint32_t held_views = 0;         ///< host views not yet released by this thread
  bool inside_task = false;

  // Finished tasks on their way back to their pools, in one chain per owner.
  struct finished_chain {
    task::record *first = nullptr, *last = nullptr;
    std::uint32_t count = 0;
  };
  std::vector<finished_chain> finished;

  transfer::acquisition acquisition;    ///< scratch
  std::vector<operation::operand> operands;
  std::unique_ptr<transfer::stream> inline_stream;  ///< of the host device; made at first use
  std::vector<std::uint16_t> victims;   ///< other lanes, nearest first
  std::uint32_t victims_of = 0;         ///< number of lanes when that list was made

  std::vector<operation_counter> counters;  ///< by operation number; read by others only when nothing runs

  // Read by everybody, written by this thread: a line of its own.
  alignas(64) std::atomic<std::uint64_t> submitted{0};
  std::atomic<std::uint64_t> retired{0}, submitted_bytes{0}, retired_bytes{0}, steals{0};
  std::atomic<bool> in_use{true};
};

}  // namespace tessera::schedule
