#pragma once
// A second process for what one cannot check alone: the suite's own program, called again with an order.
#include "tests/conformance/suite/check.hpp"

namespace tessera::conformance {

/// What the second process is to do with memory that the first has exported.
struct memory_order {
  std::size_t device = 0;  ///< its number
  std::uint8_t key[TSR_IPC_KEY_BYTES] = {};
  std::uint64_t bytes = 0, seed = 0;  ///< the memory holds contents(seed), and is to hold contents(seed + 1)
  bool gone = false;                  ///< the memory was freed: only whether that is an answer
};

std::vector<unsigned char> contents(std::uint64_t seed, std::uint64_t bytes);

/// Carries it out in another process, with the subject's plugin, options and layer. Skips the check where there is no
/// such process; fails it with what went wrong there.
void in_second_process(const subject& what, const memory_order& order);

/// The second process's part: an imported memory is what it should be. Throws check_failed.
void use_imported(const subject& what, const memory_order& order);

}  // namespace tessera::conformance
