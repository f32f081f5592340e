// What all eigensolvers take: guesses, deflated vectors, mass matrices; and preconditioners, lag, orthogonality.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>

#include "libraries/sparse/matrix/generate.hpp"
#include "libraries/sparse/solver/iterated_pairs.hpp"
#include "libraries/sparse/solver/lanczos.hpp"
#include "libraries/sparse/solver/lobpcg.hpp"
#include "libraries/sparse/solver/preconditioning.hpp"
#include "libraries/sparse/solver/solvers.hpp"
#include "libraries/sparse/solver/subspace.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/slow_down.hpp"
#include "tests/unit/sparse/every_operation.hpp"
#include "tests/unit/sparse/pairs.hpp"

namespace tessera::sparse {
namespace {

using test_support::message_of;

/// Is never done, and does not go on.
struct stuck_iteration {
  static constexpr int min_blocks = 3;
  stuck_iteration(runtime&, const csr_matrix&, const eigen_options&, std::int64_t, const stopping_rule&) {}
  void start() {}
  loop_outcome iterate(int, int) { return {.converged = true}; }
  std::int64_t pairs_done() const { return 0; }
  void give(eigenpairs& to) const { to.values.push_back({0, 1, 1, false, false}); }
};

TEST(iterated_pairs, ends_where_an_iteration_does_not_go_on) {
  runtime rt(testing::host_only());
  EXPECT_FALSE(iterated_pairs<stuck_iteration>(rt, generate("lap2d:5"), {.pairs = 1}, 4).converged());
}

TEST(missed_pairs, that_exact_vectors_of_others_hide_are_found) {
  runtime rt(testing::host_only());
  const csr_matrix a = generate("lap2d:12");
  const std::vector<double> known = known_lowest("lap2d:12", 2);
  for (const char* name : {"lobpcg", "chebyshev"}) {
    const auto solve = eigensolver_named(name).solve;
    eigen_options o{.pairs = 4, .block = 8, .tolerance = 1e-9};
    const eigenpairs four = solve(rt, a, o);
    o.pairs = o.block = 2;
    for (std::size_t i = 0; i < 144; ++i)
      o.guess.insert(o.guess.end(), {four.vectors[4 * i + 2], four.vectors[4 * i + 3]});
    const eigenpairs found = solve(rt, a, o);
    EXPECT_FALSE(found.dense);
    expect_pairs(a, o, found, known, 1e-7);
  }
}

/// Every eigenvalue has two copies. One vector sees a single copy of each, and the same one again is blind to the
/// other.
TEST(missed_pairs, are_other_copies_of_those_that_a_search_has_found) {
  runtime rt(testing::host_only());
  const csr_matrix a = diagonal(60, [](std::int32_t i) { return 1.0 + i / 2; });
  for (const char* name : {"lobpcg", "chebyshev"})
    for (const spectrum_end end : {spectrum_end::smallest, spectrum_end::largest}) {
      eigen_options o{.pairs = 2, .block = 2, .which = end, .tolerance = 1e-9};
      for (std::int32_t i = 0; i < 60; ++i)
        o.guess.insert(o.guess.end(), {static_cast<double>(i == 30), static_cast<double>(i == 31)});
      const double outermost = end == spectrum_end::smallest ? 1 : 30;
      expect_pairs(a, o, eigensolver_named(name).solve(rt, a, o), {outermost, outermost}, 1e-7);
    }
}

/// A block that has no more vectors than pairs has no value beside them.
TEST(missed_pairs, that_a_search_sees_within_the_bounds_of_others_mark_these) {
  runtime rt(testing::host_only());
  const csr_matrix cluster = diagonal(40, [](std::int32_t i) { return i < 4 ? 1 + 1e-9 * i : 2.0 + i; }),
                   apart = diagonal(40, [](std::int32_t i) { return 1.0 + i; });
  const eigen_options o{.pairs = 1, .block = 1, .tolerance = 1e-6};
  for (const char* name : {"lobpcg", "chebyshev"}) {
    const auto pair_of = [&](const csr_matrix& a) { return eigensolver_named(name).solve(rt, a, o).values.at(0); };
    EXPECT_TRUE(pair_of(cluster).converged) << name;
    EXPECT_TRUE(pair_of(cluster).clustered) << name;
    EXPECT_TRUE(pair_of(apart).converged) << name;
    EXPECT_FALSE(pair_of(apart).clustered) << name;
  }
}

/// Exact vectors of others, and no iteration to look for more: nothing had said that these are not the outermost.
TEST(missed_pairs, that_no_iteration_is_left_for_are_told) {
  runtime rt(testing::host_only());
  const csr_matrix a = diagonal(100, [](std::int32_t i) { return 1.0 + i; });
  for (const char* name : {"lobpcg", "chebyshev"})
    for (const spectrum_end end : {spectrum_end::smallest, spectrum_end::largest}) {
      eigen_options o{.pairs = 2, .block = 2, .which = end, .max_iterations = 0};
      for (std::int32_t i = 0; i < 100; ++i)
        o.guess.insert(o.guess.end(), {static_cast<double>(i == 30), static_cast<double>(i == 31)});
      eigenpairs found = eigensolver_named(name).solve(rt, a, o);
      EXPECT_FALSE(found.dense);
      EXPECT_LT(found.values[0].residual, 1e-12) << name;
      EXPECT_FALSE(found.values[0].converged) << name;
      EXPECT_FALSE(found.values[1].converged) << name;
      EXPECT_FALSE(found.passed_over.empty()) << name;
      // Those that are the outermost are.
      for (std::size_t i = 0; i < 100; ++i) {
        o.guess[2 * i] = i == (end == spectrum_end::smallest ? 0 : 99);
        o.guess[2 * i + 1] = i == (end == spectrum_end::smallest ? 1 : 98);
      }
      found = eigensolver_named(name).solve(rt, a, o);
      EXPECT_TRUE(found.converged()) << name;
      EXPECT_TRUE(found.passed_over.empty()) << name;
    }
}

TEST(missed_pairs, leave_those_further_out_as_they_are) {
  const eigenvalue done{.value = 0, .residual = 0, .error_bound = 0, .converged = true, .at_rounding = false};
  eigenpairs found;
  for (const double value : {1.0, 3.0, 9.0, 7.0}) found.values.push_back(done), found.values.back().value = value;
  found.passed_over = {2, 8};
  doubt_pairs(found, spectrum_end::both);
  std::vector<bool> converged;
  for (const eigenvalue& e : found.values) converged.push_back(e.converged);
  EXPECT_EQ(converged, (std::vector<bool>{true, false, true, false}));
}

class every_eigensolver : public ::testing::TestWithParam<const char*> {
 protected:
  eigenpairs solve(const csr_matrix& a, const eigen_options& o) {
    return eigensolver_named(GetParam()).solve(rt, a, o);
  }
  std::string refusal(const csr_matrix& a, const eigen_options& o, error_kind kind) {
    return message_of([&] { solve(a, o); }, kind);
  }
  runtime rt{testing::host_only()};
};
INSTANTIATE_TEST_SUITE_P(all, every_eigensolver, ::testing::Values("lobpcg", "lanczos", "chebyshev"));

TEST_P(every_eigensolver, goes_on_beside_deflated_vectors) {
  const csr_matrix a = generate("lap2d:20");
  const std::vector<double> known = known_lowest("lap2d:20", 8);
  eigen_options o{.pairs = 4, .block = 8, .tolerance = 1e-9};
  const eigenpairs first = solve(a, o);
  o.deflate = first.vectors;
  for (double& x : o.deflate) x *= 1e160;  // any length
  const eigenpairs next = solve(a, o);
  expect_pairs(a, o, next, {known[4], known[5], known[6], known[7]}, 1e-8);
  EXPECT_FALSE(next.dense);
  for (std::size_t p = 0; p < 4; ++p)
    for (std::size_t q = 0; q < 4; ++q) {
      double overlap = 0;
      for (std::size_t i = 0; i < 400; ++i) overlap += first.vectors[i * 4 + p] * next.vectors[i * 4 + q];
      EXPECT_LT(std::abs(overlap), 1e-8);
    }
}

TEST_P(every_eigensolver, deflates_in_small_matrices) {
  const csr_matrix a = diagonal(14, [](std::int32_t i) { return 1.0 + i; });
  eigen_options o{.pairs = 2};
  o.deflate.assign(14 * 3, 0.0);
  o.deflate[0 * 3 + 0] = 5, o.deflate[2 * 3 + 1] = 1;
  o.deflate[0 * 3 + 2] = o.deflate[2 * 3 + 2] = 1;  // depends on the others
  const eigenpairs found = solve(a, o);
  EXPECT_TRUE(found.dense);
  expect_pairs(a, o, found, {2, 4}, 1e-12);
  o.which = spectrum_end::largest;
  o.deflate[0 * 3 + 2] = 0, o.deflate[2 * 3 + 2] = 0, o.deflate[13 * 3 + 2] = 1;
  expect_pairs(a, o, solve(a, o), {13, 12}, 1e-12);
}

TEST_P(every_eigensolver, counts_deflated_vectors_that_depend_on_others_once) {
  const csr_matrix a = diagonal(7, [](std::int32_t i) { return 1.0 + i; });
  eigen_options o{.pairs = 3, .deflate = std::vector<double>(7 * 6, 0.0)};
  for (std::size_t j = 0; j < 4; ++j) o.deflate[j * 6 + j] = std::pow(10.0, 80 * j);
  o.deflate[0 * 6 + 4] = o.deflate[2 * 6 + 4] = 1;  // and a column of zeros
  expect_pairs(a, o, solve(a, o), {5, 6, 7}, 1e-12);
  o.pairs = 4;
  EXPECT_NE(refusal(a, o, error_kind::usage).find("4 pairs, and 3 are left"), std::string::npos);
}

TEST_P(every_eigensolver, tells_true_residuals_where_deflated_vectors_are_no_eigenvectors) {
  const csr_matrix a = generate("lap2d:12");
  eigen_options o{.pairs = 1, .max_iterations = 15};
  o.deflate.assign(144, 0.0);
  o.deflate[70] = 1;
  const eigenpairs found = solve(a, o);
  EXPECT_FALSE(found.converged());
  expect_residuals(a, found);
}

TEST_P(every_eigensolver, refuses_vectors_that_do_not_fit) {
  const csr_matrix a = generate("lap2d:12");
  EXPECT_NE(refusal(a, {.deflate = std::vector<double>(143)}, error_kind::usage).find("143 numbers are no vectors"),
            std::string::npos);
  EXPECT_NE(refusal(a, {.guess = std::vector<double>(100)}, error_kind::usage).find("100 numbers are no vectors"),
            std::string::npos);
  EXPECT_NE(refusal(a, {.deflate = std::vector<double>(144, INFINITY)}, error_kind::usage).find("not finite"),
            std::string::npos);
  eigen_options all_but_one{.pairs = 2, .deflate = std::vector<double>(144 * 143)};
  for (std::size_t i = 0; i < 143; ++i) all_but_one.deflate[i * 143 + i] = 1;
  EXPECT_NE(refusal(a, all_but_one, error_kind::usage).find("2 pairs, and 1 are left"), std::string::npos);
}

TEST_P(every_eigensolver, starts_with_a_guess) {
  const csr_matrix a = generate("lap2d:40");
  eigen_options o{.pairs = 4, .tolerance = 1e-6};
  const eigenpairs cold = solve(a, o);
  o.guess = cold.vectors;
  const eigenpairs warm = solve(a, o);
  expect_pairs(a, o, warm, known_lowest("lap2d:40", 4), 1e-6);
  EXPECT_LT(warm.loop.iterations, cold.loop.iterations);
}

TEST_P(every_eigensolver, takes_guesses_of_any_length_that_depend_on_each_other) {
  const csr_matrix a = generate("lap2d:20");
  for (const double length : {1e308, 5e-324}) {
    eigen_options o{.pairs = 3, .block = 8, .tolerance = 1e-9};
    o.guess.assign(400 * 5, 0.0);  // twice the same, zeros, and another
    for (std::size_t i = 0; i < 400; ++i) {
      o.guess[i * 5] = o.guess[i * 5 + 1] = length;
      o.guess[i * 5 + 3] = i % 2 == 0 ? length : 0;
    }
    const std::vector<double> known = known_lowest("lap2d:20", 6);
    const eigenpairs first = solve(a, o);
    expect_pairs(a, o, first, {known[0], known[1], known[2]}, 1e-8);
    o.guess = o.deflate = first.vectors;
    expect_pairs(a, o, solve(a, o), {known[3], known[4], known[5]}, 1e-8);
  }
}

TEST(usable_guess, has_no_more_columns_than_rows) {
  // A table of all their products would have 2^34 elements.
  constexpr std::int64_t rows = 5, columns = std::int64_t{1} << 17;
  eigen_options o;
  o.guess.assign(rows * columns, 1.0);  // all the same, but for every third in front
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < 3 * rows; j += 3) o.guess[static_cast<std::size_t>(i * columns + j)] = j == 3 * i;
  o.deflate = {0, 0, 2, 0, 0};
  const small_table usable = usable_guess(o, rows);
  ASSERT_EQ(usable.columns, 4);
  const std::vector<double> known{1, 1, 0, 0,   //
                                  0, 1, 1, 0,   //
                                  0, 1, 0, 0,   //
                                  0, 1, 0, 1,   //
                                  0, 1, 0, 0};  //
  EXPECT_EQ(usable.numbers, known);
}

TEST_P(every_eigensolver, is_not_misled_by_a_guess_of_other_pairs) {
  const csr_matrix a = generate("lap2d:20");
  const eigenpairs all = solve(a, {.pairs = 4, .which = spectrum_end::largest, .tolerance = 1e-10});
  const eigen_options o{.pairs = 2, .block = 8, .tolerance = 1e-9, .guess = all.vectors};
  expect_pairs(a, o, solve(a, o), known_lowest("lap2d:20", 2), 1e-8);
}

TEST_P(every_eigensolver, takes_a_diagonal_mass_matrix) {
  // B^-1 A with known values: A = B^1/2 L B^1/2.
  csr_matrix a = generate("lap2d:20");
  std::vector<triplet> entries;
  const auto root = [](std::int64_t i) { return 1 + 0.5 * static_cast<double>(i % 7); };
  for (std::int64_t i = 0; i < a.rows; ++i) {
    entries.push_back({static_cast<std::int32_t>(i), static_cast<std::int32_t>(i), root(i) * root(i)});
    for (auto k = static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(i) + 1]); ++k)
      a.values[k] *= root(i) * root(a.entry_columns[k]);
  }
  const csr_matrix mass = matrix_of("mass", 400, 400, entries);
  const std::vector<double> known = known_lowest("lap2d:20", 6);
  eigen_options o{.pairs = 3, .block = 6, .tolerance = 1e-9, .max_iterations = 3000, .mass = &mass};
  const eigenpairs first = solve(a, o);
  expect_pairs(a, o, first, {known[0], known[1], known[2]}, 1e-7);
  // Deflated vectors are orthogonal in B.
  o.deflate = first.vectors;
  expect_pairs(a, o, solve(a, o), {known[3], known[4], known[5]}, 1e-7);
  const csr_matrix small = matrix_of("small", 3, 3, {{0, 0, 1}, {1, 1, 1}, {2, 2, 1}});
  EXPECT_NE(refusal(a, {.mass = &small}, error_kind::input).find("the mass matrix is 3 x 3"), std::string::npos);
  csr_matrix negative = mass;
  negative.values[5] = -1;
  EXPECT_NE(refusal(a, {.mass = &negative}, error_kind::input).find("element (6, 6) is -1"), std::string::npos);
}

