// Solvers of A x = b against dense solutions, their criteria, and what they refuse.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/sparse.hpp"
#include "tests/integration/runtime/machines.hpp"
#include "tests/support/error_of.hpp"
#include "tests/unit/sparse/dense_matrix.hpp"

namespace tessera::sparse {
namespace {

using test_support::message_of;

using solver_function = linear_solution (*)(runtime&, const linear_operator&, std::span<const double>,
                                            const linear_solver_options&);

void expect_close(const std::vector<double>& seen, const std::vector<double>& expected, double part) {
  ASSERT_EQ(seen.size(), expected.size());
  double largest = 0;
  for (const double x : expected) largest = std::max(largest, std::abs(x));
  for (std::size_t k = 0; k < seen.size(); ++k) ASSERT_NEAR(seen[k], expected[k], part * largest) << k;
}

/// Norms of the columns of b - A x.
std::vector<double> residuals_of(const linear_operator& a, std::vector<double> b, const std::vector<double>& x) {
  const std::vector<double> ax = plain_product(*a.heaviest_matrix(), x);
  const std::size_t width = b.size() / static_cast<std::size_t>(a.rows());
  std::vector<double> norms(width, 0.0);
  for (std::size_t k = 0; k < b.size(); ++k) norms[k % width] += (b[k] - ax[k]) * (b[k] - ax[k]);
  for (double& norm : norms) norm = std::sqrt(norm);
  return norms;
}

struct solver_case {
  const char* name;
  solver_function solve;
  execution how;
  friend std::ostream& operator<<(std::ostream& to, const solver_case& of) {
    return to << of.name << (of.how == execution::fused ? ", fused" : ", at once");
  }
};

class linear_solvers : public ::testing::TestWithParam<solver_case> {
 protected:
  linear_solution solve(const linear_operator& of, const std::vector<double>& b, linear_solver_options o = {}) {
    o.program.how = GetParam().how, o.program.panel_rows = 20;
    return GetParam().solve(rt, of, b, o);
  }
  runtime rt{testing::host_only()};
  const csr_matrix a = generate("lap2d:11");
  const std::int64_t n = a.rows;
  const stop_criterion exact = stop::relative_residual(1e-12) | stop::iterations(2000);
};
INSTANTIATE_TEST_SUITE_P(all, linear_solvers,
                         ::testing::Values(solver_case{"conjugate gradients", conjugate_gradients, execution::fused},
                                           solver_case{"conjugate gradients", conjugate_gradients, execution::at_once},
                                           solver_case{"minres", minres, execution::fused},
                                           solver_case{"minres", minres, execution::at_once}));

TEST_P(linear_solvers, are_refused_while_the_thread_holds_a_view) {
  auto other = rt.make_array<double>("other", {4}, {4});
  fill(rt, other(0), 1.0);
  const std::vector<double> b = some_numbers(n, 1);
  {
    const auto seen = other(0).read();
    const std::string message = message_of([&] { solve(a, b, {.stop = exact}); }, error_kind::usage);
    EXPECT_NE(message.find("a sparse program begins while this thread holds host views of 1 block"), std::string::npos)
        << message;
  }
  EXPECT_TRUE(solve(a, b, {.stop = exact}).converged());
}

TEST(programs, that_end_under_a_view_stay_and_say_so) {
  runtime rt(testing::host_only());
  const csr_matrix a = generate("lap2d:11");
  auto other = rt.make_array<double>("other", {4}, {4});
  fill(rt, other(0), 1.0);
  {
    std::optional<program> held(std::in_place, rt, a);
    const auto seen = other(0).read();
    held.reset();
  }
  const std::string message = message_of([&] { rt.fence(); }, error_kind::usage);
  EXPECT_NE(message.find("was ended while its thread held host views"), std::string::npos) << message;
}

TEST(linear_operators, and_criteria_that_were_moved_are_what_they_were) {
  const csr_matrix a = generate("lap2d:3");
  linear_operator first(a);
  const linear_operator second = std::move(first);
  EXPECT_EQ(first.rows(), second.rows());  // NOLINT(bugprone-use-after-move): that is what is tested
  stop_criterion limit = stop::iterations(3);
  const stop_criterion moved = std::move(limit);
  EXPECT_EQ(limit.text(), moved.text());  // NOLINT(bugprone-use-after-move)
}

TEST_P(linear_solvers, find_what_elimination_finds) {
  std::vector<double> b = some_numbers(n * 4, 1);
  for (std::size_t k = 1; k < b.size(); k += 4) b[k] = 0;              // a column of zeros
  for (std::size_t k = 2; k < b.size(); k += 4) b[k] *= 1e6;           // a large one
  for (std::size_t k = 3; k < b.size(); k += 4) b[k] = k < 4 ? 1 : 0;  // and one of few entries
  const linear_solution found = solve(a, b, {.stop = exact});
  EXPECT_TRUE(found.converged());
  EXPECT_EQ(found.stopped.by, "relative residual <= 1e-12");
  const std::vector<double> expected = dense_matrix(a).solve(b);
  for (std::size_t j = 0; j < 4; ++j) {
    std::vector<double> column, dense;
    for (std::size_t k = j; k < b.size(); k += 4) column.push_back(found.x[k]), dense.push_back(expected[k]);
    SCOPED_TRACE(j);
    expect_close(column, dense, 1e-10);
  }
  expect_close(found.residuals, residuals_of(a, b, found.x), 0.5);
  EXPECT_GT(found.loop.iterations, 10);
  EXPECT_LT(found.loop.iterations, 100);
}

TEST_P(linear_solvers, go_faster_with_every_preconditioner) {
  // Elements of a diagonal from 1 to 1000.
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < 200; ++i) {
    entries.push_back({i, i, 2.5 + 1000 * std::abs(std::sin(i))});
    if (i > 0) entries.push_back({i, i - 1, -1}), entries.push_back({i - 1, i, -1});
  }
  const csr_matrix k = matrix_of("K", 200, 200, entries);
  const dense_matrix dense(k);
  const std::vector<double> b = some_numbers(400, 2), expected = dense.solve(b);
  const auto iterations = [&](std::optional<linear_operator> with) {
    const linear_solution found = solve(
        k, b, {.stop = stop::relative_residual(1e-10) | stop::iterations(2000), .preconditioner = std::move(with)});
    EXPECT_TRUE(found.converged()) << found.stopped.by;
    expect_close(found.x, expected, 1e-8);
    return found.loop.iterations;
  };
  const int alone = iterations(std::nullopt);
  EXPECT_LT(iterations(linear_operator::jacobi(k)), alone / 3);
  EXPECT_LT(iterations(linear_operator::block_jacobi(k, 10)), alone / 3);
  EXPECT_LT(iterations(linear_operator::chebyshev(k, {.pole = 0, .near = 30, .far = 1010, .degree = 12})), alone / 2);
  EXPECT_LT(iterations(0.5 * linear_operator::jacobi(k)), alone / 3);
  // A solution with a factor, which a task makes of all rows.
  const linear_operator factor = linear_operator::of_block(
      "solve", 200,
      [&](const operator_block& on) {
        const std::vector<double> x = dense.solve(std::vector<double>(on.x, on.x + on.rows * on.columns));
        std::copy(x.begin(), x.end(), on.y);
      },
      {.symmetric = true});
  EXPECT_LE(iterations(factor), 3);
}

TEST_P(linear_solvers, take_operators_that_are_put_together) {
  const csr_matrix m = matrix_of("M", n, n, [&] {
    std::vector<triplet> entries;
    for (std::int32_t i = 0; i < n; ++i) entries.push_back({i, i, 1 + 0.5 * std::sin(i)});
    return entries;
  }());
  const std::vector<double> b = some_numbers(n, 1);
  const dense_matrix dense = dense_matrix(a).plus(0.3, dense_matrix(m));
  expect_close(solve(shifted(a, -0.3, m), b, {.stop = exact}).x, dense.solve(b), 1e-10);
  // A^2, whose symmetry is not known before it is measured.
  expect_close(solve(linear_operator(a) * a, b, {.stop = stop::relative_residual(1e-10) | stop::iterations(2000)}).x,
               dense_matrix(a).times(dense_matrix(a)).solve(b), 1e-6);
  // Rows by a function, without a matrix.
  const linear_operator line = linear_operator::of_rows(
      {.name = "line",
       .rows = 60,
       .multiply =
           [](const operator_rows& r) {
             for (std::int64_t i = r.rows.begin; i < r.rows.end; ++i)
               for (std::int64_t j = 0; j < r.columns; ++j) {
                 const auto x = [&](std::int64_t row) {
                   return row < 0 || row >= 60 ? 0 : r.x[(row - r.from.begin) * r.columns + j];
                 };
                 r.y[(i - r.rows.begin) * r.columns + j] = 2.1 * x(i) - x(i - 1) - x(i + 1);
               }
           },
       .reads =
           [](row_range rows) {
             return row_range{std::max<std::int64_t>(rows.begin - 1, 0), std::min<std::int64_t>(rows.end + 1, 60)};
           }});
  dense_matrix of_line(60);
  for (std::size_t i = 0; i < 60; ++i) {
    of_line(i, i) = 2.1;
    if (i > 0) of_line(i, i - 1) = of_line(i - 1, i) = -1;
  }
  const std::vector<double> few = some_numbers(120, 3);
  expect_close(solve(line, few, {.stop = exact}).x, of_line.solve(few), 1e-10);
}

TEST_P(linear_solvers, begin_with_a_guess) {
  const std::vector<double> b = some_numbers(n * 2, 1), x = dense_matrix(a).solve(b);
  const linear_solution none = solve(a, b, {.guess = x});
  EXPECT_EQ(none.loop.iterations, 0);
  EXPECT_EQ(none.x, x);
  std::vector<double> near = x;
  for (std::size_t k = 0; k < near.size(); ++k) near[k] *= 1 + 1e-6 * std::sin(static_cast<double>(k));
  const int few = solve(a, b, {.guess = near}).loop.iterations;
  EXPECT_GT(few, 0);
  EXPECT_LT(few, solve(a, b).loop.iterations);
}

TEST_P(linear_solvers, stop_by_the_criterion_that_holds_and_say_which) {
  const std::vector<double> b = some_numbers(n, 1);
  const auto by = [&](const stop_criterion& stop) { return solve(a, b, {.stop = stop}); };
  linear_solution found = by(stop::residual(1e-3) | stop::iterations(500));
  EXPECT_TRUE(found.converged());
  EXPECT_EQ(found.stopped.by, "residual <= 0.001");
  EXPECT_LE(found.residuals[0], 1e-3);
  found = by(stop::residual_reduction(0.01) | stop::iterations(500));
  EXPECT_LE(found.residuals[0], 0.01 * std::sqrt(std::inner_product(b.begin(), b.end(), b.begin(), 0.0)));
  EXPECT_EQ(found.stopped.by, "residual <= 0.01 of the first");
  found = by(stop::relative_residual(1e-12) | stop::iterations(5));
  EXPECT_FALSE(found.converged());
  EXPECT_EQ(found.stopped.by, "iterations >= 5");
  EXPECT_EQ(found.loop.iterations, 5);
  EXPECT_EQ(found.x.size(), b.size());
  found = by((stop::residual(1e300) & stop::iterations(7)) | stop::iterations(500));
  EXPECT_TRUE(found.converged());
  EXPECT_EQ(found.loop.iterations, 7);
  EXPECT_EQ(found.stopped.by, "residual <= 1e+300 and iterations >= 7");
  found = by(stop::seconds(0));
  EXPECT_FALSE(found.converged());
  EXPECT_EQ(found.loop.iterations, 0);
  found = by(stop::relative_change(1e-9) | stop::iterations(500));
  EXPECT_EQ(found.stopped.by, "relative change <= 1e-09");
  expect_close(found.x, dense_matrix(a).solve(b), 1e-6);
  int asked = 0;
  found = by(stop::when("the third time",
                        [&](const solve_progress& now) {
                          EXPECT_EQ(now.iteration, asked < 4 ? asked : now.iteration);
                          return ++asked > 3;
                        }) |
             stop::iterations(500));
  EXPECT_EQ(found.stopped.by, "the third time");
  EXPECT_EQ(found.loop.iterations, 3);
}

TEST_P(linear_solvers, report_each_iteration) {
  std::vector<int> seen;
  std::vector<double> last;
  const std::vector<double> b = some_numbers(n * 2, 1);
  const linear_solution found = solve(a, b, {.stop = exact, .report = [&](const solve_progress& now) {
                                               seen.push_back(now.iteration);
                                               last.assign(now.residuals.begin(), now.residuals.end());
                                               EXPECT_EQ(now.right_sides.size(), 2u);
                                             }});
  for (int k = 0; k <= found.loop.iterations; ++k) EXPECT_NE(std::find(seen.begin(), seen.end(), k), seen.end()) << k;
  EXPECT_EQ(last, found.residuals);
}

TEST_P(linear_solvers, are_exact_for_right_sides_whose_squares_are_no_doubles) {
  const std::vector<double> b = some_numbers(n, 1), x = dense_matrix(a).solve(b);
  for (const double factor : {1e-200, 1e200, 1e-290}) {
    std::vector<double> scaled = b, expected = x;
    for (double& number : scaled) number *= factor;
    for (double& number : expected) number *= factor;
    const linear_solution found = solve(a, scaled, {.stop = exact});
    EXPECT_TRUE(found.converged()) << factor;
    EXPECT_GT(found.loop.iterations, 10);
    expect_close(found.x, expected, 1e-10);
  }
}

TEST_P(linear_solvers, say_when_rounding_leaves_nothing_to_gain) {
  const linear_solution found = solve(a, some_numbers(n, 1), {.stop = stop::residual(0) | stop::iterations(100'000)});
  EXPECT_FALSE(found.converged());
  EXPECT_NE(found.stopped.by.find("rounding"), std::string::npos) << found.stopped.by;
  EXPECT_LT(found.residuals[0], 1e-12);
}

TEST_P(linear_solvers, refuse_what_does_not_fit) {
  const std::vector<double> b = some_numbers(n, 1);
  const auto usage = [](const auto& call) { return message_of(call, error_kind::usage); };
  const auto input = [](const auto& call) { return message_of(call, error_kind::input); };
  EXPECT_NE(usage([&] { solve(a, {}); }).find("the right side has 0 numbers, and the operator 121 rows"),
            std::string::npos);
  EXPECT_NE(usage([&] { solve(a, some_numbers(n + 1, 1)); }).find("122 numbers"), std::string::npos);
  EXPECT_NE(usage([&] { solve(a, b, {.guess = {1, 2}}); }).find("the guess has 2 numbers"), std::string::npos);
  EXPECT_NE(usage([&] { solve(a, b, {.stop = stop::residual(1e-8)}); }).find("may never stop: residual <= 1e-08"),
            std::string::npos);
  EXPECT_NE(usage([&] { solve(a, b, {.preconditioner = linear_operator::identity(3)}); }).find("1 is 3 x 3"),
            std::string::npos);
  std::vector<double> bad = b;
  bad[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(input([&] { solve(a, bad); }).find("number 4 of the right side is nan"), std::string::npos);
  EXPECT_NE(input([&] { solve(a, b, {.guess = bad}); }).find("number 4 of the guess is nan"), std::string::npos);
  const csr_matrix wide = matrix_of("wide", 3, 4, {{0, 0, 1}});
  EXPECT_NE(input([&] { solve(wide, {1, 2, 3}); }).find("3 x 4, not square"), std::string::npos);
}

TEST_P(linear_solvers, refuse_operators_that_are_not_symmetric) {
  const std::vector<double> b = some_numbers(n, 1);
  const csr_matrix skew = some_matrix(n, 1, "skew");
  const auto input = [](const auto& call) { return message_of(call, error_kind::input); };
  EXPECT_NE(input([&] { solve(skew, b); }).find("the matrix is not symmetric: ("), std::string::npos);
  EXPECT_NE(input([&] { solve(a + skew, b); }).find("the operator is not symmetric: for two random vectors"),
            std::string::npos);
  EXPECT_NE(input([&] {
              solve(a, b, {.preconditioner = linear_operator(a) * skew});
            }).find("the preconditioner is not symmetric"),
            std::string::npos);
}

TEST_P(linear_solvers, refuse_preconditioners_that_are_not_positive_definite) {
  EXPECT_NE(message_of([&] { solve(a, some_numbers(n, 1), {.preconditioner = -linear_operator::jacobi(a)}); },
                       error_kind::input)
                .find("the preconditioner is not positive definite: r'M r is -"),
            std::string::npos);
}

TEST_P(linear_solvers, tell_of_operators_that_make_no_numbers) {
  int calls = 0;
  const linear_operator breaks = linear_operator::of_block(
      "breaks", n,
      [&](const operator_block& on) {
        const std::vector<double> y = dense_matrix(a).times({on.x, static_cast<std::size_t>(on.rows * on.columns)});
        std::copy(y.begin(), y.end(), on.y);
        if (++calls == 4) on.y[7] = std::numeric_limits<double>::quiet_NaN();
      },
      {.symmetric = true});
  const std::string message = message_of([&] { solve(breaks, some_numbers(n, 1)); }, error_kind::numerical);
  EXPECT_NE(message.find("behind iteration 3, column 1"), std::string::npos) << message;
  const linear_operator nothing = linear_operator::of_block("nothing", n, [](const operator_block& on) {
    std::fill_n(on.y, on.rows * on.columns, std::numeric_limits<double>::infinity());
  });
  EXPECT_NE(message_of([&] { solve(nothing, some_numbers(n, 1)); }, error_kind::numerical).find("not finite"),
            std::string::npos);
}

TEST_P(linear_solvers, tell_of_functions_that_forget_columns) {
  const auto first_column = [](const operator_block& on) {
    for (std::int64_t i = 0; i < on.rows; ++i) on.y[i * on.columns] = 2 * on.x[i * on.columns];
  };
  using maker =
      linear_operator (*)(std::string, std::int64_t, std::function<void(const operator_block&)>, const operator_facts&);
  for (const maker make : {maker{&linear_operator::of_block}, maker{&linear_operator::of_call}}) {
    const std::string measured =
        message_of([&] { solve(make("forgets", n, first_column, {}), some_numbers(n, 1)); }, error_kind::numerical);
    EXPECT_NE(measured.find("the operator makes numbers that are not finite"), std::string::npos) << measured;
    const linear_operator said = make("forgets", n, first_column, {.symmetric = true});
    EXPECT_TRUE(solve(said, some_numbers(n, 1)).converged());
    const std::string in_the_loop = message_of([&] { solve(said, some_numbers(2 * n, 1)); }, error_kind::numerical);
    EXPECT_NE(in_the_loop.find("column 2"), std::string::npos) << in_the_loop;
  }
}

TEST_P(linear_solvers, need_positive_definite_operators_or_do_not) {
  // Eigenvalues on both sides of 0.
  const linear_operator indefinite = shifted(a, 1.7);
  const std::vector<double> b = some_numbers(n * 2, 1);
  const std::vector<double> expected = dense_matrix(a).plus(-1.7, dense_matrix::identity(n)).solve(b);
  if (std::string(GetParam().name) == "minres") {
    const linear_solution found = solve(indefinite, b, {.stop = exact});
    EXPECT_TRUE(found.converged());
    expect_close(found.x, expected, 1e-10);
    const linear_solution with = solve(indefinite, b, {.stop = exact, .preconditioner = linear_operator::jacobi(a)});
    EXPECT_TRUE(with.converged());
    expect_close(with.x, expected, 1e-10);
  } else {
    EXPECT_NE(message_of([&] { solve(indefinite, b, {.stop = exact}); }, error_kind::input)
                  .find("the operator is not positive definite: d'A d is -"),
              std::string::npos);
  }
}

TEST(minres_alone, solves_kkt_systems_and_what_has_a_null_space) {
  runtime rt(testing::host_only());
  const csr_matrix kkt = generate("kkt3d:3");
  const std::vector<double> b = some_numbers(kkt.rows, 1);
  const linear_solution found = minres(rt, kkt, b, {.stop = stop::relative_residual(1e-10) | stop::iterations(2000)});
  EXPECT_TRUE(found.converged()) << found.stopped.by;
  expect_close(found.x, dense_matrix(kkt).solve(b), 1e-5);
  // The Laplacian of a graph: b has no part along its null vector.
  const csr_matrix graph = generate("rmat:6:4");
  std::vector<double> y = plain_product(graph, some_numbers(graph.rows, 2));
  const linear_solution of_graph = minres(rt, graph, y);
  EXPECT_TRUE(of_graph.converged());
  EXPECT_LE(of_graph.residuals[0], 1e-8 * std::sqrt(std::inner_product(y.begin(), y.end(), y.begin(), 0.0)));
}

TEST(solvers_with_several_workers, have_the_same_bits) {
  const csr_matrix a = generate("lap2d:40");
  const std::vector<double> b = some_numbers(a.rows * 2, 1);
  for (const solver_function solve : {solver_function{conjugate_gradients}, solver_function{minres}}) {
    std::vector<std::vector<double>> found;
    for (const unsigned workers : {1u, 3u}) {
      runtime rt(testing::host_only(workers));
      found.push_back(
          solve(rt, a, b, {.preconditioner = linear_operator::jacobi(a), .program = {.panel_rows = 100}}).x);
    }
    EXPECT_EQ(found[0], found[1]);
  }
}

TEST(solvers_on_devices, find_the_same) {
  const csr_matrix a = generate("lap2d:20");
  const std::vector<double> b = some_numbers(a.rows * 2, 1), expected = dense_matrix(a).solve(b);
  runtime rt(testing::with_sims(1, "1 MiB"));
  for (const solver_function solve : {solver_function{conjugate_gradients}, solver_function{minres}})
    for (const linear_operator& m : {linear_operator::jacobi(a), linear_operator::block_jacobi(a)}) {
      const linear_solution found = solve(rt, shifted(a, 0), b,
                                          {.stop = stop::relative_residual(1e-12) | stop::iterations(500),
                                           .preconditioner = m,
                                           .program = {.panel_rows = 50, .at = "sim0"}});
      EXPECT_TRUE(found.converged());
      expect_close(found.x, expected, 1e-10);
    }
}

}  // namespace
}  // namespace tessera::sparse
