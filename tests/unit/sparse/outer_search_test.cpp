// Pairs further out than those that a start leads to: given vectors, deflated ones, blocks with fewer vectors than an
// eigenvalue has copies.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "libraries/sparse/matrix/generate.hpp"
#include "libraries/sparse/solver/outer_search.hpp"
#include "libraries/sparse/solver/solvers.hpp"
#include "libraries/sparse/solver/subspace.hpp"
#include "tests/support/slow_down.hpp"
#include "tests/unit/sparse/pairs.hpp"

namespace tessera::sparse {
namespace {

class outer_search : public ::testing::TestWithParam<const char*> {
 protected:
  eigenpairs solve(const csr_matrix& a, const eigen_options& o) {
    return eigensolver_named(GetParam()).solve(rt, a, o);
  }
  runtime rt{testing::host_only()};
};
INSTANTIATE_TEST_SUITE_P(all, outer_search, ::testing::Values("lobpcg", "lanczos", "chebyshev"));

constexpr double pi = 3.14159265358979323846;

/// Exact vectors of the second difference on a square, of these waves in both directions.
std::vector<double> waves(int side, const std::vector<std::pair<int, int>>& of) {
  std::vector<double> made;
  for (int i = 1; i <= side; ++i)
    for (int j = 1; j <= side; ++j)
      for (const auto& [p, q] : of)
        made.push_back(std::sin(pi * i * p / (side + 1)) * std::sin(pi * j * q / (side + 1)));
  return made;
}

/// They are done before the rest of the block has moved.
TEST_P(outer_search, finds_what_exact_vectors_of_inner_pairs_hide) {
  const csr_matrix a = generate("lap2d:60");
  const std::vector<double> known = known_lowest("lap2d:60", 4);
  for (const std::int64_t block : {std::int64_t{0}, std::int64_t{4}}) {
    const eigen_options o{
        .pairs = 4, .block = block, .tolerance = 1e-7, .guess = waves(60, {{1, 3}, {3, 1}, {2, 3}, {3, 2}})};
    const eigenpairs found = solve(a, o);
    expect_pairs(a, o, found, known, 1e-9);
    EXPECT_GT(found.searched, 0);
  }
}

TEST_P(outer_search, is_short_where_nothing_is_hidden) {
  const csr_matrix a = generate("lap2d:50");
  eigen_options o{.pairs = 4, .tolerance = 1e-8};
  const eigenpairs cold = solve(a, o);
  EXPECT_EQ(cold.searched, 0);
  o.guess = cold.vectors;
  const eigenpairs warm = solve(a, o);
  expect_pairs(a, o, warm, known_lowest("lap2d:50", 4), 1e-8);
  EXPECT_GT(warm.searched, 0);
  EXPECT_LT(warm.loop.iterations + warm.searched, cold.loop.iterations);
  for (const eigenvalue& e : warm.values) EXPECT_FALSE(e.unsettled || e.clustered);
}

/// A chain, and another one that is not coupled with it and `stiffness` times as stiff.
csr_matrix two_chains(std::int32_t n, double stiffness) {
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < 2 * n; ++i) {
    const double k = i < n ? 1 : stiffness;
    entries.push_back({i, i, 2 * k});
    if (i % n > 0) entries.insert(entries.end(), {{i, i - 1, -k}, {i - 1, i, -k}});
  }
  return matrix_of("two chains", 2 * n, 2 * n, entries);
}

/// A sweep in which the other part of a structure becomes soft: vectors of the step before stay exact.
TEST_P(outer_search, finds_a_level_that_has_crossed_those_of_the_guess) {
  if (testing::watches_threads) GTEST_SKIP() << "many iterations of what other tests begin";
  constexpr std::int32_t n = 120;
  const auto lowest = [](int k) { return 4 * std::pow(std::sin(k * pi / (2 * (n + 1))), 2); };
  eigen_options o{.pairs = 2, .tolerance = 1e-6, .max_iterations = 20000};
  for (std::int32_t i = 0; i < 2 * n; ++i)
    for (const int k : {1, 2}) o.guess.push_back(i < n ? std::sin(pi * k * (i + 1) / (n + 1)) : 0);
  for (const double stiffness : {10.0, 0.02}) {
    const csr_matrix a = two_chains(n, stiffness);
    const eigenpairs found = solve(a, o);
    std::vector<double> known{lowest(1), lowest(2), stiffness * lowest(1), stiffness * lowest(2)};
    std::ranges::sort(known);
    EXPECT_TRUE(found.converged());
    for (std::size_t k = 0; k < 2; ++k)
      EXPECT_NEAR(found.values[k].value, known[k], found.values[k].error_bound) << stiffness << ", pair " << k;
  }
}

TEST_P(outer_search, marks_all_pairs_where_it_has_no_iterations) {
  const csr_matrix a = generate("lap2d:60");
  const eigen_options o{.pairs = 2, .max_iterations = 1, .guess = waves(60, {{2, 3}, {3, 2}})};
  const eigenpairs found = solve(a, o);
  for (const eigenvalue& e : found.values) EXPECT_TRUE(e.unsettled || e.clustered || !e.converged);
}

/// The graph's Laplacian.
csr_matrix laplacian(const std::string& name, std::int32_t n,
                     const std::vector<std::pair<std::int32_t, std::int32_t>>& edges) {
  std::vector<triplet> entries;
  for (const auto& [i, j] : edges) entries.insert(entries.end(), {{i, i, 1}, {j, j, 1}, {i, j, -1}, {j, i, -1}});
  return matrix_of(name, n, n, entries);
}

/// Corners of a cube of so many dimensions: 2 k comes binomial(dimensions, k) times.
csr_matrix cube(int dimensions) {
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;
  for (std::int32_t i = 0; i < std::int32_t{1} << dimensions; ++i)
    for (int d = 0; d < dimensions; ++d)
      if (const std::int32_t j = i ^ (std::int32_t{1} << d); i < j) edges.emplace_back(i, j);
  return laplacian("a cube", std::int32_t{1} << dimensions, edges);
}

void expect_values(const eigenpairs& found, const std::vector<double>& values) {
  EXPECT_TRUE(found.converged());
  ASSERT_EQ(found.values.size(), values.size());
  for (std::size_t k = 0; k < values.size(); ++k) {
    EXPECT_NEAR(found.values[k].value, values[k], 1e-7) << k;
    EXPECT_FALSE(found.values[k].unsettled) << k;
  }
}

/// With a tolerance that is a part of a norm of 8e11, random vectors are done, with bounds that contain much of the
/// rest of the spectrum. The others of the block are far out, at the other end.
TEST_P(outer_search, marks_values_among_several_that_their_bounds_do_not_tell_apart) {
  const csr_matrix a = diagonal(144, [](std::int32_t i) { return i < 2 ? 8e11 + 2e10 * i : static_cast<double>(i); });
  const eigenpairs loose = solve(a, {.pairs = 1, .block = 3, .tolerance = 1e-4, .compare = criterion::norm, .seed = 5});
  EXPECT_TRUE(loose.converged());
  EXPECT_TRUE(std::abs(loose.values[0].value - 2) <= loose.values[0].error_bound || loose.values[0].clustered);
  // Which of several equal ones a pair is makes no difference.
  const csr_matrix copies = diagonal(144, [](std::int32_t i) { return i == 0 ? 1 : i < 6 ? 2 : 4 + 0.1 * i; });
  const eigenpairs equal = solve(copies, {.pairs = 4, .block = 8, .tolerance = 1e-5});
  EXPECT_TRUE(equal.converged());
  for (const eigenvalue& e : equal.values) EXPECT_FALSE(e.clustered);
}

/// A pair of the other end, which is exact to the tolerance alone, says nothing of what is near.
TEST(outer_search_of_both_ends, sees_others_in_the_cluster_of_an_exact_pair) {
  const csr_matrix a = diagonal(140, [](std::int32_t i) { return i < 4 ? 2 + 1e-8 * i : 3 + 0.05 * i; });
  eigen_options o{.pairs = 2, .block = 8, .which = spectrum_end::both, .tolerance = 0.01};
  for (int i = 0; i < a.rows; ++i)
    for (const int k : {2, 3}) o.guess.push_back(i == k ? 1 : 0);
  runtime rt{testing::host_only()};
  for (const char* solver : {"lanczos", "chebyshev"}) {
    const eigenpairs found = eigensolver_named(solver).solve(rt, a, o);
    const eigenvalue& first = found.values[0];
    EXPECT_TRUE(found.converged()) << solver;
    EXPECT_TRUE(std::abs(first.value - 2) <= first.error_bound || first.clustered || first.unsettled) << solver;
  }
}

/// What rounding leaves of a deflated vector outside of a filter's interval grows with the degree, up to infinity.
TEST(filters_beside_deflated_vectors, find_what_is_near_with_high_degrees) {
  std::vector<triplet> entries;
  for (std::int32_t i = 2; i < 121; ++i) entries.push_back({i, i, i < 10 ? 1.67 + 1e-6 * (i - 2) : 1.53 + 0.07 * i});
  // 1.28 by the vector (0.8, 0.6), and 5.
  entries.insert(entries.end(), {{0, 0, 0.64 * 1.28 + 0.36 * 5}, {1, 1, 0.36 * 1.28 + 0.64 * 5}});
  entries.insert(entries.end(), {{0, 1, 0.48 * (1.28 - 5)}, {1, 0, 0.48 * (1.28 - 5)}});
  const csr_matrix a = matrix_of("a value apart", 121, 121, entries);
  eigen_options o{.pairs = 2, .block = 3, .tolerance = 1e-8, .compare = criterion::absolute, .degree = 1280};
  o.deflate.assign(121, 0.0), o.deflate[0] = 0.8, o.deflate[1] = 0.6;
  runtime rt(testing::host_only());
  expect_pairs(a, o, eigensolver_named("chebyshev").solve(rt, a, o), {1.67, 1.670001}, 1e-8);
}

/// The first run takes all that its random vectors have of the nine copies.
TEST_P(outer_search, finds_the_copies_that_are_left_beside_deflated_ones) {
  const csr_matrix a = cube(9);
  eigen_options o{.pairs = 5, .tolerance = 1e-10};
  const eigenpairs first = solve(a, o);
  expect_values(first, {0, 2, 2, 2, 2});
  o.pairs = 4;
  o.deflate = first.vectors;
  const eigenpairs second = solve(a, o);
  expect_values(second, {2, 2, 2, 2});
  o.deflate = beside(first.vectors, second.vectors, a.rows);
  expect_values(solve(a, o), {2, 4, 4, 4});
  o.deflate = second.vectors;  // alone
  o.pairs = 6;
  expect_values(solve(a, o), {0, 2, 2, 2, 2, 2});
}

TEST_P(outer_search, solves_graphs_of_few_levels_beside_deflated_vectors) {
  std::vector<std::pair<std::int32_t, std::int32_t>> star, all;
  for (std::int32_t i = 1; i < 200; ++i) star.emplace_back(0, i);
  for (std::int32_t i = 0; i < 150; ++i)
    for (std::int32_t j = 0; j < i; ++j) all.emplace_back(j, i);
  for (const auto& [a, level] :
       {std::pair{laplacian("a star", 200, star), 1.0}, {laplacian("all edges", 150, all), 150.0}}) {
    eigen_options o{.pairs = 4, .tolerance = 1e-9};
    const eigenpairs first = solve(a, o);
    expect_values(first, {0, level, level, level});
    o.deflate = first.vectors;
    expect_values(solve(a, o), {level, level, level, level});
  }
}

TEST(lanczos_search, finds_more_copies_than_the_block_has_vectors) {
  runtime rt(testing::host_only());
  const csr_matrix a = cube(8);
  for (const std::int64_t block : {1, 3}) {
    const eigen_options o{.pairs = 12, .block = block, .tolerance = 1e-9};
    const eigenpairs found = eigensolver_named("lanczos").solve(rt, a, o);
    expect_pairs(a, o, found, {0, 2, 2, 2, 2, 2, 2, 2, 2, 4, 4, 4}, 1e-7);
    EXPECT_LT(found.orthogonality, 1e-10);
  }
  const eigen_options both{.pairs = 12, .block = 3, .which = spectrum_end::both, .tolerance = 1e-9};
  expect_pairs(a, both, eigensolver_named("lanczos").solve(rt, a, both), {0, 2, 2, 2, 2, 2, 16, 14, 14, 14, 14, 14},
               1e-7);
}

TEST(start_seed, depends_on_what_is_deflated) {
  eigen_options o{.seed = 5};
  EXPECT_EQ(start_seed(o), 5u);
  o.deflate = {1, 0, 0};
  const std::uint64_t first = start_seed(o);
  EXPECT_NE(first, 5u);
  o.deflate = {0, 1, 0};
  EXPECT_NE(start_seed(o), first);
  o.deflate = {1, 0, 0};
  EXPECT_EQ(start_seed(o), first);
}

}  // namespace
}  // namespace tessera::sparse
