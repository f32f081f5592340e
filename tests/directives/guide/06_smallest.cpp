// An example of docs/directives.md.
// clang-format off
#include <cstdio>

int main() {
  double *x = nullptr, least = 1e9, most = -1e9;
#pragma gecko memory allocate(x[0:1000]) type(double)
  for (int i = 0; i < 1000; ++i) x[i] = (i * 7) % 1000 - 500;
#pragma gecko region reduction(min : least) reduction(max : most)
  for (int i = 0; i < 1000; ++i) {
    if (x[i] < least) least = x[i];
    if (x[i] > most) most = x[i];
  }
#pragma gecko region end
  std::printf("%.0f %.0f\n", least, most);
}
