// Eigenvalues of matrices from practice, and of what makes them hard.
#include <gtest/gtest.h>

#include "libraries/sparse/matrix/generate.hpp"
#include "libraries/sparse/solver/chebyshev.hpp"
#include "libraries/sparse/solver/lanczos.hpp"
#include "libraries/sparse/solver/lobpcg.hpp"
#include "tests/integration/runtime/machines.hpp"
#include "tests/support/slow_down.hpp"
#include "tests/unit/sparse/pairs.hpp"

namespace tessera::sparse {
namespace {

class real_matrices : public ::testing::Test {
 protected:
  csr_matrix read(const std::string& name) { return read_matrix(TESSERA_SOURCE_DIR "/apps/sparse/data/" + name); }
  void expect(const csr_matrix& a, const eigen_options& o, const std::vector<double>& values, double tolerance) {
    expect_pairs(a, o, lobpcg(rt, a, o), values, tolerance);
  }
  runtime rt{testing::host_only()};
};

TEST_F(real_matrices, of_a_power_network) {  // the values span seven orders of magnitude
  if (testing::watches_threads) GTEST_SKIP() << "many iterations of what other tests begin";
  expect(read("1138_bus.mtx"),
         {.pairs = 4,
          .block = 16,
          .tolerance = 1e-4,
          .compare = criterion::absolute,
          .precondition = preconditioning::jacobi},
         {0.00351686000714, 0.0986223473394, 0.124127930671, 0.176814930452}, 1e-6);
}

TEST_F(real_matrices, of_buckling) {  // indefinite
  const csr_matrix a = read("bcsstm34.mtx");
  expect(a, {.pairs = 4}, {-2.6829791291, -2.55211139193, -2.07471421515, -1.78457062384}, 1e-9);
  expect(a, {.pairs = 1, .which = spectrum_end::largest}, {6.83308447747}, 1e-9);
}

TEST_F(real_matrices, of_stiff_structures_by_filters_of_a_degree_that_grows) {
  // The lowest values are 1e-6 and less of the norm: a filter of degree 10 tells nothing apart there.
  const csr_matrix beam = read("bcsstk01.mtx"), wide = read("lund_a.mtx");
  const std::vector<double> low{3417.26756275, 8970.00981837, 10835.6554836}, next{80.0351093149, 1976.50546698};
  const eigenpairs found = chebyshev(rt, beam, {.pairs = 3});
  expect_pairs(beam, {.pairs = 3}, found, low, 1e-4);
  EXPECT_GT(found.degree, 10);
  EXPECT_LT(found.loop.iterations, 100);
  expect_pairs(wide, {.pairs = 2}, chebyshev(rt, wide, {.pairs = 2}), next, 1e-4);
}

TEST_F(real_matrices, by_a_filter_of_a_high_degree_from_the_start) {
  // Where growth was measured at a bound outside of the spectrum, the filter was large nowhere, and other pairs than
  // the lowest were called converged.
  const csr_matrix a = read("bcsstk01.mtx");
  for (const int degree : {100, 400}) {
    const eigen_options o{.pairs = 3, .degree = degree};
    expect_pairs(a, o, chebyshev(rt, a, o), {3417.26756275, 8970.00981837, 10835.6554836}, 1e-4);
  }
}

TEST_F(real_matrices, without_options) {
  for (const auto& [file, lowest, most] : {std::tuple{"bcsstk01.mtx", 3417.26756275, 60},
                                           {"lund_a.mtx", 80.0351093149, 120},
                                           {"bcsstm34.mtx", -2.6829791291, 40}}) {
    const csr_matrix a = read(file);
    const eigenpairs found = lobpcg(rt, a, {.pairs = 4});
    EXPECT_TRUE(found.converged()) << file;
    EXPECT_NEAR(found.values[0].value, lowest, 1e-8 * std::abs(found.norm)) << file;
    EXPECT_LT(found.loop.iterations, most) << file;
  }
}

TEST_F(real_matrices, with_fixed_unknowns) {
  // As in stiffness matrices: rows of a one on the diagonal alone, 74 of them, far below all other eigenvalues.
  const csr_matrix stiff = times_power_of_two(generate("lap2d:20"), 20);
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < stiff.rows; ++i)
    for (auto k = static_cast<std::size_t>(stiff.row_starts[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(stiff.row_starts[static_cast<std::size_t>(i) + 1]); ++k)
      entries.push_back({i, stiff.entry_columns[k], stiff.values[k]});
  const auto free = static_cast<std::int32_t>(stiff.rows);
  for (std::int32_t i = 0; i < 74; ++i) entries.push_back({free + i, free + i, 1});
  const csr_matrix a = matrix_of("fixed", free + 74, free + 74, entries);
  expect(a, {.pairs = 8, .block = 16, .tolerance = 1e-6}, std::vector<double>(8, 1.0), 1e-5);
}

}  // namespace
}  // namespace tessera::sparse