TEST_P(every_eigensolver, tells_residuals_with_a_diagonal_mass_matrix_at_any_scale) {
  const csr_matrix a = generate("lap2d:8"), one = diagonal(64, [](std::int32_t) { return 1.0; });
  for (const int exponent : {-540, 0, 560}) {
    const csr_matrix scaled = times_power_of_two(a, exponent);
    const eigenpairs plain = solve(scaled, {.pairs = 2, .block = 4}),
                     found = solve(scaled, {.pairs = 2, .block = 4, .mass = &one});
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_GT(found.values[k].residual, 0.1 * plain.values[k].residual) << exponent;
      EXPECT_LT(found.values[k].residual, 10 * plain.values[k].residual) << exponent;
    }
  }
}

TEST_P(every_eigensolver, finds_many_pairs) {
  if (testing::watches_threads) GTEST_SKIP() << "many iterations of what other tests begin";
  const csr_matrix a = generate("lap2d:30");
  const bool has_one_block = std::string(GetParam()) != "lanczos";
  const eigen_options o{.pairs = 48, .block = has_one_block ? 56 : 4, .tolerance = 1e-4};
  const eigenpairs found = solve(a, o);
  EXPECT_FALSE(found.dense);
  expect_pairs(a, o, found, known_lowest("lap2d:30", 48), 1e-6);
}

