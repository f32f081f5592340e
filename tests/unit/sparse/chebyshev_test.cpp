// Subspace iteration with Chebyshev filters on matrices with known spectra, and the filter itself.
#include "libraries/sparse/solver/chebyshev.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "libraries/sparse/matrix/generate.hpp"
#include "libraries/sparse/solver/chebyshev_filter.hpp"
#include "libraries/sparse/solver/convergence.hpp"
#include "tests/support/error_of.hpp"
#include "tests/unit/sparse/pairs.hpp"

namespace tessera::sparse {
namespace {

using test_support::message_of;
using sparse_chebyshev = solver_test<chebyshev>;

TEST_F(sparse_chebyshev, finds_both_ends_of_laplacians) {
  expect(generate("lap2d:30"), {.pairs = 7, .tolerance = 1e-9}, known_lowest("lap2d:30", 7), 1e-9);
  std::vector<double> top = known_lowest("lap3d:9", 5);
  for (double& v : top) v = 12 - v;
  expect(generate("lap3d:9"), {.pairs = 5, .which = spectrum_end::largest, .tolerance = 1e-9}, top, 1e-8);
  const std::vector<double> low = known_lowest("lap2d:25", 3);
  expect(generate("lap2d:25"), {.pairs = 5, .which = spectrum_end::both, .tolerance = 1e-9},
         {low[0], low[1], low[2], 8 - low[0], 8 - low[1]}, 1e-8);
}

TEST_F(sparse_chebyshev, finds_the_levels_of_spin_chains) {
  for (const char* name : {"hs:12", "xx:10"}) expect(generate(name), {.pairs = 10}, known_lowest(name, 10), 1e-10);
}

TEST_F(sparse_chebyshev, keeps_what_a_filter_makes_one_vector_of) {
  // One eigenvalue far below all others: filtered random vectors are all the same.
  const csr_matrix far = diagonal(300, [](std::int32_t i) { return i == 0 ? -1e3 : static_cast<double>(i); });
  expect(far, {.pairs = 4}, {-1e3, 1, 2, 3}, 1e-7);
}

TEST_F(sparse_chebyshev, finds_values_beside_others_that_are_far_out) {
  // From 1000 on, a filter that damps 1 and grows no more than rounding allows is one of a low degree; of 1e9 there is
  // none, and it is left out once it is known.
  const csr_matrix far = diagonal(200, [](std::int32_t i) { return i < 3 ? std::pow(10.0, 3 - i) : (i - 3) / 196.0; });
  const eigenpairs found =
      expect(far, {.pairs = 4, .which = spectrum_end::largest, .max_iterations = 60}, {1000, 100, 10, 1}, 1e-7);
  EXPECT_FALSE(found.dense);
  expect(far, {.pairs = 4, .which = spectrum_end::both, .max_iterations = 120}, {0, 1 / 196.0, 1000, 100}, 1e-7);
  csr_matrix farther = far;
  farther.values[0] = 1e9, farther.values[1] = 1e4, farther.values[2] = 2;
  expect(farther, {.pairs = 4, .which = spectrum_end::largest, .max_iterations = 60}, {1e9, 1e4, 2, 1}, 1e-4);
}

/// 1 / (i + j + 1): eigenvalues fall by factors.
csr_matrix hilbert(std::int32_t n) {
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int32_t j = 0; j < n; ++j) entries.push_back({i, j, 1.0 / (i + j + 1)});
  return matrix_of("Hilbert", n, n, entries);
}

TEST_F(sparse_chebyshev, finds_the_largest_values_of_a_spectrum_that_decays) {
  // As LAPACK has them.
  const std::vector<double> known{2.10589183598,    0.7174651843683,   0.1668793424564,
                                  0.03220429581233, 0.005501289104513, 0.0008519085178076};
  expect(hilbert(60), {.pairs = 6, .which = spectrum_end::largest, .max_iterations = 20}, known, 1e-10);
  expect(
      hilbert(60),
      {.pairs = 6, .which = spectrum_end::largest, .tolerance = 1e-6, .compare = criterion::norm, .max_iterations = 20},
      known, 1e-5);
}

TEST_F(sparse_chebyshev, finds_both_ends_where_a_polynomial_is_the_same_at_both) {
  // Pairs of rows that are exchanged: 1 and -1, 60 times each.
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < 120; i += 2) entries.push_back({i, i + 1, 1}), entries.push_back({i + 1, i, 1});
  expect(matrix_of("exchange", 120, 120, entries),
         {.pairs = 4, .which = spectrum_end::both, .tolerance = 1e-9, .max_iterations = 40}, {-1, -1, 1, 1}, 1e-9);
}

