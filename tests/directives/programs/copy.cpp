// memory copy: between arrays that regions use, which is a region itself; within one, from where a pointer points.
#include "check.hpp"

int main() {
  const int n = 100;
  double *x = nullptr, *y = nullptr;
#pragma gecko memory allocate(x [0:n], y [0:n]) type(double)
#pragma gecko region
  for (int i = 0; i < n; ++i) x[i] = i;
#pragma gecko region end
#pragma gecko memory copy from(x [10:20]) to(y [50:20])
#pragma gecko region
  for (int i = 0; i < n; ++i) y[i] *= 2;
#pragma gecko region end
#pragma gecko pause
  check(y[49] == 0 && y[50] == 20 && y[69] == 58 && y[70] == 0, "a range");
#pragma gecko memory copy from(x [0:n - 1]) to(x [1:n - 1])
  check(x[0] == 0 && x[1] == 0 && x[99] == 98, "overlapping");
  double* const middle = y + 50;
#pragma gecko memory copy from(middle [0:2]) to(x [0:2])
  check(x[0] == 20 && x[1] == 22, "a pointer into an array");
}
