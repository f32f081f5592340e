#pragma once
// A place that runs tasks: the CPU workers of one memory, or one device.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/spin_lock.hpp"
#include "core/location/tree.hpp"
#include "core/memory/space.hpp"
#include "core/schedule/lane.hpp"
#include "core/task/record.hpp"

namespace tessera::schedule {

/// Tasks ordered by priority, then by submission. Thread-safe.
class priority_queue {
 public:
  void push(task::record& t) {
    const std::lock_guard guard(m_lock);
    m_heap.push_back(&t);
    std::ranges::push_heap(m_heap, later);
    m_size.store(m_heap.size(), std::memory_order_release);
  }
  /// The first one. With an `age`: if that was submitted later, the oldest of all that was submitted before; null if
  /// there is none.
  task::record* pop(std::uint64_t age = ~std::uint64_t{0}) {
    if (empty()) return nullptr;
    const std::lock_guard guard(m_lock);
    if (m_heap.empty()) return nullptr;
    if (m_heap.front()->sequence >= age) {
      const auto oldest = std::ranges::min_element(m_heap, {}, &task::record::sequence);
      if ((*oldest)->sequence >= age) return nullptr;
      task::record* const found = *oldest;
      *oldest = m_heap.back();
      m_heap.pop_back();
      std::ranges::make_heap(m_heap, later);
      m_size.store(m_heap.size(), std::memory_order_release);
      return found;
    }
    std::ranges::pop_heap(m_heap, later);
    task::record* const first = m_heap.back();
    m_heap.pop_back();
    m_size.store(m_heap.size(), std::memory_order_release);
    return first;
  }
  /// The first one that has its blocks already, or null. Looks at all.
  task::record* pop_acquired() {
    const std::lock_guard guard(m_lock);
    auto first = m_heap.end();
    for (auto at = m_heap.begin(); at != m_heap.end(); ++at)
      if (((*at)->flags & task::flag_acquired) != 0 && (first == m_heap.end() || later(*first, *at))) first = at;
    if (first == m_heap.end()) return nullptr;
    task::record* const found = *first;
    *first = m_heap.back();
    m_heap.pop_back();
    std::ranges::make_heap(m_heap, later);
    m_size.store(m_heap.size(), std::memory_order_release);
    return found;
  }
  bool has_acquired() const {
    if (empty()) return false;
    const std::lock_guard guard(m_lock);
    return std::ranges::any_of(m_heap, [](const task::record* t) { return (t->flags & task::flag_acquired) != 0; });
  }
  bool empty() const noexcept { return m_size.load(std::memory_order_acquire) == 0; }
  /// Whether pop(age) would find one.
  bool has(std::uint64_t age) const {
    if (empty()) return false;
    const std::lock_guard guard(m_lock);
    return std::ranges::any_of(m_heap, [&](const task::record* t) { return t->sequence < age; });
  }
  std::size_t size() const noexcept { return m_size.load(std::memory_order_acquire); }
  /// Calls visitor(task) for all of them, in no order; nothing comes or goes meanwhile.
  template <class Visitor>
  void visit(Visitor&& visitor) {
    const std::lock_guard guard(m_lock);
    for (task::record* t : m_heap) visitor(*t);
  }

 private:
  static bool later(const task::record* a, const task::record* b) noexcept {
    return a->priority != b->priority ? a->priority < b->priority : a->sequence > b->sequence;
  }
  mutable spin_lock m_lock;
  std::vector<task::record*> m_heap;
  std::atomic<std::size_t> m_size{0};
};

/// Whether tasks are placed at a device. Host places are always attached.
enum class executor_state : std::uint8_t {
  attached,  ///< tasks are placed here
  draining,  ///< on its way out: what has its blocks here still runs, what is queued goes elsewhere
  detached,  ///< runs nothing and holds nothing, until it is attached
  lost       ///< the device does not answer any more; for ever
};

/// What the scheduler knows of one place. `number` is its position in the scheduler.
struct executor {
  std::uint32_t number = 0;
  std::string name;
  location::node_id where = location::no_node;  ///< its memory
  std::vector<location::node_id> cpus;          ///< host: the worker locations that it runs
  memory::space_number space = memory::no_space;
  const plugin::device* device = nullptr;
  bool is_host = true;
  std::uint32_t parallelism = 1;  ///< workers, or compute streams
  std::uint32_t kind = 0;         ///< in the history, where there is one
  std::uint64_t granule = 0;      ///< of its memory: each block is rounded up by less than this

  std::atomic<executor_state> state{executor_state::attached};  ///< placement reads it relaxed: whoever queues too late
                                                                ///< has its task placed again by the driver
  bool attached() const noexcept { return state.load(std::memory_order_relaxed) == executor_state::attached; }

  priority_queue urgent;      ///< host: tasks with a priority above 0; device: all of its tasks
  priority_queue background;  ///< host: tasks with a priority below 0
  spill_queue inbox;          ///< host: tasks that other places' threads send here

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

}  // namespace tessera::schedule