TEST_F(sparse_chebyshev, finds_the_last_vector_of_a_block_that_a_larger_degree_is_no_help_to) {
  // -5.4, zeros, 5.4: the interval from 0 on ends at the largest value, and both are damped alike.
  std::vector<triplet> entries;
  for (std::int32_t i = 1; i < 30; ++i) entries.insert(entries.end(), {{0, i, 1}, {i, 0, 1}});
  expect(matrix_of("star", 30, 30, entries), {.pairs = 2, .block = 2, .max_iterations = 200}, {-std::sqrt(29.0), 0},
         1e-12);
}

TEST_F(sparse_chebyshev, is_right_where_there_is_nothing_to_do) {
  expect(matrix_of("zero", 100, 100, {}), {.pairs = 3}, {0, 0, 0}, 0);
  expect(diagonal(100, [](std::int32_t) { return 1.0; }), {.pairs = 5}, {1, 1, 1, 1, 1}, 1e-14);
  expect(diagonal(200, [](std::int32_t i) { return static_cast<double>(i / 5); }), {.pairs = 6, .tolerance = 1e-9},
         {0, 0, 0, 0, 0, 1}, 1e-9);
}

TEST_F(sparse_chebyshev, finds_an_eigenvalue_that_has_more_copies_than_the_block_has_vectors) {
  // All Ritz values are one from some iteration on, and the filter's interval begins beside it.
  expect(diagonal(300, [](std::int32_t i) { return i < 100 ? 1.0 : 1.5 + i; }), {.pairs = 4}, {1, 1, 1, 1}, 1e-7);
}

TEST(chebyshev_interval, begins_where_the_polynomial_has_grown) {
  // All vectors of the block are at 0: an interval that began there would damp nothing.
  const filter_interval one = unwanted(std::vector<double>(4, 0.0), spectrum_end::smallest, {0, 1}, 10);
  EXPECT_NEAR(growth(one, 0), 2, 1e-9);
  EXPECT_NEAR(growth(one, 0.5), 1, 0);
  const filter_interval upper = unwanted(std::vector<double>(4, 1.0), spectrum_end::largest, {0, 1}, 10);
  EXPECT_NEAR(growth(upper, 1), 2, 1e-9);
}

TEST_F(sparse_chebyshev, gives_the_same_bits_for_any_workers_and_what_the_reference_gives) {
  const csr_matrix a = generate("lap3d:9");
  eigen_options o{.pairs = 4, .tolerance = 0, .max_iterations = 3, .program = {.panel_rows = 100}};
  const eigenpairs two = solve(a, o);
  runtime single(testing::host_only(1));
  EXPECT_EQ(chebyshev(single, a, o).vectors, two.vectors);
  o.program.how = execution::at_once;
  const eigenpairs reference = solve(a, o);
  for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(two.values[k].value, reference.values[k].value, 1e-10) << k;
}

TEST_F(sparse_chebyshev, says_what_did_not_converge_and_what_it_cannot_do) {
  const csr_matrix a = generate("lap2d:40");
  const eigenpairs found = solve(a, {.pairs = 6, .max_iterations = 2});
  EXPECT_FALSE(found.converged());
  EXPECT_EQ(found.loop.iterations, 2);
  expect_residuals(a, found);
  const auto refused = [&](const eigen_options& o, const char* text) {
    EXPECT_NE(message_of([&] { solve(a, o); }, error_kind::usage).find(text), std::string::npos) << text;
  };
  refused({.pairs = 8, .block = 4}, "a block of 4 cannot hold 8 pairs");
  refused({.precondition = preconditioning::jacobi}, "takes no preconditioner");
  refused({.orthogonal = reorthogonalization::selective}, "takes no choice of reorthogonalization");
  refused({.degree = -1}, "a polynomial of degree -1");
  refused({.lag = -1}, "the lag is -1");
}

TEST_F(sparse_chebyshev, solves_small_matrices_as_dense_ones) {
  EXPECT_TRUE(expect(generate("lap2d:4"), {.pairs = 3}, known_lowest("lap2d:4", 3), 1e-12).dense);
}

