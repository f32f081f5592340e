// pause: the program has its arrays again, all of them or those of a subtree.
#include "check.hpp"

int main() {
  const int n = 64;
  double *x = nullptr, *y = nullptr;
#pragma gecko config file(TREE)
#pragma gecko memory allocate(x [0:n]) type(double) location(LocA)
#pragma gecko memory allocate(y [0:n]) type(double) location(LocH)
  for (int round = 1; round <= 5; ++round) {
    for (int i = 0; i < n; ++i) x[i] = round;  // the program's, since the last pause
#pragma gecko region
    for (int i = 0; i < n; ++i) y[i] += x[i];
#pragma gecko region end
#pragma gecko pause
  }
  check(y[0] == 15 && y[n - 1] == 15, "rounds");
#pragma gecko region at(LocH)
  for (int i = 0; i < n; ++i) y[i] = 1;
#pragma gecko region end
#pragma gecko region pause at(LocB)
  check(y[n / 2] == 1, "of a subtree");
}
