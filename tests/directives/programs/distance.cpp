// distance: near, far and far:n, kept between regions (auto, which need not be written) or made again (realloc).
#include <tessera/directives.hpp>

#include <string>
#include <vector>

#include "check.hpp"

int main() {
  const int n = 120, up = 9;
  double *x = nullptr, *above = nullptr, *top = nullptr, *scratch = nullptr;
  std::vector<double> values(n, 1);
  double* mine = values.data();
#pragma gecko loctype name("shared") kind("unified") mem("1GiB")
#pragma gecko loctype name("one_core") kind("cpu") num_cores(1)
#pragma gecko location name(LocA) type("shared")
#pragma gecko location name(LocB) type(virtual)
#pragma gecko location name(LocH) type("one_core")
#pragma gecko hierarchy children("+", LocB) parent("LocA")
#pragma gecko hierarchy children("+", LocH) parent("LocB")
#pragma gecko memory allocate(x [0:n]) type(double) distance(near)
#pragma gecko memory allocate(above [0:n]) type(double) distance(far) auto
#pragma gecko memory allocate(top [0:n]) type(double) distance(far : up)
#pragma gecko memory allocate(scratch [0:n]) type(double) distance(near) realloc
#pragma gecko memory register(mine [0:n]) type(double) distance(near)
  for (int round = 0; round < 3; ++round) {
#pragma gecko region at(LocH)
    for (int i = 0; i < n; ++i) {
      scratch[i] = i;
      x[i] += scratch[i];
      above[i] += 2 * scratch[i];
      top[i] += mine[i];
      mine[i] += 1;
    }
#pragma gecko region end
  }
  const auto place = [](const double* of) { return tessera::directives::array(of).location(); };
  check(place(x) == "LocH" && place(mine) == "LocH", "near is where it executes");
  check(place(above) == "LocB", "far is one above");
  check(place(top) != "LocB" && place(top) != "LocH", "not beyond the root");
#pragma gecko region
  for (int i = 0; i < n; ++i) {
    scratch[i] = i;
    x[i] += scratch[i];
  }
#pragma gecko region end
#pragma gecko pause
  check(x[n - 1] == 4 * (n - 1) && above[n - 1] == 6 * (n - 1), "kept");
  check(top[5] == 1 + 2 + 3 && values[n - 1] == 4, "the program's own");
#pragma gecko memory unregister(mine)
#pragma gecko memory free(x, above, top, scratch)
}
