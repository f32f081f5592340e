#pragma once
// Names of STREAM's loops by the number of elements: a power of two, and beside it.
#include <string>

namespace bench {

/// "triad" at 2^25 elements, "n33000000_triad" and the like at others.
inline std::string loop_of(const char* loop, long n) {
  return n == 1 << 25 ? loop : "n" + std::to_string(n) + "_" + loop;
}

}  // namespace bench
