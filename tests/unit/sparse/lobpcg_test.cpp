// LOBPCG on matrices with known spectra, and its Rayleigh-Ritz step in bases that are as good as dependent.
#include "libraries/sparse/solver/lobpcg.hpp"
#include "libraries/sparse/solver/mass.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>

#include "libraries/sparse/matrix/generate.hpp"
#include "libraries/sparse/solver/envelope.hpp"
#include "tests/support/error_of.hpp"
#include "tests/unit/sparse/pairs.hpp"

namespace tessera::sparse {
namespace {

using test_support::message_of;

const std::string data = TESSERA_SOURCE_DIR "/apps/sparse/data/";

using sparse_lobpcg = solver_test<lobpcg>;

TEST_F(sparse_lobpcg, finds_multiple_eigenvalues_of_laplacians) {
  const eigen_options o{.pairs = 7, .tolerance = 1e-9};
  expect(generate("lap3d:9"), o, known_lowest("lap3d:9", 7), 1e-9);
  expect(generate("lap2d:30"), o, known_lowest("lap2d:30", 7), 1e-9);
}

TEST_F(sparse_lobpcg, finds_the_other_end) {
  // The spectrum of a Laplacian is symmetric around the diagonal.
  std::vector<double> known = known_lowest("lap2d:30", 5);
  for (double& v : known) v = 8 - v;
  expect(generate("lap2d:30"), {.pairs = 5, .which = spectrum_end::largest, .tolerance = 1e-9}, known, 1e-8);
}

TEST_F(sparse_lobpcg, finds_the_levels_of_spin_chains) {
  expect(generate("xxz:12"), {.pairs = 1}, known_lowest("xxz:12", 1), 1e-10);
  for (const char* name : {"hs:12", "xx:10"}) expect(generate(name), {.pairs = 10}, known_lowest(name, 10), 1e-10);
}

TEST_F(sparse_lobpcg, stays_stable_where_a_level_is_cut_by_the_block) {
  // Textbook versions, which assume X'X = I, diverge here.
  expect(generate("xx:12"), {.pairs = 12, .block = 16, .tolerance = 1e-8}, known_lowest("xx:12", 12), 1e-10);
}

TEST_F(sparse_lobpcg, finds_the_same_at_any_scale) {
  const csr_matrix a = generate("lap2d:12");
  for (const std::int64_t pairs : {4, 60})  // iterated, dense
    for (const criterion compare : {criterion::relative, criterion::norm}) {
      const eigen_options o{.pairs = pairs, .compare = compare};
      const eigenpairs ordinary = lobpcg(rt, a, o);
      for (const int exponent : {-1000, -700, -520, 510, 700, 1019}) {
        const eigenpairs found = lobpcg(rt, times_power_of_two(a, exponent), o);
        EXPECT_TRUE(found.converged()) << exponent;
        EXPECT_EQ(found.loop.iterations, ordinary.loop.iterations) << exponent;
        EXPECT_NEAR(std::ldexp(found.norm, -exponent), 8, 1e-14) << exponent;
        for (std::size_t k = 0; k < found.values.size(); ++k) {
          EXPECT_NEAR(std::ldexp(found.values[k].value, -exponent), ordinary.values[k].value, 1e-12) << exponent;
          EXPECT_GT(found.values[k].error_bound, std::ldexp(1e-16, exponent)) << exponent;
          EXPECT_LT(found.values[k].error_bound, std::ldexp(1e-6, exponent)) << exponent;
        }
      }
    }
}

TEST_F(sparse_lobpcg, compares_with_an_absolute_tolerance_at_any_scale) {
  const csr_matrix tiny = times_power_of_two(generate("lap2d:20"), -700);
  const eigenpairs loose = lobpcg(rt, tiny, {.pairs = 2, .tolerance = 1e-8, .compare = criterion::absolute});
  EXPECT_TRUE(loose.converged());
  EXPECT_EQ(loose.loop.iterations, 0);
  double told = 1;
  eigen_options o{.pairs = 2, .tolerance = std::ldexp(1e-8, -700), .compare = criterion::absolute};
  o.report = [&](const eigen_progress& now) { told = now.largest_residual; };
  const eigenpairs sharp = lobpcg(rt, tiny, o);
  EXPECT_TRUE(sharp.converged());
  EXPECT_NEAR(std::ldexp(sharp.values[0].value, 700), known_lowest("lap2d:20", 1)[0], 1e-8);
  EXPECT_LE(told, std::ldexp(1e-8, -700));
}

TEST_F(sparse_lobpcg, works_where_the_diagonal_has_numbers_that_have_no_reciprocal) {
  csr_matrix a = generate("lap2d:20");
  a.values[static_cast<std::size_t>(std::ranges::find(a.entry_columns, 0) - a.entry_columns.begin())] = 1e-320;
  EXPECT_TRUE(lobpcg(rt, a, {.pairs = 2, .precondition = preconditioning::jacobi}).converged());
}

TEST_F(sparse_lobpcg, gives_values_with_bounds_where_rounding_has_spoiled_the_products) {
  // Ten chains of ten points: ten times the same ten values, more than a block has. This was an error of the small
  // problem, whose numbers had become infinite.
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < 100; ++i) {
    entries.push_back({i, i, 2});
    if (i % 10 != 9) entries.push_back({i, i + 1, -1}), entries.push_back({i + 1, i, -1});
  }
  const csr_matrix chains = matrix_of("chains", 100, 100, entries);
  const eigenpairs found =
      lobpcg(rt, chains, {.pairs = 7, .block = 9, .tolerance = 1e-10, .compare = criterion::absolute});
  EXPECT_TRUE(found.converged());  // not without products that are multiplied again from time to time
  ASSERT_EQ(found.values.size(), 7u);
  for (const eigenvalue& e : found.values) {
    double nearest = 1;
    for (int k = 1; k <= 10; ++k)
      nearest = std::min(nearest, std::abs(e.value - 4 * std::pow(std::sin(k * std::acos(-1.0) / 22), 2)));
    EXPECT_LE(nearest, e.error_bound);
  }
}

TEST_F(sparse_lobpcg, refuses_what_is_no_number) {
  csr_matrix a = generate("lap2d:20");
  EXPECT_NE(message_of([&] { (void)lobpcg(rt, a, {.tolerance = std::nan("")}); }, error_kind::usage).find("nan"),
            std::string::npos);
  EXPECT_NE(message_of([&] { (void)lobpcg(rt, a, {.tolerance = -1}); }, error_kind::usage).find("-1"),
            std::string::npos);
  EXPECT_NE(message_of([&] { (void)lobpcg(rt, times_power_of_two(a, 1021), {}); }, error_kind::input).find("norm"),
            std::string::npos);
}

TEST_F(sparse_lobpcg, finds_the_eigenvalues_of_real_matrices) {
  expect(read_matrix(data + "gr_30_30.mtx"), {.pairs = 4},
         {0.0614628239274, 0.153184311127, 0.153184311127, 0.24396461175}, 1e-11);
  expect(read_matrix(data + "lund_a.mtx"),
         {.pairs = 4, .tolerance = 1e-14, .compare = criterion::norm, .precondition = preconditioning::jacobi},
         {80.0351093149, 1976.50546698, 1996.76478001, 6354.11120405}, 1e-4);
}

TEST_F(sparse_lobpcg, solves_matrices_below_three_blocks_as_dense_ones) {
  const eigenpairs found = expect(read_matrix(data + "bcsstk01.mtx"), {.pairs = 4, .block = 17},
                                  {3417.26756275, 8970.00981837, 10835.6554836, 22326.9914149}, 5e-5);
  EXPECT_TRUE(found.dense);
  const csr_matrix two = matrix_of("two", 2, 2, {{0, 0, 2}, {0, 1, 1}, {1, 0, 1}, {1, 1, 2}});
  expect(two, {.pairs = 2}, {1, 3}, 1e-14);
  expect(two, {.pairs = 1, .which = spectrum_end::largest}, {3}, 1e-14);
}

TEST_F(sparse_lobpcg, is_right_where_there_is_nothing_to_do) {
  expect(matrix_of("zero", 100, 100, {}), {.pairs = 3}, {0, 0, 0}, 0);
  expect(diagonal(100, [](std::int32_t) { return 1.0; }), {.pairs = 5}, {1, 1, 1, 1, 1}, 1e-14);
  expect(diagonal(200, [](std::int32_t i) { return static_cast<double>(i / 5); }), {.pairs = 6, .tolerance = 1e-9},
         {0, 0, 0, 0, 0, 1}, 1e-9);
}

TEST_F(sparse_lobpcg, gives_the_same_bits_for_any_workers) {
  const csr_matrix a = generate("lap3d:12");
  const eigen_options o{.pairs = 4, .max_iterations = 12, .program = {.panel_rows = 100}};
  const eigenpairs two = lobpcg(rt, a, o);
  runtime single(testing::host_only(1));
  const eigenpairs one = lobpcg(single, a, o);
  EXPECT_EQ(one.vectors, two.vectors);
  EXPECT_GT(two.panels, 10);
}

TEST_F(sparse_lobpcg, makes_two_passes) {
  const eigenpairs found = lobpcg(rt, generate("lap3d:9"), {.pairs = 2, .max_iterations = 3});
  EXPECT_EQ(found.loop.passes, 2);
  EXPECT_FALSE(found.converged());
  EXPECT_EQ(found.loop.iterations, 3);
}

TEST_F(sparse_lobpcg, needs_fewer_iterations_with_a_preconditioner) {
  // A Laplacian whose rows and columns are scaled by up to a thousand.
  csr_matrix a = generate("lap2d:20");
  const auto scale = [](std::int64_t i) { return 1 + 30.0 * static_cast<double>(i % 7); };
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (auto k = static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(i) + 1]); ++k)
      a.values[k] *= scale(i) * scale(a.entry_columns[k]);
  eigen_options o{.pairs = 3, .tolerance = 1e-7, .max_iterations = 600, .precondition = preconditioning::none};
  const eigenpairs plain = lobpcg(rt, a, o);
  o.precondition = preconditioning::jacobi;
  const eigenpairs conditioned = lobpcg(rt, a, o);
  ASSERT_TRUE(conditioned.converged());
  EXPECT_LT(conditioned.loop.iterations * 2, plain.loop.iterations);
}

