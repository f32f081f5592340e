// An example of docs/directives.md.
// clang-format off
#include <cstdio>

int main() {
  const int n = 1'000'000;
  double *x = nullptr, *y = nullptr, total = 0;
#pragma gecko memory allocate(x[0:n], y[0:n]) type(double)
  for (int i = 0; i < n; ++i) x[i] = i;  // the program has its arrays until a region uses them
#pragma gecko region exec_pol("static")
  for (int i = 1; i < n - 1; ++i) y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3;
#pragma gecko region end
#pragma gecko region reduction(+ : total)
  for (int i = 0; i < n; ++i) total += y[i];
#pragma gecko region end
  std::printf("%.0f\n", total);
}