/// With other elements of the diagonal in each row, so that no eigenvalue comes twice: vectors are those of one pair.
csr_matrix with_potential(csr_matrix a) {
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (auto k = static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(i) + 1]); ++k)
      if (a.entry_columns[k] == i) a.values[k] += 6 * std::fmod(0.618 * static_cast<double>(i), 1);
  return a;
}

/// All that ten steps tell, and the vectors of each.
struct steps {
  std::vector<std::vector<double>> values, residuals, vectors;

  steps(const std::function<eigenpairs(const eigen_options&)>& solve, eigen_options o) {
    o.tolerance = 0;
    o.report = [this](const eigen_progress& now) {
      auto &of_values = values.emplace_back(), &of_residuals = residuals.emplace_back();
      for (const pair_progress& p : now.of_pairs) of_values.push_back(p.value), of_residuals.push_back(p.residual);
    };
    for (o.max_iterations = 10; o.max_iterations > 0; --o.max_iterations) {
      vectors.push_back(solve(o).vectors);
      o.report = nullptr;  // of shorter runs it would be the same
    }
  }
};

/// Columns with the signs that `other` has: LAPACK gives any.
std::vector<double> with_signs_of(const std::vector<double>& other, std::vector<double> vectors, std::size_t columns) {
  for (std::size_t j = 0; j < columns; ++j) {
    double product = 0;
    for (std::size_t k = j; k < vectors.size(); k += columns) product += vectors[k] * other[k];
    if (product < 0)
      for (std::size_t k = j; k < vectors.size(); k += columns) vectors[k] = -vectors[k];
  }
  return vectors;
}