TEST_F(sparse_lobpcg, starts_with_a_guess) {
  const csr_matrix a = generate("lap2d:20");
  eigen_options o{.pairs = 4, .tolerance = 1e-7};
  const eigenpairs cold = lobpcg(rt, a, o);
  o.guess = cold.vectors;
  const eigenpairs exact = expect(a, o, known_lowest("lap2d:20", 4), 1e-7);
  EXPECT_LE(exact.loop.iterations, 1);
  csr_matrix changed = a;
  for (double& v : changed.values) v *= v > 0 ? 1.0001 : 1;
  o.guess = {};
  const int from_nothing = lobpcg(rt, changed, o).loop.iterations;
  o.guess = cold.vectors;
  EXPECT_LT(lobpcg(rt, changed, o).loop.iterations, from_nothing);
  o.guess.pop_back();
  EXPECT_NE(message_of([&] { lobpcg(rt, a, o); }, error_kind::usage).find("1599 numbers are no vectors of 400 rows"),
            std::string::npos);
}

TEST_F(sparse_lobpcg, solves_generalized_problems) {
  const csr_matrix lund = read_matrix(data + "lund_a.mtx"), mass = read_matrix(data + "lund_b.mtx");
  const std::vector<double> known{208.236649516, 574.256137708, 1399.12792194, 1790.6882009};
  eigen_options o{.pairs = 4, .tolerance = 1e-8, .precondition = preconditioning::jacobi, .mass = &mass};
  for (o.seed = 1; o.seed < 4; ++o.seed) EXPECT_FALSE(expect(lund, o, known, 1e-3).dense);
  o.block = 50;
  EXPECT_TRUE(expect(lund, o, known, 1e-3).dense);
  // B = 4 I: eigenvalues are a quarter.
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < 400; ++i) entries.push_back({i, i, 4});
  const csr_matrix four = matrix_of("4 I", 400, 400, entries);
  std::vector<double> quarter = known_lowest("lap2d:20", 3);
  for (double& v : quarter) v /= 4;
  for (const criterion compare : {criterion::relative, criterion::norm, criterion::absolute})
    expect(generate("lap2d:20"), {.pairs = 3, .tolerance = 1e-9, .compare = compare, .mass = &four}, quarter, 1e-8);
}

