// loctype, location and hierarchy: the tree in the program itself.
#include <tessera/directives.hpp>
#include "check.hpp"

int main() {
  double* x = nullptr;
  const int cores = 1;
#pragma gecko loctype name("shared") kind("unified") mem("1GiB")
#pragma gecko loctype name("one_core") kind("cpu") num_cores(cores)
#pragma gecko location name("LocA") type("shared")
#pragma gecko location name(LocB, LocC) type(virtual)
#pragma gecko location name(LocH) type("one_core")
#pragma gecko hierarchy children("+", "LocB", LocC) parent("LocA")
#pragma gecko hierarchy children("+", "LocH") parent("LocB")
#pragma gecko memory allocate(x [0:10]) type(double) location(LocB)
#pragma gecko region
  for (int i = 0; i < 10; ++i) x[i] = 1;
#pragma gecko region end
#pragma gecko pause
  check(x[9] == 1, "x");
  const auto rows = tessera::directives::model().regions();
  check(
      rows.size() == 1 && rows[0].location == "LocB" && rows[0].shares.size() == 1 && rows[0].shares[0].leaf == "LocH",
      "where it ran");
}