TEST_P(every_eigensolver, iterates_as_the_reference_does) {
  for (const char* name : {"lap3d:9", "lap2d:25"}) {
    const csr_matrix a = with_potential(generate(name));
    eigen_options o{.pairs = 6, .block = 8};
    if (std::string(GetParam()) == "chebyshev") o.degree = 10;  // it would follow residuals
    const auto solved = [&](const eigen_options& how) { return solve(a, how); };
    const steps fused(solved, o);
    o.program.how = execution::at_once;
    const steps reference(solved, o);
    ASSERT_EQ(fused.values.size(), reference.values.size());
    EXPECT_GE(fused.values.size(), 10u);
    const double norm = infinity_norm(a);
    for (std::size_t k = 0; k < fused.values.size(); ++k) {
      SCOPED_TRACE(name + std::string(", step ") + std::to_string(k));
      expect_near(fused.values[k], reference.values[k], 1e-10 * norm);
      expect_near(fused.residuals[k], reference.residuals[k], 1e-10 * norm);
    }
    for (std::size_t k = 0; k < fused.vectors.size(); ++k) {
      SCOPED_TRACE(name + std::string(", vectors of step ") + std::to_string(10 - k));
      expect_near(with_signs_of(reference.vectors[k], fused.vectors[k], 6), reference.vectors[k], 1e-10);
    }
  }
}