TEST(chebyshev_filters, are_the_polynomial) {
  // Of a diagonal matrix: a number for each eigenvalue.
  runtime rt(testing::host_only());
  const csr_matrix a = diagonal(64, [](std::int32_t i) { return 0.25 * i; });
  constexpr int degree = 7;
  const filter_interval at{9, 6, -1, degree - 2};  // steps behind the degree change nothing
  program p(rt, a);
  chebyshev_filter filter(p, a, 1, degree);
  block_vector x = p.vector("X", 1), ax = p.vector("AX", 1);
  x.set(std::vector<double>(64, 1.0));
  apply(a, x, ax);
  filter.prepare({}, [at](std::span<const small_view>) { return at; });
  filter.run(x, ax);
  const auto polynomial = [&](double t) {
    double before = 1, now = (t - at.centre) / at.half_width;
    const double scaled = now;
    for (int k = 1; k < at.degree; ++k) before = std::exchange(now, 2 * scaled * now - before);
    return now;
  };
  const std::vector<double> seen = filter.filtered().values();
  for (std::size_t i = 0; i < seen.size(); ++i)
    EXPECT_NEAR(seen[i], polynomial(0.25 * static_cast<double>(i)) / polynomial(at.outermost), 1e-12) << i;
}

TEST(chebyshev_filters, damp_what_is_not_wanted) {
  const spectrum_interval all{-1, 9};
  const std::array smallest{0.0, 1.0, 2.0}, largest{8.0, 7.0, 5.0};
  const auto expect = [](const filter_interval& seen, double centre, double half_width, double outermost) {
    EXPECT_DOUBLE_EQ(seen.centre, centre);
    EXPECT_DOUBLE_EQ(seen.half_width, half_width);
    EXPECT_DOUBLE_EQ(seen.outermost, outermost);
  };
  expect(unwanted(smallest, spectrum_end::smallest, all, 10), 5.5, 3.5, -1);
  expect(unwanted(largest, spectrum_end::largest, all, 10), 2, 3, 9);
  expect(unwanted(std::array{0.0, 0.0}, spectrum_end::smallest, {0, 0}, 10), 0, 1, -1);
  // T(3)(1008) is 4e9, T(4)(1008) more than 1e12.
  const filter_interval far = unwanted(std::array{-1000.0, 7.0}, spectrum_end::smallest, {-1000, 9}, 10);
  expect(far, 8, 1, -1000);
  EXPECT_EQ(far.degree, 3);
  // T(1)(1e13) is more as well.
  EXPECT_NEAR(unwanted(std::array{-1e13, 7.0}, spectrum_end::smallest, {-1e13, 9}, 10).half_width, 10, 0.1);
}

TEST(spectrum_bounds, hold_the_whole_spectrum) {
  runtime rt(testing::host_only());
  const spectrum_interval laplacian = spectrum_bounds(rt, generate("lap2d:30"), {}, 1);
  EXPECT_LE(laplacian.lower, known_lowest("lap2d:30", 1)[0]);
  EXPECT_GE(laplacian.upper, 8 - known_lowest("lap2d:30", 1)[0]);
  EXPECT_LT(laplacian.width(), 10);
  const csr_matrix two = diagonal(100, [](std::int32_t i) { return i % 2 == 0 ? 3.0 : 5.0; });
  const spectrum_interval levels = spectrum_bounds(rt, two, {}, 1);
  EXPECT_NEAR(levels.lower, 3, 1e-6);
  EXPECT_NEAR(levels.upper, 5, 1e-6);
}

TEST(chebyshev_of_a_high_degree, has_finite_numbers_from_the_start) {
  runtime rt(testing::host_only());
  for (const int degree : {400, 1000}) {
    const eigen_options o{.pairs = 2, .max_iterations = 2, .degree = degree};
    for (const eigenvalue& e : chebyshev(rt, generate("lap3d:12"), o).values) {
      EXPECT_GE(e.value, -1e-12) << degree;
      EXPECT_LE(e.value, 12 + 1e-12) << degree;
    }
  }
}

