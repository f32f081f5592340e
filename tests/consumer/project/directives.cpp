// A program with directives outside the tree: translated by the installed tessera-translate.
#include <cstdio>

int main() {
  const int n = 100;
  double *x = nullptr, total = 0;
#pragma gecko memory allocate(x [0:n]) type(double)
#pragma gecko region reduction(+ : total)
  for (int i = 0; i < n; ++i) {
    x[i] = i;
    total += x[i];
  }
#pragma gecko region end
  std::printf("%.0f\n", total);
  return total == 4950 ? 0 : 1;
}
