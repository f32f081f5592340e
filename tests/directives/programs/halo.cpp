// region: neighbours in a row of their own, an array of rows, and one of the language's own.
#include <cmath>
#include "check.hpp"

static double grid[40][30];

int main() {
  const int rows = 40, columns = 30;
  double *from = nullptr, *to = nullptr;
#pragma gecko memory allocate(from [0:rows] [0:columns], to [0:rows] [0:columns]) type(double)
#pragma gecko memory register(grid [0:rows] [0:columns]) type(double)
  for (int k = 0; k < rows * columns; ++k) from[k] = std::sin(k);
#pragma gecko region
  for (int i = 1; i < rows - 1; ++i)
    for (int j = 1; j < columns - 1; ++j) {
      const int at = i * columns + j;
      to[at] = from[at] + 0.25 * (from[at - columns] + from[at + columns] + from[at - 1] + from[(at) + 1]);
    }
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) grid[i][j] = std::sqrt(std::fabs(to[i * columns + j]));
  }
#pragma gecko region end
#pragma gecko pause
  for (int i = 1; i < rows - 1; ++i)
    for (int j = 1; j < columns - 1; ++j) {
      const int at = i * columns + j;
      const double wanted = from[at] + 0.25 * (from[at - columns] + from[at + columns] + from[at - 1] + from[at + 1]);
      check(near(to[at], wanted), "to");
      check(near(grid[i][j], std::sqrt(std::fabs(wanted))), "grid");
    }
#pragma gecko memory unregister(grid)

  // On one side: the array that is read has no rows of the first iterations.
  const int n = 1000;
  double *early = nullptr, *late = nullptr;
#pragma gecko memory allocate(early [0:n], late [0:n + 3]) type(double)
  for (int k = 0; k < n; ++k) early[k] = k;
#pragma gecko region
  for (int i = 3; i < n + 3; ++i) late[i] = 2 * early[i - 3];
#pragma gecko region end
#pragma gecko pause
  for (int i = 0; i < n + 3; ++i) check(late[i] == (i < 3 ? 0 : 2.0 * (i - 3)), "late");
}
