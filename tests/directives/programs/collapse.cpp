// collapse(n): nested loops whose iterations are those of the region, in two and three dimensions, with a halo, a
// reduction and `continue`.
#include <tessera/directives.hpp>

#include "check.hpp"

int main() {
  const int rows = 40, columns = 30;
  double *a = nullptr, *b = nullptr, total = 0;
  double(*cube)[6][5] = nullptr;
#pragma gecko memory allocate(a [0:rows] [0:columns], b [0:rows] [0:columns]) type(double)
  for (int k = 0; k < rows * columns; ++k) a[k] = k;
#pragma gecko region collapse(2)
  for (int i = 1; i < rows - 1; ++i) {
    for (int j = 1; j <= columns - 2; ++j) {
      b[i * columns + j] =
          (a[(i - 1) * columns + j] + a[(i + 1) * columns + j] + a[i * columns + j - 1] + a[i * columns + j + 1]) / 4;
    }
  }
#pragma gecko region end
#pragma gecko region collapse(2) exec_pol(flatten) reduction(+ : total)
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      if (i == 0 || j == 0) continue;
      total += b[i * columns + j];
    }
#pragma gecko region end
#pragma gecko pause
  double expected = 0;
  for (int i = 1; i < rows - 1; ++i)
    for (int j = 1; j < columns - 1; ++j) {
      check(b[i * columns + j] == i * columns + j, "the mean of the four around it");
      expected += b[i * columns + j];
    }
  check(near(total, expected), "sum");
  check(b[0] == 0 && b[columns - 1] == 0, "edges");

  double cubes[8][6][5] = {};
  cube = cubes;
#pragma gecko memory register(cubes [0:8] [0:6] [0:5]) type(double)
#pragma gecko region collapse(3)
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 6; ++j)
      for (int k = 0; k < 5; ++k) cubes[i][j][k] += 100 * i + 10 * j + k;
#pragma gecko region end
#pragma gecko memory unregister(&cubes[0][0][0])
  check(cube[7][5][4] == 754 && cube[0][1][2] == 12, "three loops");
  const auto regions = tessera::directives::model().regions();
  check(regions.size() == 3 && regions[0].iterations == rows - 2, "the outermost loop is split");
}
