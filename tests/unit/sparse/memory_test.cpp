// What solvers say that they need of memory, beside what they have on a device that holds all of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "libraries/sparse/matrix/generate.hpp"
#include "libraries/sparse/solver/copies.hpp"
#include "libraries/sparse/solver/solvers.hpp"
#include "tests/unit/sparse/device_machine.hpp"
#include "tests/unit/sparse/pairs.hpp"

namespace tessera::sparse {
namespace {

struct memory_setting {
  const char* name;
  const char* solver;
  eigen_options options;
  bool deflates = false;
  enum {
    none,
    diagonal,
    coupled
  } mass = none;
};
void PrintTo(const memory_setting& s, std::ostream* out) { *out << s.name; }

std::string name_of_memory(const ::testing::TestParamInfo<memory_setting>& info) { return info.param.name; }

class solver_memory : public ::testing::TestWithParam<memory_setting> {};
INSTANTIATE_TEST_SUITE_P(
    all, solver_memory,
    ::testing::Values(
        memory_setting{"lobpcg", "lobpcg", {.pairs = 4, .block = 8}},
        memory_setting{"lobpcg_deflated", "lobpcg", {.pairs = 4, .block = 8}, true},
        memory_setting{
            "lobpcg_block_jacobi", "lobpcg", {.pairs = 4, .block = 8, .precondition = preconditioning::block_jacobi}},
        memory_setting{
            "lobpcg_chebyshev", "lobpcg", {.pairs = 4, .block = 8, .precondition = preconditioning::chebyshev}},
        memory_setting{"lobpcg_mass", "lobpcg", {.pairs = 4, .block = 8}, true, memory_setting::coupled},
        memory_setting{"lobpcg_diagonal_mass", "lobpcg", {.pairs = 4, .block = 8}, false, memory_setting::diagonal},
        memory_setting{"lanczos", "lanczos", {.pairs = 4, .block = 4}},
        memory_setting{"lanczos_deflated", "lanczos", {.pairs = 4, .block = 4}, true},
        memory_setting{"chebyshev", "chebyshev", {.pairs = 4, .block = 8}},
        memory_setting{"chebyshev_deflated", "chebyshev", {.pairs = 4, .block = 8}, true}),
    name_of_memory);

TEST_P(solver_memory, is_what_blocks_take) {
  const csr_matrix a = generate("lap2d:120");
  const double of_column = 8.0 * static_cast<double>(a.rows);
  runtime rt(device_machine{"sim", "64 MiB"}.make());
  const memory_setting& s = GetParam();
  eigen_options o = s.options;
  o.tolerance = 0, o.max_iterations = 2, o.program = {.panel_rows = 1800, .at = "sim0"};
  if (s.deflates)
    for (std::int64_t k = 0; k < 3 * a.rows; ++k) o.deflate.push_back(static_cast<double>(k % 7 == k % 3));
  csr_matrix mass = a;
  if (s.mass == memory_setting::diagonal) mass = diagonal(14400, [](std::int32_t i) { return 1.0 + i % 3; });
  if (s.mass != memory_setting::none) o.mass = &mass;
  const eigensolver& by = eigensolver_named(s.solver);
  // Pairs go to the caller; copies of matrices are on the host.
  const double said = by.min_memory(a, o) - of_column * static_cast<double>(o.pairs) - memory_of_copies(a, o);
  (void)by.solve(rt, a, o);
  const statistics seen = rt.statistics();
  const auto memory = std::ranges::find(seen.spaces, "sim0:memory", &named_space_statistics::name);
  ASSERT_NE(memory, seen.spaces.end());
  const double matrix = static_cast<double>(12 * a.nonzeros() + 4 * a.rows);
  const double had = static_cast<double>(memory->statistics.peak_bytes) - matrix;
  // Partial sums and what tasks take for a moment come on top.
  EXPECT_GT(had, 0.99 * said);
  EXPECT_LT(had, 1.4 * said) << "in columns: said " << said / of_column << ", had " << had / of_column;
}

TEST(solver_memory_of_copies, is_that_of_matrices_with_other_values) {
  const csr_matrix a = generate("lap2d:30");
  csr_matrix huge = a;
  for (double& v : huge.values) v *= 1e200;
  const csr_matrix mass = diagonal(900, [](std::int32_t i) { return 1.0 + i % 3; });
  const double of_a = static_cast<double>(12 * a.nonzeros() + 8 * a.rows);
  for (const eigensolver& by : eigensolvers()) {
    const double plain = by.min_memory(a, {.pairs = 4});
    EXPECT_NEAR(by.min_memory(a, {.pairs = 4, .mass = &mass}) - plain, of_a, 100) << by.name;
    EXPECT_NEAR(by.min_memory(huge, {.pairs = 4}) - plain, of_a, 100) << by.name;
  }
  EXPECT_EQ(memory_of_copies(a, {}), 0);
  EXPECT_NEAR(memory_of_copies(mass, {.mass = &a}), of_a, 100);
}

}  // namespace
}  // namespace tessera::sparse
