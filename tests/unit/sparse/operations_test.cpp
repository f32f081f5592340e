// Operations of LAPACK on small matrices, preconditioners, and loops whose test lags.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "libraries/sparse/matrix/generate.hpp"
#include "tessera/sparse.hpp"
#include "tests/integration/runtime/machines.hpp"
#include "tests/support/error_of.hpp"

namespace tessera::sparse {
namespace {

using test_support::message_of;

class sparse_operations : public ::testing::TestWithParam<execution> {
 protected:
  void expect_near(const std::vector<double>& seen, const std::vector<double>& expected) {
    ASSERT_EQ(seen.size(), expected.size());
    for (std::size_t k = 0; k < seen.size(); ++k) EXPECT_NEAR(seen[k], expected[k], 1e-12) << k;
  }
  static void scale_by_two(const block_vector& x) { axpy(1.0, x, x); }
  small_matrix small(std::int64_t rows, std::int64_t columns, const std::vector<double>& numbers = {}) {
    small_matrix made = p.small("m" + std::to_string(count++), rows, columns);
    if (!numbers.empty()) made.set(numbers);
    return made;
  }
  runtime rt{testing::host_only()};
  csr_matrix a = generate("lap2d:17");
  program p{rt, a, {.how = GetParam(), .panel_rows = 40}};
  int count = 0;
};
INSTANTIATE_TEST_SUITE_P(both, sparse_operations, ::testing::Values(execution::fused, execution::at_once));

TEST_P(sparse_operations, factor_and_solve) {
  const small_matrix m = small(2, 2, {4, 99, 2, 10}), l = small(2, 2);
  potrf(m, l);
  expect_near(l.values(), {2, 0, 1, 3});
  const small_matrix left = small(2, 3), right = small(3, 2);
  trsm_small(l, small(2, 3, {2, 4, 6, 4, 8, 0}), left, factor_side::left);
  expect_near(left.values(), {1, 2, 3, 1, 2, -1});
  trsm_small(l, small(3, 2, {2, 4, 4, 8, 0, 3}), right, factor_side::right);
  expect_near(right.values(), {1, 1, 2, 2, 0, 1});
  trsm_small(l, right, right, factor_side::right);  // in place
  expect_near(right.values(), {0.5, 1.0 / 6, 1, 1.0 / 3, 0, 1.0 / 3});
}

TEST_P(sparse_operations, combine_blocks_that_are_listed) {
  block_vector x1 = p.vector("X1", 1), x2 = p.vector("X2", 1), y1 = p.vector("Y1", 1), y2 = p.vector("Y2", 1);
  x1.set(std::vector<double>(static_cast<std::size_t>(x1.rows()), 1.0));
  x2.set(std::vector<double>(static_cast<std::size_t>(x2.rows()), 2.0));
  const small_matrix c = small(2, 2, {1, 0, 1, 3});
  combine({x1, x2}, c, {y1, y2});
  EXPECT_EQ(y1.values()[7], 3);
  EXPECT_EQ(y2.values()[7], 6);
  combine({x1, x2}, c, {y1, y2}, 1);
  EXPECT_EQ(y2.values()[7], 12);
}

TEST_P(sparse_operations, make_a_block_orthonormal) {
  block_vector y = p.vector("Y", 2);
  std::vector<double> numbers;
  for (int k = 0; k < 578; ++k) numbers.push_back(std::sin(k * 0.7) + (k % 2));
  y.set(numbers);
  const small_matrix g = small(2, 2), x = small(2, 2, {1, 0, 0, 1});
  gram(y, y, g);
  potrf(g, g);
  // Y X with X L^T = 1.
  trsm_small(g, x, x, factor_side::right);
  combine(y, x, y);
  gram(y, y, g);
  expect_near(g.values(), {1, 0, 0, 1});
}

TEST_P(sparse_operations, find_singular_vectors) {
  for (const bool wide : {false, true}) {
    const std::int64_t m = wide ? 2 : 3, n = wide ? 3 : 2;
    const std::vector<double> numbers{3, 1, -2, 4, 0, 5};
    const small_matrix u = small(m, 2), s = small(1, 2), v = small(n, 2);
    svd(small(m, n, numbers), u, s, v);
    const std::vector<double> left = u.values(), values = s.values(), right = v.values();
    EXPECT_GE(values[0], values[1]);
    std::vector<double> again(6, 0.0), overlap(4, 0.0);
    for (std::size_t i = 0; i < static_cast<std::size_t>(m); ++i)
      for (std::size_t k = 0; k < 2; ++k) {
        for (std::size_t j = 0; j < static_cast<std::size_t>(n); ++j)
          again[i * static_cast<std::size_t>(n) + j] += left[i * 2 + k] * values[k] * right[j * 2 + k];
        for (std::size_t l = 0; l < 2; ++l) overlap[k * 2 + l] += left[i * 2 + k] * left[i * 2 + l];
      }
    expect_near(again, numbers);
    expect_near(overlap, {1, 0, 0, 1});
  }
}

TEST_P(sparse_operations, refuse_what_they_cannot_do) {
  const auto failure = [&](auto&& call) {
    return message_of(
        [&] {
          call();
          p.run();
        },
        error_kind::numerical);
  };
  EXPECT_NE(failure([&] {
              potrf(small(2, 2, {1, 0, 2, 1}), small(2, 2));
            }).find("not positive definite: pivot 2"),
            std::string::npos);
  EXPECT_NE(failure([&] {
              trsm_small(small(2, 2, {1, 0, 2, 0}), small(2, 2), small(2, 2), factor_side::left);
            }).find("element (2, 2) of the triangle is 0"),
            std::string::npos);
  const auto refusal = [&](auto&& call) { return message_of(call, error_kind::usage); };
  EXPECT_NE(refusal([&] { potrf(small(2, 3), small(2, 2)); }).find("2 x 3, and 2 x 2 is needed"), std::string::npos);
  EXPECT_NE(refusal([&] { svd(small(2, 3), small(2, 3), small(1, 2), small(3, 2)); }).find("2 x 2 is needed"),
            std::string::npos);
  const small_matrix l = small(2, 2);
  EXPECT_NE(refusal([&] { trsm_small(l, small(2, 2), l, factor_side::left); }).find("is the factor and the result"),
            std::string::npos);
  const small_matrix one = small(1, 1, {3}), other = small(1, 1, {1});
  for (const std::string& said :
       {refusal([&] { syevd(one, one, one); }), refusal([&] { sygvd(one, one, other, other); }),
        refusal([&] { svd(one, other, other, small(1, 1)); }), refusal([&] {
          small_operation("own", {}, std::array{one, one}, [](auto, auto) {});
        })})
    EXPECT_NE(said.find("is a destination twice"), std::string::npos) << said;
}

TEST_P(sparse_operations, have_no_factor_of_what_is_not_finite) {
  for (const double bad : {std::nan(""), HUGE_VAL})
    EXPECT_NE(message_of(
                  [&] {
                    potrf(small(2, 2, {1, 0, 0, bad}), small(2, 2));
                    p.run();
                  },
                  error_kind::numerical)
                  .find("pivot 2"),
              std::string::npos);
}

TEST_P(sparse_operations, apply_inverses_of_tiles) {
  const linear_operator m = linear_operator::block_jacobi(a, 17);  // a row of the square
  block_vector r = p.vector("R", 2), w = p.vector("W", 2);
  std::vector<double> numbers;
  for (int k = 0; k < 578; ++k) numbers.push_back(std::cos(k * 0.3));
  r.set(numbers);
  apply(m, r, w);
  apply(m, r, r);
  const std::vector<double> seen = w.values();
  EXPECT_EQ(r.values(), seen);
  // The tile is 4 on the diagonal and -1 beside it.
  for (std::size_t i = 0; i < 289; ++i)
    for (std::size_t j = 0; j < 2; ++j) {
      const double before = i % 17 != 0 ? seen[(i - 1) * 2 + j] : 0, behind = i % 17 != 16 ? seen[(i + 1) * 2 + j] : 0;
      EXPECT_NEAR(4 * seen[i * 2 + j] - before - behind, numbers[i * 2 + j], 1e-12);
    }
}

TEST_P(sparse_operations, apply_polynomials_that_are_near_the_inverse) {
  const std::vector<double> low = known_lowest("lap2d:17", 1);
  const linear_operator m = linear_operator::chebyshev(a, {.pole = 0, .near = low[0], .far = 8, .degree = 120});
  block_vector r = p.vector("R", 1), w = p.vector("W", 1), again = p.vector("AW", 1);
  r.set(std::vector<double>(289, 1.0));
  apply(m, r, w);
  apply(a, w, again);
  for (const double x : again.values()) EXPECT_NEAR(x, 1, 1e-6);
  const auto refused = [&](const inverse_polynomial& of) {
    return message_of([&] { (void)linear_operator::chebyshev(a, of); }, error_kind::usage).find("a polynomial of") !=
           std::string::npos;
  };
  EXPECT_TRUE(refused({.pole = 1, .near = 0, .far = 8}));
  EXPECT_TRUE(refused({.pole = 0, .near = 8, .far = 1}));
  EXPECT_TRUE(refused({.pole = 0, .near = 1, .far = 8, .degree = 0}));
}

TEST_P(sparse_operations, apply_polynomials_of_any_degree) {
  block_vector r = p.vector("R", 1), w = p.vector("W", 1), again = p.vector("AW", 1);
  r.set(std::vector<double>(289, 1.0));
  for (const int degree : {400, 2560}) {
    const linear_operator m = linear_operator::chebyshev(a, {.pole = 0, .near = 0.05, .far = 8, .degree = degree});
    apply(m, r, w);
    apply(a, w, again);
    for (const double x : again.values()) EXPECT_NEAR(x, 1, 1e-9) << degree;
  }
}

TEST_P(sparse_operations, apply_preconditioners_in_place_inside_of_each_other) {
  const linear_operator tiles = linear_operator::block_jacobi(a, 17);
  const linear_operator m =
      linear_operator::of_operations("own", 289, [&](const block_vector& from, const block_vector& to) {
        copy(from, to);
        apply(tiles, to, to);
        axpy(2, from, to);
      });
  block_vector r = p.vector("R", 1), w = p.vector("W", 1);
  r.set(std::vector<double>(289, 1.0));
  apply(m, r, w);
  apply(m, r, r);
  EXPECT_EQ(r.values(), w.values());
}

TEST_P(sparse_operations, apply_a_users_preconditioner) {
  block_vector r = p.vector("R", 1), w = p.vector("W", 1);
  const linear_operator m =
      linear_operator::of_operations("own", 289, [](const block_vector& from, const block_vector& to) {
        copy(from, to);
        axpy(2, from, to);
      });
  r.set(std::vector<double>(289, 1.0));
  apply(m, r, w), apply(m, r, r);
  EXPECT_EQ(w.values(), std::vector<double>(289, 3.0));
  EXPECT_EQ(r.values(), std::vector<double>(289, 3.0));
  EXPECT_NE(message_of([] { (void)linear_operator::of_operations("own", 289, nullptr); }, error_kind::usage)
                .find("no function"),
            std::string::npos);
}

/// The Laplacian of a line, without a matrix.
row_function line_operator(std::int64_t n) {
  return {.name = "line",
          .rows = n,
          .multiply =
              [n](const operator_rows& r) {
                for (std::int64_t i = r.rows.begin; i < r.rows.end; ++i)
                  for (std::int64_t j = 0; j < r.columns; ++j) {
                    const auto x = [&](std::int64_t row) {
                      return row < 0 || row >= n ? 0 : r.x[(row - r.from.begin) * r.columns + j];
                    };
                    r.y[(i - r.rows.begin) * r.columns + j] = 2 * x(i) - x(i - 1) - x(i + 1);
                  }
              },
          .reads =
              [n](row_range rows) {
                return row_range{std::max<std::int64_t>(rows.begin - 1, 0), std::min(rows.end + 1, n)};
              }};
}

TEST_P(sparse_operations, multiply_without_a_matrix) {
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < 289; ++i) {
    entries.push_back({i, i, 2});
    if (i > 0) entries.push_back({i, i - 1, -1}), entries.push_back({i - 1, i, -1});
  }
  const csr_matrix line = matrix_of("line", 289, 289, entries);
  const row_function f = line_operator(289);
  row_function of_all = f;  // reads all rows
  of_all.reads = nullptr;
  block_vector x = p.vector("X", 3), y = p.vector("Y", 3), z = p.vector("Z", 3);
  std::vector<double> numbers;
  for (int k = 0; k < 867; ++k) numbers.push_back(std::sin(k * 0.9));
  for (const linear_operator& by : {linear_operator::of_rows(f), linear_operator::of_rows(of_all)}) {
    // Twice in a row, so that a product follows what makes its source.
    x.set(numbers);
    apply(by, x, y), apply(by, y, x), scale_by_two(x);
    apply(line, x, y);
    const std::vector<double> seen = y.values();
    x.set(numbers);
    apply(line, x, z), apply(line, z, x), scale_by_two(x);
    apply(line, x, z);
    expect_near(seen, z.values());
  }
}

TEST(row_operators, make_no_program_inside_a_task) {
  runtime rt(testing::host_only(1));
  const csr_matrix a = generate("lap2d:5");
  program p(rt, a);
  const block_vector x = p.vector("X", 1), y = p.vector("Y", 1);
  row_function of_programs = line_operator(25);
  of_programs.multiply = [&](const operator_rows&) { program(rt, a); };
  apply(linear_operator::of_rows(of_programs), x, y);
  EXPECT_NE(message_of([&] { (void)y.values(); }, error_kind::usage).find("a sparse program inside a task"),
            std::string::npos);
}

TEST(sparse_tasks, that_end_a_program_are_told) {
  for (const unsigned workers : {1u, 2u}) {
    runtime rt(testing::host_only(workers));
    const csr_matrix a = generate("lap2d:5");
    auto p = std::make_unique<program>(rt, a);
    rt.submit("ends", [&] { p.reset(); });
    EXPECT_NE(message_of([&] { rt.fence(); }, error_kind::usage).find("was ended inside a task"), std::string::npos);
    EXPECT_NO_THROW(rt.fence());
  }
}

TEST(sparse_tasks, record_no_operations) {
  runtime rt(testing::host_only(1));
  const csr_matrix a = generate("lap2d:5");
  program p(rt, a);
  const block_vector x = p.vector("X", 1), y = p.vector("Y", 1);
  const small_matrix n = p.small("n", 1, 1);
  small_operation("records", {}, {&n, 1}, [&](auto, auto) { copy(x, y); });
  EXPECT_NE(message_of([&] { (void)n.values(); }, error_kind::usage).find("an operation of a sparse program inside"),
            std::string::npos);
}

TEST(row_operators, refuse_rows_that_are_not_there) {
  runtime rt(testing::host_only());
  const csr_matrix a = generate("lap2d:17");
  program p(rt, a, {.panel_rows = 40, .strip_rows = 16});
  const block_vector x = p.vector("X", 1), y = p.vector("Y", 1);
  row_function wrong = line_operator(289);
  wrong.reads = [](row_range rows) { return row_range{rows.begin - 1, rows.end + 1}; };
  const auto refusal = [&] {
    return message_of(
        [&] {
          apply(linear_operator::of_rows(wrong), x, y);
          p.run();
        },
        error_kind::usage);
  };
  EXPECT_NE(refusal().find("it reads rows -1 to"), std::string::npos);
  // A strip that wants more than its panel.
  wrong.reads = [](row_range rows) { return rows.end - rows.begin <= 16 ? row_range{0, 289} : rows; };
  EXPECT_NE(refusal().find("it reads rows 0 to 289, outside of"), std::string::npos);
  wrong.multiply = nullptr;
  EXPECT_NE(refusal().find("line has no function"), std::string::npos);
}

/// A loop that counts, in a small matrix.
class lagging_loops : public ::testing::Test {
 protected:
  void count() {
    small_operation("count", {&n, 1}, {&n, 1}, [](auto from, auto to) { to[0](0, 0) = from[0](0, 0) + 1; });
    axpy(1, one, sum);
  }
  runtime rt{testing::host_only()};
  csr_matrix a = generate("lap2d:17");
  program p{rt, a, {.panel_rows = 40}};
  small_matrix n = p.small("n", 1, 1), other = p.small("other", 1, 1);
  block_vector one = p.vector("one", 1), sum = p.vector("sum", 1);
};

TEST_F(lagging_loops, are_asked_about_each_iteration_while_later_ones_run) {
  std::vector<double> asked;
  const loop_outcome done = p.while_not(
      [&] {
        asked.push_back(n.values()[0]);
        return asked.back() == 5;
      },
      [&] { count(); }, {.lag = 2, .watched = {n}});
  EXPECT_EQ(asked, (std::vector<double>{0, 1, 2, 3, 4, 5}));
  EXPECT_TRUE(done.converged);
  EXPECT_EQ(done.iterations, 7);
  EXPECT_EQ(n.values()[0], 7);  // those that had begun have run
}

TEST_F(lagging_loops, run_no_more_iterations_than_they_may) {
  const loop_outcome done = p.while_not([&] { return n.values()[0] == 5; }, [&] { count(); },
                                        {.max_iterations = 4, .lag = 3, .watched = {n}});
  EXPECT_FALSE(done.converged);
  EXPECT_EQ(done.iterations, 4);
  EXPECT_EQ(n.values()[0], 4);
  // The start is asked about before anything begins.
  EXPECT_EQ(p.while_not([] { return true; }, [&] { count(); }, {.lag = 3}).iterations, 0);
}

TEST_F(lagging_loops, may_have_a_lag_that_is_longer_than_they_are) {
  std::vector<double> asked;
  const auto condition = [&] {
    asked.push_back(n.values()[0]);
    return false;
  };
  const loop_outcome done = p.while_not(condition, [&] { count(); },
                                        {.max_iterations = 4, .lag = std::numeric_limits<int>::max(), .watched = {n}});
  EXPECT_EQ(done.iterations, 4);
  EXPECT_EQ(asked, (std::vector<double>{0, 1, 2, 3, 4}));
}

TEST_F(lagging_loops, watch_small_matrices_of_their_own_program_alone) {
  program q(rt, a);
  const small_matrix foreign = q.small("foreign", 1, 1);
  for (const int lag : {0, 2})
    EXPECT_NE(
        message_of([&] { p.while_not([] { return false; }, [&] { count(); }, {.lag = lag, .watched = {foreign}}); },
                   error_kind::usage)
            .find("foreign, which is watched, belongs to another program"),
        std::string::npos);
}

TEST_F(lagging_loops, need_a_condition_and_a_body) {
  EXPECT_NE(message_of([&] { p.while_not(nullptr, [&] { count(); }); }, error_kind::usage).find("no condition"),
            std::string::npos);
  EXPECT_NE(message_of([&] { p.while_not([] { return false; }, nullptr); }, error_kind::usage).find("no body"),
            std::string::npos);
}

TEST_F(lagging_loops, do_what_is_recorded_behind_an_iteration_before_the_next_that_begins) {
  const auto behind = [&](int k) {
    if (k == 2) small_operation("far", {&n, 1}, {&n, 1}, [](auto from, auto to) { to[0](0, 0) = from[0](0, 0) + 100; });
  };
  std::vector<double> asked;
  p.while_not(
      [&] {
        asked.push_back(n.values()[0]);
        return asked.size() == 6;
      },
      [&] { count(); }, {.after_each = behind, .lag = 1, .watched = {n}});
  EXPECT_EQ(asked, (std::vector<double>{0, 1, 2, 3, 104, 105}));
}

TEST_F(lagging_loops, refuse_values_that_later_iterations_change) {
  const auto asking_for = [&](auto&& value) {
    int asked = 0;
    return message_of(
        [&] {
          p.while_not(
              [&] {
                if (asked++ == 1) (void)value();
                return false;
              },
              [&] { count(); }, {.max_iterations = 3, .lag = 1, .watched = {n}});
        },
        error_kind::usage);
  };
  EXPECT_NE(asking_for([&] { return other.values(); }).find("list small matrices in loop_options::watched"),
            std::string::npos);
  EXPECT_NE(asking_for([&] { return sum.values(); }).find("later iterations are under way"), std::string::npos);
  EXPECT_NE(message_of([&] { p.while_not([] { return false; }, [&] { count(); }, {.lag = -1}); }, error_kind::usage)
                .find("the lag is -1"),
            std::string::npos);
  EXPECT_EQ(other.values()[0], 0);  // the program goes on
}

TEST_F(lagging_loops, hand_on_what_an_iteration_throws) {
  EXPECT_NE(message_of(
                [&] {
                  p.while_not([&] { return n.values()[0] > 50; },
                              [&] {
                                small_operation("fail", {&n, 1}, {&n, 1}, [](auto from, auto to) {
                                  if (from[0](0, 0) == 3) throw error(error_kind::numerical, "three", "the test");
                                  to[0](0, 0) = from[0](0, 0) + 1;
                                });
                              },
                              {.lag = 2, .watched = {n}});
                },
                error_kind::numerical)
                .find("three"),
            std::string::npos);
}

}  // namespace
}  // namespace tessera::sparse