TEST_F(sparse_lobpcg, refuses_mass_matrices_that_are_not_positive_definite) {
  const csr_matrix a = generate("lap2d:20");
  const auto refused = [&](const csr_matrix& mass, const char* text) {
    const std::string said = message_of([&] { lobpcg(rt, a, {.pairs = 2, .mass = &mass}); }, error_kind::input);
    EXPECT_NE(said.find(text), std::string::npos) << said;
  };
  refused(generate("lap2d:10"), "the mass matrix is 100 x 100, and the matrix 400 x 400");
  csr_matrix indefinite = a;
  for (double& v : indefinite.values) v *= v > 0 ? 0.9 : 1;
  refused(indefinite, "singular or indefinite");
  // A ring's Laplacian: its rows add up to 0.
  std::vector<triplet> ring;
  for (std::int32_t i = 0; i < 400; ++i) {
    ring.push_back({i, i, 2});
    ring.push_back({i, (i + 1) % 400, -1}), ring.push_back({(i + 1) % 400, i, -1});
  }
  refused(matrix_of("ring", 400, 400, ring), "singular or indefinite");
  refused(matrix_of("no entries", 400, 400, {}), "element (1, 1) is 0");
}

/// A chain of points and, behind it, points that nothing is connected to, with this on the diagonal.
csr_matrix chain_and_points(std::int32_t chain, std::int32_t points, double on_diagonal) {
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < chain; ++i) {
    entries.push_back({i, i, i == 0 || i + 1 == chain ? 1.0 : 2.0});
    if (i > 0) entries.push_back({i, i - 1, -1}), entries.push_back({i - 1, i, -1});
  }
  for (std::int32_t i = chain; i < chain + points; ++i) entries.push_back({i, i, on_diagonal});
  return matrix_of("chain and points", chain + points, chain + points, entries);
}

