#pragma once
// How fast regions with the policy auto were on a machine: kept in a file from run to run, and shown to people.
#include <string>
#include <vector>

#include "core/runtime/machine.hpp"

namespace tessera {

/// Of a region at one of its leaves.
struct learnt_rate {
  std::string program;               ///< whose region it is: the name of its file
  std::string region;                ///< its name
  std::string location;              ///< the leaf's name
  double iterations_per_second = 0;  ///< of one task, beside its fixed cost
  double fixed_seconds = 0;          ///< of one task, however short
};

/// What the file of a machine holds: program by program, the one that learnt last first, and of each what it learnt
/// last first; none where the file cannot be used. Throws nothing for what the file contains.
std::vector<learnt_rate> read_learnt_rates(const machine& m);

}  // namespace tessera
