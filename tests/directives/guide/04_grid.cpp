// An example of docs/directives.md.
// clang-format off
#include <cstdio>

int main() {
  const int rows = 100, columns = 50;
  double *a = nullptr, *b = nullptr;
#pragma gecko memory allocate(a[0:rows][0:columns], b[0:rows][0:columns]) type(double)
#pragma gecko region collapse(2)
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) a[i * columns + j] = i * j;
#pragma gecko region end
#pragma gecko region collapse(2)
  for (int i = 1; i < rows - 1; ++i)
    for (int j = 0; j < columns; ++j)
      b[i * columns + j] = (a[(i - 1) * columns + j] + a[(i + 1) * columns + j]) / 2;
#pragma gecko region end
#pragma gecko pause
  std::printf("%.0f\n", b[10 * columns + 20]);
}