TEST_F(sparse_lobpcg, converges_on_laplacians_of_graphs_that_are_not_connected) {
  // Ritz values of -1e-18 had made a shift of the preconditioner, and this an inverse of 1e17 where the diagonal is 0.
  expect(generate("nrmat:8"), {.pairs = 8, .max_iterations = 200}, std::vector<double>(8, 0.0), 1e-12);
  for (const double on_diagonal : {0.0, 1e-18})
    expect(chain_and_points(90, 6, on_diagonal), {.pairs = 7, .block = 9, .max_iterations = 1000},
           std::vector<double>(7, 0.0), 1e-13);
  // Blocks that have a good part of all directions stayed at residuals of 1e-9.
  for (const std::int64_t block : {7, 10, 13, 16})
    expect(chain_and_points(60, 5, 0), {.pairs = 4, .block = block}, {0, 0, 0, 0}, 1e-13);
}

TEST_F(sparse_lobpcg, stays_exact_on_a_graph_of_cliques) {
  // Four different eigenvalues: after a few iterations all residuals are rounding. Their directions were made of what
  // rounding left, and Ritz values went to -37,000.
  std::vector<triplet> entries;
  std::int32_t first = 0;
  for (const std::int32_t vertices : {60, 70, 80}) {
    for (std::int32_t i = 0; i < vertices; ++i)
      for (std::int32_t j = 0; j < vertices; ++j)
        entries.push_back({first + i, first + j, i == j ? vertices - 1.0 : -1.0});
    first += vertices;
  }
  const csr_matrix cliques = matrix_of("cliques", first, first, entries);
  eigen_options o{.pairs = 3};
  double least = 0;
  o.report = [&](const eigen_progress& now) {
    for (const pair_progress& p : now.of_pairs) least = std::min(least, p.value);
  };
  for (o.seed = 1; o.seed <= 8; ++o.seed) EXPECT_LE(expect(cliques, o, {0, 0, 0}, 1e-11).loop.iterations, 25) << o.seed;
  EXPECT_GT(least, -1e-10);
}

