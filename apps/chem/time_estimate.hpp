#pragma once
// How long a calculation would take on a described machine.
#include <string>
#include <vector>

#include "apps/chem/journal.hpp"
#include "apps/chem/memory_plan.hpp"
#include "hierarchy/simulation/describe.hpp"

namespace tessera::apps {

/// Machines that are alike, with a network between them.
struct described_cluster {
  hierarchy::machine_description node;
  double nodes = 1;
  double bandwidth = 0;  ///< of the network, of one node in one direction, bytes per second; 0: not a bound
};
/// Of --machine, --nodes and --interconnect. Throws tessera::error as read_machine, and (usage) for a rate that is
/// none.
described_cluster cluster_of(const chem_options& o);

/// What a part of a calculation does.
struct work_estimate {
  std::string name;
  std::vector<sial::statement_estimate> contractions;  ///< operations by statement
  double integrals = 0;                                ///< two-electron ones that are computed
  double integrals_parallel = 1;                       ///< pieces of that work
  double fetched_bytes = 0;                            ///< blocks that workers get, from each other or from memory
  double times = 1;                                    ///< it is done so often
  bool is_bound = false;                               ///< it was given up to look at each block: no more than this
  double flops() const;
};

/// What bounds the time of a part.
struct time_estimate {
  double compute = 0, move = 0;  ///< seconds: operations and integrals; blocks over the network or to devices
  double seconds() const { return compute > move ? compute : move; }
};
time_estimate time_of(const work_estimate& part, const described_cluster& on);

/// The parts of a calculation: the field, the transformation, an iteration, triples.
std::vector<work_estimate> work_of(const problem& p, const memory_plan& plan, const sial::correlation_settings& how,
                                   const chemistry::scf_settings& scf);

/// A table of the parts with their operations and, where a machine is described, times.
void tell_work(const std::vector<work_estimate>& parts, const chem_options& o, report& to, const journal& told);

}  // namespace tessera::apps
