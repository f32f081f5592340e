#pragma once
// One case of the stress program: a machine and the programs of several threads, all of it from one number.
#include <cstdint>
#include <string>

namespace tessera::stress {

struct limits {
  std::uint64_t operations = 400;  ///< of each thread; the first so many of its program
  bool two_memories = false;       ///< each case has two memory nodes, if the system lists two (two_memories.sh)
};

/// What the case is: the machine's keys, the threads.
std::string description_of(std::uint64_t seed, const limits& most);

/// Runs it. Returns what is wrong, a line each; empty: everything agrees with the sequential oracle. May also throw,
/// crash or hang, which is as wrong.
std::string run_case(std::uint64_t seed, const limits& most);

}  // namespace tessera::stress