TEST_F(sparse_lobpcg, refuses_eigenvalues_that_no_double_holds) {
  const csr_matrix a = diagonal(300, [](std::int32_t i) { return (1.0 + i) * 1e300; });
  std::vector<triplet> entries{{0, 1, 1e-301}, {1, 0, 1e-301}};
  for (std::int32_t i = 0; i < 300; ++i) entries.push_back({i, i, (1.0 + i) * 1e-300});
  const csr_matrix coupled = matrix_of("coupled", 300, 300, entries);
  const csr_matrix mass = diagonal(300, [](std::int32_t i) { return (1.0 + i) * 1e-300; });
  for (const csr_matrix* b : {&coupled, &mass})
    EXPECT_NE(message_of([&] { lobpcg(rt, a, {.pairs = 2, .mass = b}); }, error_kind::input).find("too large"),
              std::string::npos);
}

TEST_F(sparse_lobpcg, takes_a_diagonal_mass_matrix_of_any_condition) {
  // From 1e-8 to 1e8: a smallest eigenvalue that is looked for is as good as zero.
  const csr_matrix mass = diagonal(200, [](std::int32_t i) { return std::pow(10.0, (i * 37 % 200) / 12.5 - 8); });
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < 200; ++i) entries.push_back({i, i, mass.values[static_cast<std::size_t>(i)] * (1 + i)});
  expect(matrix_of("a", 200, 200, entries), {.pairs = 3, .mass = &mass}, {1, 2, 3}, 1e-6);
}

TEST_F(sparse_lobpcg, shifts_an_indefinite_matrix_by_the_mass_matrix_in_its_preconditioner) {
  // By absolute values of the diagonal it needs more than ten times as many iterations.
  std::vector<triplet> entries, of_mass;
  for (std::int32_t i = 0; i < 300; ++i) {
    const std::int32_t j = (i + 7) % 300;
    entries.push_back({i, i, (i - 149.5) / 30}), entries.push_back({i, j, 0.1}), entries.push_back({j, i, 0.1});
    of_mass.push_back({i, i, 1.2}), of_mass.push_back({i, j, 0.1}), of_mass.push_back({j, i, 0.1});
  }
  const csr_matrix a = matrix_of("indefinite", 300, 300, entries), mass = matrix_of("mass", 300, 300, of_mass);
  for (const spectrum_end end : {spectrum_end::smallest, spectrum_end::largest})
    for (const preconditioning how : {preconditioning::automatic, preconditioning::block_jacobi}) {
      const eigenpairs found =
          lobpcg(rt, a, {.pairs = 4, .which = end, .max_iterations = 100, .precondition = how, .mass = &mass});
      EXPECT_TRUE(found.converged());
      expect_residuals(a, found, &mass);
    }
}

