#pragma once
// A place that runs tasks: the CPU workers of one memory, or one device.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/location/tree.hpp"
#include "core/memory/space.hpp"
#include "core/task/queues.hpp"

namespace tessera::placement {

/// Whether tasks are placed at a device. Host places are always attached.
enum class place_state : std::uint8_t {
  attached,  ///< tasks are placed here
  draining,  ///< on its way out: what has its blocks here still runs, what is queued goes elsewhere
  detached,  ///< runs nothing and holds nothing, until it is attached
  lost       ///< the device does not answer any more; for ever
};

/// What the scheduler knows of one place. `number` is its position in the scheduler.
struct place {
  std::uint32_t number = 0;
  std::string name;
  location::node_id location = location::no_node;  ///< its memory
  std::vector<location::node_id> cpus;             ///< host: the cores at its memory
  memory::space_number space = memory::no_space;
  const plugin::device* device = nullptr;
  bool is_host = true;
  std::uint32_t parallelism = 1;  ///< workers of this run, or compute streams; at least 1
  std::uint32_t kind = 0;         ///< in the history, where there is one
  std::uint64_t granule = 0;      ///< of its memory: each block is rounded up by less than this

  std::atomic<place_state> state{place_state::attached};  ///< placement reads it relaxed: a thread that queues too late
                                                          ///< has its task placed again by the driver
  bool attached() const noexcept { return state.load(std::memory_order_relaxed) == place_state::attached; }

  task::priority_queue high_priority;  ///< host: tasks with a priority above 0; device: its ready_queue
  task::priority_queue low_priority;   ///< host: tasks with a priority below 0
  task::spill_queue mailbox;           ///< host: tasks that other places' threads send here
  /// Of a device: all of its tasks.
  task::priority_queue& ready_queue() noexcept { return high_priority; }

  /// Work given here and not finished, in nanoseconds at the estimated rate.
  std::atomic<std::int64_t> queued_ns{0};
  /// Nanoseconds per floating-point operation of one worker or stream: first from the device's description, then from
  /// what was measured.
  std::atomic<double> ns_per_flop{0.25};
  std::atomic<std::uint64_t> tasks{0};  ///< placed here by choice
  std::atomic<std::int64_t> open{0};    ///< of those, not finished

  /// Takes a measured task into the estimate; tasks of little work say nothing about speed.
  void learn(double flops, double ns) noexcept {
    if (flops < 1e5) return;
    const double before = ns_per_flop.load(std::memory_order_relaxed);
    ns_per_flop.store(before + 0.2 * (ns / flops - before), std::memory_order_relaxed);  // a lost update is no harm
  }

  double queue_seconds() const noexcept {
    return static_cast<double>(std::max<std::int64_t>(queued_ns.load(std::memory_order_relaxed), 0)) * 1e-9 /
           parallelism;
  }
  /// How long a task that is given now waits: not at all while a worker or stream is free.
  double wait_seconds() const noexcept {
    return open.load(std::memory_order_relaxed) < static_cast<std::int64_t>(parallelism) ? 0 : queue_seconds();
  }
};

}  // namespace tessera::placement
