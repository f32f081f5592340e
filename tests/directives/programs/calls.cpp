// What runs on the host alone: calls of the program's functions, tables, globals; what a region captures is its own.
#include "check.hpp"

static int shift = 10;
static double twice(double v) { return 2 * v; }

int main() {
  const int n = 90;
  const double table[3] = {1, 10, 100};
  double* x = nullptr;
  double factor = 1;
#pragma gecko memory allocate(x [0:n]) type(double)
#pragma gecko region
  for (int i = 0; i < n; ++i) x[i] = twice(table[i % 3]) * factor + shift;
#pragma gecko region end
  factor = 0;  // the region has the value of its submission
  shift = 0;
#pragma gecko pause
  for (int i = 0; i < n; ++i) check(x[i] == 2 * table[i % 3] + 10, "x");
}
