// An example of docs/directives.md.
// clang-format off
#include <cstdio>

int main() {
  double* x = nullptr;
#pragma gecko memory allocate(x[0:1000]) type(double)
#pragma gecko region exec_pol("percentage:[75,25]")
  for (int i = 0; i < 1000; ++i) x[i] = 2 * i;
#pragma gecko region end
#pragma gecko pause
  std::printf("%.0f\n", x[999]);
}
