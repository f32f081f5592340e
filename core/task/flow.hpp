#pragma once
// From accesses in program order to edges between tasks.
//
// A block's flow record remembers its last writer and the readers since, as references that survive the tasks. Linking
// a task takes the flow locks of its blocks in slot order, all of them before the first edge is made, so that edges can
// never form a cycle whatever the submitting threads do.
#include <cstdint>

#include "core/task/record.hpp"
#include "core/trace/tracer.hpp"

namespace tessera::task {

// One word holds a generation (20 bits) and a 16-byte aligned address (44 bits): a reference to a task, and the head of
// a task's stack of edges. When a record is reused its generation moves on, and old references mean "finished". After
// 2^20 reuses an old reference can match again: that makes one needless dependency on an earlier task, never a wrong
// order.
inline constexpr std::uint64_t address_mask = (std::uint64_t{1} << 44) - 1;
inline constexpr std::uint64_t closed_address = address_mask;  ///< stack closed: the task has been released

inline std::uint64_t generation_bits(std::uint64_t word) noexcept { return word & ~address_mask; }
template <class T>
std::uint64_t packed_address(T* p) noexcept {
  return reinterpret_cast<std::uintptr_t>(p) >> 4;
}

/// A reference to a task that can be kept after the task is gone.
inline block::task_reference reference_to(const record& t) noexcept {
  return generation_bits(t.successors.load(std::memory_order_relaxed)) | packed_address(&t);
}

/// Starts a record's next life: open stack, no dependencies beyond the bias that linking takes off at its end.
inline constexpr std::int32_t linking_bias = 1 << 24;
void renew(record& t) noexcept;

/// Makes `after` wait for the referred task unless that is finished (or is `after` itself). Returns whether it waits.
bool depend(block::task_reference before, record& after);

/// Called once per task when it has been enqueued or has run: closes the stack and calls ready(record&) for each
/// successor that waited for nothing else.
template <class Function>
void release_successors(record& t, Function&& ready) {
  // acq_rel: the stack's edges are seen here, and this task's effects are seen by the thread that finds the stack
  // closed.
  const std::uint64_t word = t.successors.load(std::memory_order_relaxed);
  const std::uint64_t stack = t.successors.exchange(generation_bits(word) | closed_address, std::memory_order_acq_rel);
  for (auto* e = reinterpret_cast<edge*>((stack & address_mask) << 4); e != nullptr;) {
    edge* const next = e->next;  // the successor may run and be reused as soon as it is counted down
    record& successor = *e->successor;
    if (successor.dependencies.fetch_sub(1, std::memory_order_acq_rel) == 1) ready(successor);
    e = next;
  }
}

/// Makes the tasks that end groups of accumulates; implemented by the scheduler.
class reduction_source {
 public:
  /// A fresh record, renewed, with one update access to `block`; not linked yet.
  virtual record& make_reduction(block::record& block, block::accumulation& group) = 0;
  /// The reduction is linked; `ready`: it waits for nothing.
  virtual void reduction_linked(record& reduction, bool ready) = 0;
  /// Whether tasks that commute run in any order. False: in that of their submission, as updates.
  virtual bool lets_commute() const noexcept { return true; }
  /// Where additions are made in a fixed order: a fresh hidden block for those to `base`. Null: in any order. Called
  /// with flow locks held.
  virtual block::record* make_private(const block::record& base) {
    static_cast<void>(base);
    return nullptr;
  }

 protected:
  ~reduction_source() = default;
};

/// Links a task whose accesses are filled in. Returns true when it waits for nothing. Several threads may link at once.
/// @param events  of the calling thread: gets the submission with its predecessors, finished ones too; null: not
/// recorded
bool link(record& t, reduction_source& reductions, trace::buffer* events = nullptr);

}  // namespace tessera::task
