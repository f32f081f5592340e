#pragma once
// AMD's numbers of choices (rocblas-types.h).
#include "tests/vendor/dense.hpp"

using namespace tessera;  // the sources that include it are made by CMake
using namespace tessera::test::vendor;

namespace {
[[maybe_unused]] tsr_transpose transpose_of(int number) {
  return number == 111 ? TSR_NO_TRANSPOSE : number == 112 ? TSR_TRANSPOSE : TSR_CONJUGATE_TRANSPOSE;
}
[[maybe_unused]] tsr_triangle triangle_of(int number) { return number == 122 ? TSR_LOWER : TSR_UPPER; }
[[maybe_unused]] tsr_side side_of(int number) { return number == 141 ? TSR_LEFT : TSR_RIGHT; }
[[maybe_unused]] bool unit_of(int number) { return number == 132; }
}  // namespace
