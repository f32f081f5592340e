// distance(near) realloc: memory for one region alone, and an array of an iteration's own, also where devices run it.
#include "check.hpp"

int main() {
  const int n = 1000;
  double *x = nullptr, *scratch = nullptr;
#pragma gecko memory allocate(x [0:n]) type(double)
#pragma gecko memory allocate(scratch [0:n]) type(double) distance(near) realloc
  for (int round = 1; round <= 3; ++round) {
#pragma gecko region exec_pol(flatten)
    for (int i = 0; i < n; ++i) {
      const double factors[3] = {1, 2, 3};
      scratch[i] = factors[round - 1] * i;
      x[i] += scratch[i] * scratch[i];
    }
#pragma gecko region end
  }
#pragma gecko pause
  for (int i = 0; i < n; ++i) check(x[i] == 14.0 * i * i, "x");
#pragma gecko memory free(scratch)
}
