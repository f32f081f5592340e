// An example of docs/directives.md.
// clang-format off
#include <cstdio>

int main() {
  double* sum = nullptr;
#pragma gecko memory allocate(sum[0:100]) type(double)
  for (int i = 0; i < 100; ++i) sum[i] = i;
#pragma gecko region exec_pol(any)
  for (int i = 1; i < 100; ++i) sum[i] += sum[i - 1];
#pragma gecko region end
#pragma gecko pause
  std::printf("%.0f\n", sum[99]);
}
