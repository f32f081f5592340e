#pragma once
// What options take of memory beside the stages of a calculation.
#include "apps/chem/memory_plan.hpp"

namespace tessera::apps {

/// The recording of --trace and --report.
struct recording_memory {
  double events = 0;           ///< bytes that are expected; 0: nothing is recorded
  double most = 0;             ///< bytes of buffers at most (runtime.trace_limit)
  double resident = 0;         ///< of them, what is there while programs run
  double at_end = 0;           ///< what reading and writing it takes at the end, beside the buffers
  double per_byte_at_end = 1;  ///< of events, with the buffers
};
/// @param statements executions of statements on blocks  @param rows threads that record
recording_memory recording_of(const chem_options& o, double statements, unsigned rows);
/// With no more than so many bytes, all in all; at least a buffer for each row.
recording_memory within(recording_memory of, double bytes, unsigned rows);

/// The integrals of --fcidump over the active orbitals.
struct fcidump_memory {
  double making = 0;     ///< while they are transformed
  double integrals = 0;  ///< as numbers, until the end
  double text = 0;       ///< at the end
};
fcidump_memory fcidump_of(const problem& p, const chem_options& o, std::size_t orbitals);

/// Memory of this process that simulated devices have, for programs with so many bytes of shared blocks, and of
/// blocks of workers that are alive at once. A device has each block that it computes with; blocks that tasks have
/// written wait for others, eight of each extents.
double device_bytes_of(const chem_options& o, double shared, double own_at_once);

}  // namespace tessera::apps
