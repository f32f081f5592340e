// An example of docs/directives.md.
// clang-format off
#include <cstdio>
#include <vector>

int main() {
  std::vector<double> values(1000, 1.0);
  double* x = values.data();
#pragma gecko memory register(x[0:1000]) type(double)
#pragma gecko region
  for (int i = 0; i < 1000; ++i) x[i] += i;
#pragma gecko region end
#pragma gecko memory unregister(x)
  std::printf("%.0f\n", values[999]);
}
