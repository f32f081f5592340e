#pragma once
// What eigenpairs must be.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "libraries/sparse/solver/eigenpairs.hpp"
#include "tests/integration/runtime/machines.hpp"

namespace tessera::sparse {

/// The residuals that are told are those of the vectors that are given.
inline void expect_residuals(const csr_matrix& a, const eigenpairs& found, const csr_matrix* mass = nullptr) {
  const std::size_t pairs = found.values.size();
  for (std::size_t p = 0; p < pairs; ++p) {
    double square = 0;
    for (std::size_t i = 0; i < static_cast<std::size_t>(a.rows); ++i) {
      const auto product = [&](const csr_matrix& m) {
        double sum = 0;
        for (auto k = static_cast<std::size_t>(m.row_starts[i]); k < static_cast<std::size_t>(m.row_starts[i + 1]); ++k)
          sum += m.values[k] * found.vectors[static_cast<std::size_t>(m.entry_columns[k]) * pairs + p];
        return sum;
      };
      const double bx = mass != nullptr ? product(*mass) : found.vectors[i * pairs + p];
      const double r = product(a) - found.values[p].value * bx;
      square += r * r;
    }
    EXPECT_NEAR(std::sqrt(square), found.values[p].residual, 1e-13 * found.norm) << a.name << ", pair " << p;
  }
}

/// All converged, to these values, with vectors that solve the problem.
inline void expect_pairs(const csr_matrix& a, const eigen_options& o, const eigenpairs& found,
                         const std::vector<double>& values, double tolerance) {
  EXPECT_TRUE(found.converged()) << a.name;
  EXPECT_EQ(std::ssize(found.values), o.pairs);
  for (std::size_t k = 0; k < std::min(found.values.size(), values.size()); ++k)
    EXPECT_NEAR(found.values[k].value, values[k], tolerance) << a.name << ", pair " << k;
  EXPECT_LT(found.orthogonality, 1e-10) << a.name;
  expect_residuals(a, found, o.mass);
}

/// Tests of one eigensolver on a host.
template <eigenpairs (*Solve)(runtime&, const csr_matrix&, const eigen_options&)>
class solver_test : public ::testing::Test {
 protected:
  eigenpairs solve(const csr_matrix& a, const eigen_options& o) { return Solve(rt, a, o); }
  /// The pairs, with these values.
  eigenpairs expect(const csr_matrix& a, const eigen_options& o, const std::vector<double>& values, double tolerance) {
    eigenpairs found = solve(a, o);
    expect_pairs(a, o, found, values, tolerance);
    return found;
  }
  runtime rt{testing::host_only()};
};

/// A diagonal matrix.
inline csr_matrix diagonal(std::int32_t n, double (*element)(std::int32_t)) {
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < n; ++i) entries.push_back({i, i, element(i)});
  return matrix_of("diagonal", n, n, entries);
}

}  // namespace tessera::sparse
