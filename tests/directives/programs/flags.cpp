// A source that is right with its target's standard, options and features of compilers alone: the translator has them
// too.
#include <numeric>
#include "check.hpp"

#if __cplusplus < 202100L
#error "the standard of the target is missing"
#endif
#if !defined FROM_OPTIONS || !defined FOR_CXX_ALONE || FROM_DEFINITIONS != 3
#error "an option of the target is missing"
#endif
#ifndef INT_MAX
#error "an included file of the options is missing"
#endif

int main() {
  double* x = nullptr;
  constexpr auto n = 10uz;  // C++23
#pragma gecko memory allocate(x [0:n]) type(double)
#pragma gecko region
  for (auto i = 0uz; i < n; ++i) x[i] = FROM_DEFINITIONS;
#pragma gecko region end
#pragma gecko pause
  check(std::accumulate(x, x + n, 0.0) == 30, "x");
}