/// A polynomial for both ends had left one of them for a while, and -3.4345 was passed over and not seen by the search.
TEST(chebyshev_of_both_ends, finds_each_value_of_a_bipartite_graph) {
  runtime rt(testing::host_only());
  constexpr std::int32_t left = 100, right = 90;
  const std::vector<double> random = random_start(left * right, 32);
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < left; ++i)
    for (std::int32_t j = 0; j < right; ++j)
      if (const double x = random[static_cast<std::size_t>(i * right + j)]; x > 0.8)
        entries.push_back({i, left + j, 5 * (x - 0.8)}), entries.push_back({left + j, i, 5 * (x - 0.8)});
  const csr_matrix graph = matrix_of("bipartite", left + right, left + right, entries);
  const eigen_options o{.pairs = 3, .which = spectrum_end::both};
  expect_pairs(graph, o, chebyshev(rt, graph, o), {-5.35550165, -3.43450894, 5.35550165}, 1e-7);
}

/// In its first steps the block may have nothing of one end, where the polynomial then grows without a limit.
TEST(chebyshev_of_both_ends, finds_an_end_that_the_first_vectors_have_not) {
  runtime rt(testing::host_only());
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < 220; ++i) {
    entries.push_back({i, i, 2});
    if (i > 0) entries.insert(entries.end(), {{i, i - 1, -1}, {i - 1, i, -1}});
  }
  const csr_matrix chain = matrix_of("chain", 220, 220, entries);
  for (const std::uint64_t seed : {17, 27}) {
    const eigen_options o{
        .pairs = 4, .which = spectrum_end::both, .tolerance = 1e-5, .compare = criterion::norm, .seed = seed};
    const eigenpairs found = chebyshev(rt, chain, o);
    EXPECT_TRUE(found.converged()) << seed;
    // Neighbours are too close for this tolerance to tell which is which.
    for (const std::size_t k : {0, 1}) EXPECT_NEAR(found.values[k].value, 0, 2e-3) << seed;
    for (const std::size_t k : {2, 3}) EXPECT_NEAR(found.values[k].value, 4, 2e-3) << seed;
  }
}

/// Vectors of the upper end had been those of the lower one.
TEST(chebyshev_of_both_ends, share_an_eigenvalue_that_has_copies_for_both) {
  runtime rt(testing::host_only());
  constexpr std::int32_t n = 150;
  std::vector<triplet> entries;
  for (std::int32_t i = 1; i < n; ++i) entries.insert(entries.end(), {{0, i, 1}, {i, 0, 1}});
  const double far = std::sqrt(n - 1.0);
  int last = 0;
  for (const std::uint64_t seed : {1, 2}) {
    eigen_options o{.pairs = 16, .which = spectrum_end::both, .seed = seed};
    o.report = [&](const eigen_progress& now) { last = now.iteration; };
    const csr_matrix star = matrix_of("star", n, n, entries);
    const eigenpairs found = chebyshev(rt, star, o);
    std::vector<double> known(16, 0);
    known[0] = -far, known[8] = far;
    expect_pairs(star, o, found, known, 1e-12);
    EXPECT_FALSE(found.dense);
    EXPECT_EQ(last, found.loop.iterations);
  }
  const csr_matrix one = diagonal(n, [](std::int32_t) { return 1.0; });
  const eigen_options o{.pairs = 15, .which = spectrum_end::both};
  expect_pairs(one, o, chebyshev(rt, one, o), std::vector<double>(15, 1), 1e-13);
  // Random vectors beside a guess that both ends begin with.
  eigen_options guessed{.pairs = 8, .block = 14, .which = spectrum_end::both, .guess = std::vector<double>(n * 6, 0)};
  for (std::size_t i = 0; i < 6; ++i) guessed.guess[i * 6 + i] = 1;
  const csr_matrix zero = matrix_of("zero", n, n, {});
  expect_pairs(zero, guessed, chebyshev(rt, zero, guessed), std::vector<double>(8, 0), 0);
}

/// The others are nothing beside them, and are looked for beside the outermost.
TEST_F(sparse_chebyshev, solves_beside_values_that_are_far_out) {
  const csr_matrix a = diagonal(200, [](std::int32_t i) {
    return i == 0 ? 1e300 : i == 1 ? -5e299 : static_cast<double>(i - 1);
  });
  for (const std::uint64_t seed : {1, 2, 979510}) {
    const eigenpairs found =
        solve(a, {.pairs = 12, .block = 12, .tolerance = 1e-10, .compare = criterion::norm, .seed = seed});
    EXPECT_TRUE(found.converged());
    EXPECT_NEAR(found.values[0].value, -5e299, 1e287);
    for (std::size_t k = 1; k < 12; ++k) EXPECT_LE(std::abs(found.values[k].value), found.values[k].error_bound) << k;
  }
}

}  // namespace
}  // namespace tessera::sparse
