// An example of docs/directives.md.
// clang-format off
#include <cstdio>

int main() {
  double* x = nullptr;
#pragma gecko memory allocate(x[0:100]) type(double)
  for (int round = 0; round < 3; ++round) {
#pragma gecko region
    for (int i = 0; i < 100; ++i) x[i] += i;
#pragma gecko region end
#pragma gecko pause
    std::printf("%.0f\n", x[10]);
  }
}
