#pragma once
// A system of equations for elimination without pivoting: input, closed form, back substitution.
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <vector>

#include "apps/common/workload.hpp"

namespace tessera::apps::rodinia {

/// A x = b. Plain data.
struct gaussian_input {
  std::int64_t n = 0;
  std::vector<double> a, b;      ///< A row by row
  std::vector<double> solution;  ///< empty: not known
};

/// Reads n, A, b and, where it is there, the solution. Throws tessera::error (input).
gaussian_input read_gaussian_input(const std::filesystem::path& file);

/// A(i, j) = 10 rho^|i - j| of the synthetic system, whose b is 1.
double gaussian_element(std::int64_t i, std::int64_t j);
/// What elimination makes of it, j >= i.
double gaussian_eliminated(std::int64_t i, std::int64_t j);
/// Its solution.
double gaussian_solution(std::int64_t n, std::int64_t i);

/// Eliminates row by row, column by column; multipliers are not kept. @param a, b  A row by row, and the right side
template <class T>
void gaussian_serial(std::span<T> a, std::span<T> b) {
  const std::size_t n = b.size();
  for (std::size_t t = 0; t + 1 < n; ++t)
    for (std::size_t i = t + 1; i < n; ++i) {
      const T m = a[i * n + t] / a[t * n + t];
      a[i * n + t] = 0;
      for (std::size_t j = t + 1; j < n; ++j) a[i * n + j] -= m * a[t * n + j];
      b[i] -= m * b[t];
    }
}

/// The relative error up to which the synthetic system's solution between its ends is right. It is a hundredth of the
/// ends, so that errors of rounding weigh as much more; they grow with the number of rows for as long as the rows that
/// an element depends on do, up to some hundreds. gaussian_serial has at most 1.1e-2 (f32) for up to 129 rows, and
/// 3.6e-2 (f32) and 9.4e-11 (f64) for up to 4096, with and without fused products and sums.
template <class T>
double gaussian_bound(std::int64_t n) {
  if (std::numeric_limits<T>::digits > 24) return 1e-10;
  return n <= 128 ? 2e-2 : 5e-2;
}

/// Solves U x = b, U in the upper triangle of a; sums are of double.
template <class T>
std::vector<T> back_substitute(std::span<const T> a, std::span<const T> b) {
  const std::size_t n = b.size();
  std::vector<T> x(n);
  for (std::size_t i = n; i-- > 0;) {
    auto sum = static_cast<double>(b[i]);
    for (std::size_t j = i + 1; j < n; ++j) sum -= static_cast<double>(a[i * n + j]) * static_cast<double>(x[j]);
    x[i] = static_cast<T>(sum / static_cast<double>(a[i * n + i]));
  }
  return x;
}

/// For the columns t to t + c - 1 of a launch, the rows below read n - t elements, and write those behind the columns
/// and a multiplier for each; the right side is read and written. A row below column s costs a division and 2 (n - s)
/// operations, whatever c is: 2/3 n^3 in all. That pivot rows are found beside that is not counted.
/// @param columns  of a launch  @param element  bytes of a number
workload gaussian_workload(std::int64_t n, std::int64_t columns, std::size_t element);

}  // namespace tessera::apps::rodinia