/// Vectors of a cluster that the tolerance does not tell apart are sums of many: their values are those of eigenvalues
/// within the bounds, and not of the outermost ones.
TEST_P(every_eigensolver, marks_pairs_of_a_cluster_whose_number_is_not_known) {
  const auto element = [](std::int32_t i) { return i < 60 ? -1 + 4e-5 * i / 59 : 1 + 0.1 * i; };
  const csr_matrix a = diagonal(140, element);
  const auto expect_marks = [&](const eigen_options& o, std::ptrdiff_t expected) {
    const eigenpairs found = solve(a, o);
    EXPECT_FALSE(found.dense);
    EXPECT_TRUE(found.converged());
    EXPECT_EQ(std::ranges::count_if(found.values, &eigenvalue::clustered), expected);
    const std::int64_t low = pairs_of_lower_end(o.pairs, o.which);
    for (std::int64_t k = 0; k < o.pairs; ++k) {
      const eigenvalue& e = found.values[static_cast<std::size_t>(k)];
      double least = std::abs(e.value - element(0));
      for (std::int32_t i = 1; i < 140; ++i) least = std::min(least, std::abs(e.value - element(i)));
      EXPECT_LE(least, e.error_bound) << k;
      const auto number = static_cast<std::int32_t>(k < low ? k : 139 - (k - low));
      EXPECT_TRUE(e.clustered || std::abs(e.value - element(number)) <= e.error_bound) << k;
    }
  };
  expect_marks({.pairs = 5, .tolerance = 1e-5, .compare = criterion::absolute}, 5);
  expect_marks({.pairs = 5, .block = 5, .tolerance = 1e-5, .compare = criterion::absolute}, 5);
  expect_marks({.pairs = 4, .which = spectrum_end::largest, .tolerance = 1e-5, .compare = criterion::absolute}, 0);
  if (std::string(GetParam()) != "lobpcg")
    expect_marks({.pairs = 8, .which = spectrum_end::both, .tolerance = 1e-5, .compare = criterion::absolute}, 4);
}

TEST_P(every_eigensolver, says_that_it_is_known_by_its_name) {
  EXPECT_EQ(eigensolver_named(GetParam()).name, GetParam());
  EXPECT_NE(message_of([] { (void)eigensolver_named("arnoldi"); }, error_kind::usage).find("no eigensolver 'arnoldi'"),
            std::string::npos);
}

class lagging_eigensolver : public every_eigensolver {};
INSTANTIATE_TEST_SUITE_P(all, lagging_eigensolver, ::testing::Values("lobpcg", "chebyshev"));

TEST_P(lagging_eigensolver, finds_the_same_with_a_few_iterations_more) {
  const csr_matrix a = generate("lap2d:25");
  eigen_options o{.pairs = 3, .tolerance = 1e-8};
  std::vector<double> at_once, later;
  o.report = [&](const eigen_progress& now) { at_once.push_back(now.largest_residual); };
  const eigenpairs prompt = solve(a, o);
  o.lag = 3;
  o.report = [&](const eigen_progress& now) { later.push_back(now.largest_residual); };
  const eigenpairs lagging = solve(a, o);
  expect_pairs(a, o, lagging, known_lowest("lap2d:25", 3), 1e-8);
  EXPECT_EQ(lagging.loop.iterations - std::ssize(later), prompt.loop.iterations - std::ssize(at_once) + 3);
  // Iterations are the same ones, until LOBPCG multiplies its products again behind the 20th, or later by the lag. From
  // there on they differ by rounding, and the last one may be another.
  for (std::size_t k = 0; k < std::min<std::size_t>(at_once.size(), 19); ++k) EXPECT_EQ(at_once[k], later[k]) << k;
  EXPECT_NEAR(static_cast<double>(at_once.size()), static_cast<double>(later.size()), 3);
  o.max_iterations = 5;
  EXPECT_EQ(solve(a, o).loop.iterations, 5);
}

