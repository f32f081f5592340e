// memory allocate: zeros, in several element types; in a file, whose contents stay; by distance.
#include <cstdint>
#include <cstdio>
#include <string>
#include <tessera/directives.hpp>
#include "check.hpp"

static void fill(const char* file, int from) {
  std::int64_t* kept = nullptr;
#pragma gecko memory allocate(kept [0:128]) type(std::int64_t) file(file)
#pragma gecko region
  for (int i = 0; i < 128; ++i) kept[i] += from + i;
#pragma gecko region end
#pragma gecko pause
  check(kept[127] == (from == 1 ? 128 : 128 + 127), "the file's elements");
#pragma gecko memory free(kept)
}

int main() {
  float* x = nullptr;
  std::uint8_t* bytes = nullptr;
  double *near_one = nullptr, *far_one = nullptr;
#pragma gecko config file(TREE)
#pragma gecko memory allocate(x [0:10] [0:4]) type(float)
#pragma gecko memory allocate(bytes [0:7]) type(std::uint8_t)
  for (int i = 0; i < 40; ++i) check(x[i] == 0, "zeros");
#pragma gecko region
  for (int i = 0; i < 7; ++i) bytes[i] = 250 + i;
#pragma gecko region end
#pragma gecko pause
  check(bytes[6] == 0, "bytes wrap");
  std::remove("allocate.data");
  fill("allocate.data", 1);
  fill("allocate.data", 0);
  std::remove("allocate.data");
#pragma gecko memory allocate(near_one [0:8]) type(double) distance(near)
#pragma gecko memory allocate(far_one [0:8]) type(double) distance(far : 2)
#pragma gecko region at(LocH)
  for (int i = 0; i < 8; ++i) near_one[i] = far_one[i] = i;
#pragma gecko region end
#pragma gecko pause
  check(far_one[7] == 7, "placed by distance");
  check(tessera::directives::array(near_one).location() == "LocH", "near");
  check(tessera::directives::array(far_one).location() == "LocA", "far");
}
