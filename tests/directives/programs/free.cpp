// memory free: behind the regions that use the array; the memory can be had again.
#include "check.hpp"

int main() {
  double total = 0;
  for (int round = 0; round < 50; ++round) {
    double *x = nullptr, *y = nullptr;
#pragma gecko memory allocate(x [0:1000], y [0:1000]) type(double)
#pragma gecko region
    for (int i = 0; i < 1000; ++i) x[i] = y[i] + round;
#pragma gecko region end
#pragma gecko region reduction(+ : total)
    for (int i = 0; i < 1000; ++i) total += x[i];
#pragma gecko region end
#pragma gecko memory free(x, y)
  }
  check(total == 1000.0 * 49 * 25, "total");
}