TEST(lanczos_options, are_refused_where_it_has_none) {
  runtime rt(testing::host_only());
  const csr_matrix a = generate("lap2d:20"), mass = generate("lap2d:20");
  EXPECT_NE(message_of([&] { lanczos(rt, a, {.lag = 1}); }, error_kind::usage).find("takes no lag"), std::string::npos);
  EXPECT_NE(message_of([&] { lanczos(rt, a, {.mass = &mass}); }, error_kind::input)
                .find("Lanczos takes a diagonal mass matrix, and element (1, 2) is -1"),
            std::string::npos);
  EXPECT_NE(message_of([&] { lobpcg(rt, a, {.orthogonal = reorthogonalization::selective}); }, error_kind::usage)
                .find("LOBPCG takes no choice of reorthogonalization"),
            std::string::npos);
}

/// The last two of a cluster, whose others are deflated: steps are tiny there, and what rounding has left of deflated
/// directions in them had grown until the iteration was lost.
TEST(deflating_lobpcg, stays_beside_deflated_vectors_of_a_cluster) {
  runtime rt(testing::host_only());
  constexpr std::int64_t n = 100, in_cluster = 24, known = 22;
  const auto value = [](std::int64_t i) {
    return i < in_cluster ? 1 + 4e-11 * static_cast<double>(i) : 2 + 0.013 * static_cast<double>(i);
  };
  // Eigenvectors are those of a matrix of random numbers.
  small_table vectors(n, n);
  vectors.numbers = random_start(n * n, 7);
  (void)diagonalize(vectors);
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < n; ++i)
    for (std::int32_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < n; ++k) sum += vectors(i, k) * value(k) * vectors(j, k);
      entries.push_back({i, j, sum});
      if (i != j) entries.push_back({j, i, sum});
    }
  const csr_matrix a = matrix_of("a cluster", n, n, entries);
  eigen_options o{.pairs = 2, .block = 4, .tolerance = 0, .compare = criterion::norm, .max_iterations = 200};
  for (std::int32_t i = 0; i < n; ++i) {
    for (std::int64_t k = 0; k < known; ++k) o.deflate.push_back(vectors(i, k));
    for (const std::int64_t k : {84, 93, 78, 30}) o.guess.push_back(vectors(i, k));
  }
  for (o.seed = 1; o.seed <= 5; ++o.seed) {
    SCOPED_TRACE(o.seed);
    expect_pairs(a, o, lobpcg(rt, a, o), {value(known), value(known + 1)}, 1e-12);
  }
}

TEST(selective_lanczos, finds_the_same_pairs_with_fewer_operations) {
  runtime rt(testing::host_only());
  for (const char* name : {"lap2d:30", "hs:12"}) {
    const csr_matrix a = generate(name);
    eigen_options o{.pairs = 6, .block = 6, .tolerance = 1e-9, .orthogonal = reorthogonalization::selective};
    expect_pairs(a, o, lanczos(rt, a, o), known_lowest(name, 6), 1e-8);
  }
  // A matrix with a few levels only: random vectors step in, and what they cost of orthogonality is found out.
  const csr_matrix levels = diagonal(300, [](std::int32_t i) { return static_cast<double>(i % 3); });
  const eigen_options o{.pairs = 5, .orthogonal = reorthogonalization::selective};
  expect_pairs(levels, o, lanczos(rt, levels, o), {0, 0, 0, 0, 0}, 1e-8);
}

TEST(selective_lanczos, goes_on_in_full_where_estimates_are_not_confirmed) {
  // Values far from all others converge within a cycle: then the blocks behind are not orthogonal to their vectors.
  runtime rt(testing::host_only());
  const csr_matrix far = diagonal(1200, [](std::int32_t i) { return i < 4 ? 70.0 - i * (i + 1) * 2 : 1e-3 * i; });
  std::vector<int> told;
  const eigen_options o{.pairs = 4,
                        .which = spectrum_end::largest,
                        .tolerance = 1e-8,
                        .max_iterations = 100,
                        .orthogonal = reorthogonalization::selective,
                        .report = [&](const eigen_progress& now) { told.push_back(now.iteration); }};
  const eigenpairs found = lanczos(rt, far, o);
  expect_pairs(far, o, found, {70, 66, 58, 46}, 1e-6);
  // Restarts in full are numbered on.
  std::vector<int> counted(static_cast<std::size_t>(found.loop.iterations));
  std::iota(counted.begin(), counted.end(), 1);
  EXPECT_EQ(told, counted);
}

TEST(lanczos_seconds, count_the_first_cycle) {
  runtime rt(testing::host_only());
  const eigenpairs found = lanczos(rt, generate("lap2d:30"), {.pairs = 2, .max_iterations = 1});
  EXPECT_EQ(found.loop.iterations, 1);
  EXPECT_GT(found.loop.seconds, 0);
}