/// The identity, but for two rows that are coupled: random vectors are nearly eigenvectors of it.
csr_matrix nearly_the_identity(std::int32_t n, double coupling) {
  std::vector<triplet> entries{{7, n / 2, coupling}, {n / 2, 7, coupling}};
  for (std::int32_t i = 0; i < n; ++i) entries.push_back({i, i, 1});
  return matrix_of("nearly the identity", n, n, entries);
}

TEST_F(sparse_lobpcg, finds_the_smallest_eigenvalue_of_a_mass_matrix_that_few_vectors_show) {
  const double least = scaled(rt, nearly_the_identity(4000, 0.999), 4000).least;
  EXPECT_LE(least, 1e-3);
  EXPECT_GT(least, 0.8e-3);
  EXPECT_NE(message_of([&] { (void)scaled(rt, nearly_the_identity(4000, 2), 4000); }, error_kind::input)
                .find("singular or indefinite"),
            std::string::npos);
}

/// Eigenvalues from 1e-5 to 1 in a basis that is mixed by reflections: no preconditioner helps, and an iteration for
/// the smallest one has no end.
csr_matrix badly_conditioned(std::int32_t n) {
  const auto rows = static_cast<std::size_t>(n);
  std::vector<double> b(rows * rows);
  for (std::size_t i = 0; i < rows; ++i)
    b[i * rows + i] = std::pow(10.0, -5.0 * static_cast<double>(i) / static_cast<double>(rows - 1));
  for (const std::uint64_t seed : {3, 4}) {
    const std::vector<double> u = random_start(n, seed);
    const double twice = 2 / std::inner_product(u.begin(), u.end(), u.begin(), 0.0);
    std::vector<double> w(rows);
    for (std::size_t i = 0; i < rows; ++i)
      w[i] = twice * std::inner_product(u.begin(), u.end(), b.begin() + static_cast<std::ptrdiff_t>(i * rows), 0.0);
    const double inside = 0.5 * twice * std::inner_product(u.begin(), u.end(), w.begin(), 0.0);
    for (std::size_t i = 0; i < rows; ++i) w[i] -= inside * u[i];
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < rows; ++j) b[i * rows + j] -= u[i] * w[j] + w[i] * u[j];
  }
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int32_t j = 0; j < n; ++j)
      entries.push_back({i, j, b[static_cast<std::size_t>(std::min(i, j) * n + std::max(i, j))]});
  return matrix_of("badly conditioned", n, n, entries);
}

TEST_F(sparse_lobpcg, finds_the_smallest_eigenvalue_of_a_mass_matrix_that_is_badly_conditioned) {
  for (const std::int32_t n : {90, 320})
    EXPECT_NEAR(scaled(rt, badly_conditioned(n), n).least, 0.9e-5, 0.1e-5 * 1e-3) << n;
  const csr_matrix a = diagonal(90, [](std::int32_t i) { return 1.0 + i; }), b = badly_conditioned(90);
  EXPECT_TRUE(lobpcg(rt, a, {.pairs = 2, .mass = &b}).converged());
}

/// The square of the second difference: eigenvalues from 5e-11 to 16.
TEST_F(sparse_lobpcg, finds_the_smallest_eigenvalue_of_a_mass_matrix_with_many_rows_by_its_factor) {
  constexpr std::int32_t n = 1200;
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < n; ++i) {
    entries.push_back({i, i, i == 0 || i == n - 1 ? 5.0 : 6.0});
    if (i > 0) entries.insert(entries.end(), {{i, i - 1, -4}, {i - 1, i, -4}});
    if (i > 1) entries.insert(entries.end(), {{i, i - 2, 1}, {i - 2, i, 1}});
  }
  csr_matrix b = matrix_of("square", n, n, entries);
  const double least = std::pow(4 * std::pow(std::sin(std::acos(-1.0) / (2 * (n + 1))), 2), 2);
  for (const double factor : {1.0, 0x1p-600}) {
    for (double& v : b.values) v *= factor;
    const double found = scaled(rt, b, n).least / factor;
    EXPECT_LE(found, least * (1 + 1e-4));
    EXPECT_GT(found, 0.89 * least);
  }
}

