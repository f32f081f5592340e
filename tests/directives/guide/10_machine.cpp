// An example of docs/directives.md.
// clang-format off
#include <cstdio>

int main() {
  double* x = nullptr;
#pragma gecko loctype name("shared") kind("unified") mem("1GiB")
#pragma gecko loctype name("one_core") kind("cpu") num_cores(1)
#pragma gecko location name(LocA) type("shared")
#pragma gecko location name(LocB) type("one_core")
#pragma gecko hierarchy children("+", LocB) parent(LocA)
#pragma gecko memory allocate(x[0:1000]) type(double) location(LocA)
#pragma gecko region at(LocB)
  for (int i = 0; i < 1000; ++i) x[i] = 2 * i;
#pragma gecko region end
#pragma gecko pause
  std::printf("%.0f\n", x[999]);
}
