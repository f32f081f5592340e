#pragma once
// The cases of bench_tasks. Each prints rows (bench/common/measure.hpp) and ends the program when a checked result is
// wrong.
#include <string>

#include "tessera/machine.hpp"
#include "tessera/tessera.hpp"

namespace bench {

struct case_options {
  int workers = 2;
  long n = 1000000;                     ///< tasks per repetition
  bool check = false;                   ///< tasks compute values that are compared with a sequential run (slower)
  long width = 8, reps = 3;             ///< of the stencil
  long replays = 2;                     ///< of a recorded graph, the first not counted
  bool recorded = false;                ///< stencil: recorded once, its replay is timed
  long steps = 100, iterations = 1000;  ///< of a cold stencil
  bool bound_by_hand =
      false;  ///< cold: the program binds its own thread, as somebody would who knows what stands in the way
};

/// A machine with the host plugin alone and that many workers.
tessera::machine host_machine(int workers);
/// Sleeps without looking at anything.
void leave_idle(double seconds);
/// Call after making a runtime: its threads have started and gone to sleep then.
inline void settle() { leave_idle(0.3); }

/// Submit, run and retire n tasks: "independent" (no blocks), "chain" (one block), "dag" (the random graph).
void overhead_case(const std::string& name, const case_options& o);
/// Small tasks with ten blocks each: a heat equation on blocks of 16 x 16 cells and their edges.
void heat_case(const case_options& o);
/// Submission alone: batches that fit into the window, so that the submitting thread links and queues and nothing runs.
void submit_case(const case_options& o);
/// The smallest efficient task.
void stencil_case(const case_options& o);
/// One stencil in a process that has just started; bench_cold measures the process.
void cold_case(const case_options& o);
/// How long the program waits for a value while many tasks are queued: one that was there before, and one that the
/// first of them makes.
void view_case(const case_options& o);
/// Bytes of the C heap per block.
void metadata_case(const case_options& o);
/// Processor time of a runtime that has nothing to do, and how fast a sleeping worker starts a task.
void idle_case(const case_options& o);

}  // namespace bench