TEST(preconditioned_lobpcg, needs_fewer_iterations) {
  runtime rt(testing::host_only());
  // Points that are joined strongly in eights, and weakly from one eight to the next.
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < 799; ++i) {
    const double joint = i % 16 == 15 ? 1 : 400;
    entries.push_back({i, i, joint}), entries.push_back({i + 1, i + 1, joint});
    entries.push_back({i, i + 1, -joint}), entries.push_back({i + 1, i, -joint});
  }
  for (std::int32_t i = 0; i < 800; ++i) entries.push_back({i, i, 0.1 + 0.01 * i});
  const csr_matrix a = matrix_of("eights", 800, 800, entries);
  const auto iterations = [&](const csr_matrix& of, preconditioning how, spectrum_end end) {
    const eigen_options o{.pairs = 3, .which = end, .tolerance = 1e-7, .precondition = how};
    const eigenpairs found = lobpcg(rt, of, o);
    EXPECT_TRUE(found.converged()) << static_cast<int>(how);
    expect_residuals(of, found);
    return found.loop.iterations;
  };
  using enum preconditioning;
  const int plain = iterations(a, none, spectrum_end::smallest);
  EXPECT_LT(iterations(a, block_jacobi, spectrum_end::smallest) * 2, plain);
  EXPECT_LT(iterations(a, chebyshev, spectrum_end::smallest) * 2, plain);
  // An indefinite matrix, and the other end.
  const csr_matrix ring = generate("xxz:12");
  for (const spectrum_end end : {spectrum_end::smallest, spectrum_end::largest})
    EXPECT_LT(iterations(ring, chebyshev, end) * 3, iterations(ring, none, end) * 2);
  EXPECT_EQ(iterations(diagonal(100, [](std::int32_t) { return 2.0; }), chebyshev, spectrum_end::smallest), 0);
}

TEST(preconditioned_lobpcg, shifts_an_indefinite_matrix) {
  runtime rt(testing::host_only());
  // By absolute values of the diagonal alone, the iterations of these are ten times as many, or have no end.
  for (const char* name : {"hs:10", "xxz:12"})
    for (const preconditioning how : {preconditioning::jacobi, preconditioning::block_jacobi})
      for (const spectrum_end end : {spectrum_end::smallest, spectrum_end::largest}) {
        const csr_matrix a = generate(name);
        const eigen_options o{.pairs = 2, .which = end, .max_iterations = 100, .precondition = how};
        const eigenpairs found = lobpcg(rt, a, o);
        EXPECT_TRUE(found.converged()) << name << " " << static_cast<int>(how) << " " << static_cast<int>(end);
        expect_residuals(a, found);
      }
}

TEST(preconditioning_choice, goes_by_the_diagonal) {
  using enum preconditioning;
  const csr_matrix even = generate("lap2d:9"), uneven = diagonal(9, [](std::int32_t i) { return 1.0 + i; });
  EXPECT_EQ(chosen_preconditioning(even, {}), none);
  EXPECT_EQ(chosen_preconditioning(uneven, {}), jacobi);
  for (const preconditioning asked : {none, jacobi, block_jacobi, chebyshev})
    EXPECT_EQ(chosen_preconditioning(uneven, {.precondition = asked}), asked);
  // With a mass matrix either diagonal counts.
  const csr_matrix both = diagonal(9, [](std::int32_t i) { return i - 3.5; });
  csr_matrix chain = generate("lap2d:3");
  EXPECT_EQ(chosen_preconditioning(generate("lap2d:3"), {.mass = &chain}), none);
  EXPECT_EQ(chosen_preconditioning(both, {.mass = &chain}), jacobi);
  chain.values[0] = 10;
  EXPECT_EQ(chosen_preconditioning(generate("lap2d:3"), {.mass = &chain}), jacobi);
  // A diagonal one divides.
  EXPECT_EQ(chosen_preconditioning(uneven, {.mass = &uneven}), none);
  EXPECT_EQ(chosen_preconditioning(both, {.mass = &uneven}), jacobi);
}

TEST(preconditioning_shift, brings_the_end_to_one_side_of_zero) {
  using enum spectrum_end;
  EXPECT_EQ(shift_for(3, smallest), 0);
  EXPECT_GT(-3 + shift_for(-3, smallest), 0);
  EXPECT_LT(3 + shift_for(3, largest), 0);
  EXPECT_EQ(shift_for(-3, largest), 0);
  EXPECT_FALSE(is_too_small(shift_for(-3, smallest), -3.5, smallest, 1e-9));
  EXPECT_TRUE(is_too_small(shift_for(-3, smallest), -7, smallest, 1e-9));
  EXPECT_TRUE(is_too_small(0, -1e-3, smallest, 1e-9));
  EXPECT_FALSE(is_too_small(0, 1, smallest, 1e-9));
  EXPECT_FALSE(is_too_small(0, -1e-18, smallest, 1e-14));  // as good as 0
}

