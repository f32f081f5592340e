// An example of docs/directives.md.
// clang-format off
#include <cstdio>

int main() {
  double *x = nullptr, *tail = nullptr;
#pragma gecko memory allocate(x[0:1000], tail[0:10]) type(double)
#pragma gecko region
  for (int i = 0; i < 1000; ++i) x[i] = i;
#pragma gecko region end
#pragma gecko memory copy from(x[990:10]) to(tail[0:10])
#pragma gecko pause
  std::printf("%.0f\n", tail[0]);
}