TEST(envelope_factor, solves_and_tells_what_is_not_positive_definite) {
  const csr_matrix a = generate("lap2d:15");
  const double least = known_lowest("lap2d:15", 1)[0];
  envelope_factor factor(a);
  EXPECT_LT(factor.elements(), 225 * 17);
  EXPECT_GT(factor.operations(), factor.elements());
  EXPECT_FALSE(factor.factorize(1.01 * least));
  EXPECT_TRUE(factor.factorize(0.5 * least));
  const std::vector<double> x = random_start(225, 3);
  std::vector<double> y = plain_product(factor.matrix(), x);
  for (std::size_t i = 0; i < 225; ++i) y[i] -= 0.5 * least * x[i];
  factor.solve(y);
  for (std::size_t i = 0; i < 225; ++i) EXPECT_NEAR(y[i], x[i], 1e-11);
  envelope_factor empty(matrix_of("zero", 3, 3, {}));
  EXPECT_FALSE(empty.factorize(0));
  EXPECT_TRUE(empty.factorize(-4));
  std::vector<double> ones(3, 1.0);
  empty.solve(ones);
  EXPECT_EQ(ones, std::vector<double>(3, 0.25));
}

TEST_F(sparse_lobpcg, says_what_it_cannot_do) {
  const csr_matrix a = generate("lap2d:5");
  EXPECT_NE(message_of([&] { lobpcg(rt, a, {.pairs = 26}); }, error_kind::usage).find("26 pairs of a matrix of 25"),
            std::string::npos);
  EXPECT_NE(message_of([&] { lobpcg(rt, a, {.pairs = 8, .block = 4}); }, error_kind::usage)
                .find("a block of 4 cannot hold 8 pairs"),
            std::string::npos);
  EXPECT_NE(message_of(
                [&] {
                  lobpcg(rt, matrix_of("m", 2, 2, {{0, 1, 1}}), {.pairs = 1});
                },
                error_kind::input)
                .find("not symmetric"),
            std::string::npos);
}

TEST(rayleigh_ritz, drops_directions_that_depend_on_others) {
  // S = [e1 e2 e1 0 e3], A = diag(3, 2, 1): the third column says nothing new, the fourth nothing at all.
  const std::array<std::array<double, 3>, 5> s{{{1, 0, 0}, {0, 1, 0}, {1, 0, 0}, {0, 0, 0}, {0, 0, 1e-9}}};
  pencil p{5, std::vector<double>(25), std::vector<double>(25)};
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 5; ++j)
      for (std::size_t k = 0; k < 3; ++k) {
        p.products[i * 5 + j] += s[i][k] * s[j][k];
        p.products_a[i * 5 + j] += s[i][k] * s[j][k] * static_cast<double>(3 - k);
      }
  const ritz_step step = rayleigh_ritz(p, 2, spectrum_end::smallest, std::vector<bool>(5, true));
  EXPECT_EQ(step.dropped, 2);
  EXPECT_NEAR(step.values[0], 1, 1e-14);
  EXPECT_NEAR(step.values[1], 2, 1e-14);
  EXPECT_NEAR(std::abs(step.vectors[8]), 1e9, 1);  // e3 from the fifth column
  const ritz_step top = rayleigh_ritz(p, 2, spectrum_end::largest, {true, true, true, true, false});
  EXPECT_NEAR(top.values[0], 3, 1e-14);
  EXPECT_EQ(top.dropped, 3);
  EXPECT_NE(message_of([&] { rayleigh_ritz(p, 4, spectrum_end::smallest, std::vector<bool>(5, true)); },
                       error_kind::numerical)
                .find("only 3 independent directions"),
            std::string::npos);
}

}  // namespace
}  // namespace tessera::sparse