/// Whatever ends a solution is told, and what has not converged is not called so.
TEST(stopped_solutions, say_which_criterion_it_was) {
  runtime rt(testing::host_only());
  const csr_matrix a = generate("lap2d:40");
  for (const eigensolver& by : eigensolvers()) {
    SCOPED_TRACE(by.name);
    eigen_options o{.pairs = 3, .tolerance = 1e-10};
    o.stop = stop::iterations(4) | stop::seconds(600);
    const eigenpairs early = by.solve(rt, a, o);
    EXPECT_FALSE(early.converged());
    EXPECT_EQ(early.loop.iterations, 4);
    EXPECT_EQ(early.stopped_by, "iterations >= 4");
    EXPECT_EQ(early.values.size(), 3u);
    int asked = 0;
    o.stop = stop::when("enough", [&](const solve_progress& now) {
      EXPECT_EQ(now.residuals.size(), 3u);
      EXPECT_EQ(now.right_sides.size(), 3u);
      return ++asked == 6;
    });
    EXPECT_EQ(by.solve(rt, a, o).stopped_by, "enough");
    EXPECT_EQ(asked, 6);
    // Small enough for the criterion, and not for the tolerance.
    o.stop = stop::relative_residual(0.1) | stop::iterations(1000);
    const eigenpairs rough = by.solve(rt, a, o);
    EXPECT_EQ(rough.stopped_by, "relative residual <= 0.1");
    EXPECT_FALSE(rough.converged());
    for (const eigenvalue& e : rough.values) EXPECT_LE(e.residual, 0.2 * std::abs(e.value));
    // One that never holds changes nothing.
    o.stop = stop::residual(0);
    const eigenpairs whole = by.solve(rt, a, o);
    EXPECT_TRUE(whole.converged());
    EXPECT_EQ(whole.stopped_by, "");
    expect_pairs(a, o, whole, known_lowest("lap2d:40", 3), 1e-7);
  }
}

TEST(stopped_solutions, report_as_others_do) {
  runtime rt(testing::host_only());
  const csr_matrix a = generate("lap2d:20");
  eigen_options o{.pairs = 2};
  int reports = 0;
  o.report = [&](const eigen_progress&) { ++reports; };
  o.stop = stop::iterations(5);
  EXPECT_EQ(lobpcg(rt, a, o).loop.iterations, 5);
  EXPECT_EQ(reports, 5);
}

/// Eigenvalues from 1 to 1e6: a preconditioner of one's own is what makes LOBPCG end soon.
TEST(own_preconditioners, are_operators) {
  runtime rt(testing::host_only());
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < 300; ++i) {
    entries.push_back({i, i, 2.5 + 1e4 * std::abs(std::sin(i))});
    if (i > 0) entries.push_back({i, i - 1, -1}), entries.push_back({i - 1, i, -1});
  }
  const csr_matrix a = matrix_of("A", 300, 300, entries);
  eigen_options o{.pairs = 2, .tolerance = 1e-9, .precondition = preconditioning::none};
  const eigenpairs alone = lobpcg(rt, a, o);
  o.preconditioner = 2 * linear_operator::jacobi(a);
  const eigenpairs with = lobpcg(rt, a, o);
  EXPECT_TRUE(with.converged());
  EXPECT_LT(with.loop.iterations, alone.loop.iterations / 2);
  if (alone.converged()) {
    EXPECT_NEAR(with.values[0].value, alone.values[0].value, 1e-6);
  }
  // Of a pencil with a diagonal mass it is one of the pencil's own form.
  std::vector<triplet> weights;
  for (std::int32_t i = 0; i < 300; ++i) weights.push_back({i, i, 1 + i / 300.0});
  const csr_matrix mass = matrix_of("B", 300, 300, weights);
  o.mass = &mass;
  const eigenpairs of_pencil = lobpcg(rt, a, o);
  EXPECT_TRUE(of_pencil.converged());
  o.preconditioner.reset();
  o.precondition = preconditioning::jacobi;
  EXPECT_NEAR(of_pencil.values[0].value, lobpcg(rt, a, o).values[0].value, 1e-6);
}

TEST(own_preconditioners, that_cannot_be_are_refused) {
  runtime rt(testing::host_only());
  const csr_matrix a = generate("lap2d:20"), small = generate("lap2d:3");
  eigen_options o{.pairs = 2};
  o.preconditioner = linear_operator::jacobi(small);
  EXPECT_NE(message_of([&] { (void)lobpcg(rt, a, o); }, error_kind::usage).find("is 9 x 9, and lap2d:20 has 400 rows"),
            std::string::npos);
  o.preconditioner = linear_operator::jacobi(a);
  for (const char* name : {"lanczos", "chebyshev"})
    EXPECT_NE(message_of([&] { (void)eigensolver_named(name).solve(rt, a, o); }, error_kind::usage)
                  .find("takes no preconditioner"),
              std::string::npos);
  const csr_matrix skew = matrix_of("skew", 400, 400, {{0, 1, 1}, {0, 0, 1}});
  o.preconditioner = skew;
  EXPECT_NE(message_of([&] { (void)lobpcg(rt, a, o); }, error_kind::input).find("the preconditioner is not symmetric"),
            std::string::npos);
}

}  // namespace
}  // namespace tessera::sparse
