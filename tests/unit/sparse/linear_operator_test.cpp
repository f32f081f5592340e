// Linear operators: sums, products, multiples and transposes against dense matrices, in both executions.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "tessera/sparse.hpp"
#include "tests/integration/runtime/machines.hpp"
#include "tests/support/error_of.hpp"
#include "tests/unit/sparse/dense_matrix.hpp"

namespace tessera::sparse {
namespace {

using test_support::message_of;

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

class linear_operators : public ::testing::TestWithParam<execution> {
 protected:
  static constexpr std::int64_t n = 45, columns = 3;

  void expect_values(const block_vector& made, const std::vector<double>& expected) {
    const std::vector<double> seen = made.values();
    ASSERT_EQ(seen.size(), expected.size());
    for (std::size_t k = 0; k < seen.size(); ++k) ASSERT_NEAR(seen[k], expected[k], 1e-11) << k;
  }
  /// Y = A X, its transpose, alpha A X + beta Y, and X = A X.
  void expect_like(const linear_operator& op, const dense_matrix& dense) {
    SCOPED_TRACE(op.name());
    const std::vector<double> numbers = some_numbers(n * columns, 1), others = some_numbers(n * columns, 2);
    x.set(numbers), y.set(std::vector<double>(numbers.size(), no_number));
    apply(op, x, y);
    expect_values(y, dense.times(numbers));
    apply(op.transposed(), x, y);
    expect_values(y, dense.transposed().times(numbers));
    std::vector<double> expected = dense.times(numbers);
    for (std::size_t k = 0; k < expected.size(); ++k) expected[k] = 0.5 * expected[k] - 2 * others[k];
    y.set(others);
    apply(0.5, op, x, -2, y);
    expect_values(y, expected);
    apply(op, x, x);
    expect_values(x, dense.times(numbers));
    apply(3, op, x, 0.25, x);
    expected = dense.times(dense.times(numbers));
    const std::vector<double> once = dense.times(numbers);
    for (std::size_t k = 0; k < expected.size(); ++k) expected[k] = 3 * expected[k] + 0.25 * once[k];
    expect_values(x, expected);
  }

  runtime rt{testing::host_only()};
  csr_matrix a = some_matrix(n, 0.3, "A"), b = some_matrix(n, 1.1, "B"), c = some_matrix(n, 2.7, "C");
  dense_matrix da{a}, db{b}, dc{c}, one = dense_matrix::identity(n);
  program p{rt, a, {.how = GetParam(), .panel_rows = 7, .strip_rows = 3}};
  block_vector x = p.vector("X", columns), y = p.vector("Y", columns);
};
INSTANTIATE_TEST_SUITE_P(both, linear_operators, ::testing::Values(execution::fused, execution::at_once));

TEST_P(linear_operators, are_matrices) { expect_like(a, da); }

TEST_P(linear_operators, are_sums_and_multiples) {
  expect_like(linear_operator(a) + b, da.plus(1, db));
  expect_like(linear_operator(a) - 0.5 * linear_operator(b) + 2 * linear_operator(c), da.plus(-0.5, db).plus(2, dc));
  expect_like(-(3 * linear_operator(a)), dense_matrix(n).plus(-3, da));
  expect_like(0 * linear_operator(a), dense_matrix(n));
  expect_like(shifted(a, 1.5), da.plus(-1.5, one));
  expect_like(shifted(a, -0.25, b), da.plus(0.25, db));
  // Two matrices are operators where they are added up.
  const linear_operator sum = a + b, difference = a - 2 * c;
  expect_like(sum - difference, db.plus(2, dc));
}

TEST_P(linear_operators, are_products) {
  expect_like(linear_operator(a) * b, da.times(db));
  expect_like(linear_operator(a) * b * c, da.times(db).times(dc));
  expect_like(linear_operator(a) * (b - 2 * linear_operator(c)) + linear_operator::identity(n),
              da.times(db.plus(-2, dc)).plus(1, one));
  expect_like(linear_operator(a).transposed() * a, da.transposed().times(da));
}

TEST_P(linear_operators, are_diagonals) {
  const std::vector<double> d = some_numbers(n, 3);
  dense_matrix dense(n);
  for (std::size_t i = 0; i < d.size(); ++i) dense(i, i) = d[i];
  expect_like(linear_operator::diagonal(d), dense);
  expect_like(linear_operator::diagonal(d) * a - 0.5 * linear_operator::diagonal(d), dense.times(da).plus(-0.5, dense));
  expect_like(linear_operator::identity(n), one);
}

/// B by a function of rows, which may be any.
linear_operator by_rows(const dense_matrix& dense) {
  return linear_operator::of_rows(
      {.name = "rows", .rows = static_cast<std::int64_t>(dense.n), .multiply = [dense](const operator_rows& r) {
         for (std::int64_t i = r.rows.begin; i < r.rows.end; ++i)
           for (std::int64_t j = 0; j < r.columns; ++j) {
             double sum = 0;
             for (std::size_t k = 0; k < dense.n; ++k)
               sum += dense(static_cast<std::size_t>(i), k) * r.x[static_cast<std::int64_t>(k) * r.columns + j];
             r.y[(i - r.rows.begin) * r.columns + j] = sum;
           }
       }});
}

/// B by one task for all rows.
linear_operator by_block(const dense_matrix& dense) {
  return linear_operator::of_block("block", static_cast<std::int64_t>(dense.n), [dense](const operator_block& on) {
    const std::vector<double> made = dense.times({on.x, static_cast<std::size_t>(on.rows * on.columns)});
    std::copy(made.begin(), made.end(), on.y);
  });
}

TEST_P(linear_operators, are_functions_with_a_transpose_that_is_given) {
  for (const auto make : {by_rows, by_block}) {
    const linear_operator of_b = make(db).with_transposed(make(db.transposed()));
    expect_like(of_b, db);
    expect_like(of_b.transposed(), db.transposed());
    expect_like(linear_operator(a) * of_b - 3 * of_b, da.times(db).plus(-3, db));
  }
}

TEST_P(linear_operators, of_functions_have_no_transpose_that_nobody_gave) {
  const linear_operator f = by_rows(db);
  EXPECT_NE(message_of([&] { (void)(a + f).transposed(); }, error_kind::usage).find("the transpose of a function"),
            std::string::npos);
  const linear_operator symmetric =
      linear_operator::of_block("S", n, [](const operator_block&) {}, {.symmetric = true});
  EXPECT_EQ(&symmetric.transposed().inside(), &symmetric.inside());
}

TEST_P(linear_operators, by_tasks_follow_what_makes_their_source_and_come_before_what_reads_what_they_make) {
  const linear_operator twice = linear_operator::of_tasks("twice", n, [](const operator_tasks& on) {
    EXPECT_EQ(on.x.rows(), n);
    EXPECT_EQ(on.x.columns(), columns);
    EXPECT_EQ(on.x.rows_of(0).begin, 0);
    EXPECT_EQ(on.y.rows_of(on.y.size() - 1).end, n);
    for (std::size_t k = on.x.size(); k-- > 0;) {
      const block_access uses[] = {on.x.use(k, intent::read), on.y.use(k, intent::write)};
      on.rt.submit(
          "twice",
          [](task_blocks blocks) {
            const auto from = blocks.get<const double>(0);
            const auto to = blocks.get<double>(1);
            for (std::int64_t i = 0; i < from.size(); ++i) to.data()[i] = 2 * from.data()[i];
          },
          std::span<const block_access>(uses));
    }
  });
  const std::vector<double> numbers = some_numbers(n * columns, 1);
  x.set(numbers);
  const block_vector z = p.vector("Z", columns);
  apply(a, x, y);      // y = A x
  apply(twice, y, z);  // z = 2 A x
  axpy(1, x, y);       // overwrites what it read: y = A x + x
  apply(b, z, x);      // reads other panels of what it made: x = 2 B A x
  apply(twice, y, z);  // z = 2 A x + 2 x
  expect_values(x, db.times(da).plus(1, db.times(da)).times(numbers));
  expect_values(y, da.plus(1, one).times(numbers));
  expect_values(z, da.plus(1, da).plus(2, one).times(numbers));
}

TEST_P(linear_operators, in_a_loop_are_recorded_once) {
  int submissions = 0;
  const linear_operator counted = linear_operator::of_tasks("counted", n, [&](const operator_tasks& on) {
    ++submissions;
    std::vector<block_access> uses = on.x.all(intent::read);
    for (const block_access& use : on.y.all(intent::write)) uses.push_back(use);
    on.rt.submit(
        "add one",
        [](task_blocks blocks) {
          const std::size_t panels = blocks.size() / 2;
          for (std::size_t k = 0; k < panels; ++k) {
            const auto from = blocks.get<const double>(k);
            const auto to = blocks.get<double>(panels + k);
            for (std::int64_t i = 0; i < from.size(); ++i) to.data()[i] = from.data()[i] + 1;
          }
        },
        uses);
  });
  x.set(std::vector<double>(n * columns, 0.0));
  const loop_outcome done =
      p.while_not([] { return false; }, [&] { apply(counted, x, y), copy(y, x); }, {.max_iterations = 6});
  EXPECT_EQ(done.iterations, 6);
  EXPECT_EQ(submissions, GetParam() == execution::fused ? 1 : 6);
  expect_values(x, std::vector<double>(n * columns, 6.0));
}

TEST_P(linear_operators, by_calls_may_wait_for_what_they_submit) {
  // The call solves with another program of the same runtime, and asks for a task beside it.
  int calls = 0;
  const linear_operator waits = linear_operator::of_call("waits", n, [&](const operator_block& on) {
    ++calls;
    program q(rt, b);
    block_vector from = q.vector("from", on.columns), to = q.vector("to", on.columns);
    from.set({on.x, static_cast<std::size_t>(on.rows * on.columns)});
    apply(b, from, to);
    const std::vector<double> made = to.values();
    std::copy(made.begin(), made.end(), on.y);
  });
  expect_like(waits.with_transposed(linear_operator(b).transposed()), db);
  const std::vector<double> numbers = some_numbers(n * columns, 1);
  x.set(numbers);
  calls = 0;
  const block_vector z = p.vector("Z", columns);
  const small_matrix norms = p.small("norms", 1, columns);
  const loop_outcome done = p.while_not([] { return false; },
                                        [&] {
                                          apply(a, x, y);
                                          apply(waits, y, z);
                                          apply(0.5, c, z, 0, x);
                                          column_norms(x, norms);
                                        },
                                        {.max_iterations = 3});
  EXPECT_EQ(done.iterations, 3);
  EXPECT_EQ(calls, 3);
  std::vector<double> expected = numbers;
  for (int k = 0; k < 3; ++k) {
    expected = dc.times(db.times(da.times(expected)));
    for (double& number : expected) number *= 0.5;
  }
  expect_values(x, expected);
  if (GetParam() == execution::fused) {
    EXPECT_EQ(done.passes, 2);
    EXPECT_NE(message_of([&] { p.while_not([] { return true; }, [&] { apply(waits, y, z); }, {.lag = 1}); },
                         error_kind::usage)
                  .find("a lag of 1, and an operator of a call"),
              std::string::npos);
  }
}

TEST_P(linear_operators, that_fail_in_a_call_leave_the_program_usable) {
  const linear_operator fails =
      linear_operator::of_call("fails", n, [](const operator_block&) { throw std::runtime_error("no answer"); });
  const auto failure = [&](const auto& run) {
    try {
      run();
    } catch (const std::runtime_error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(failure([&] {
              apply(fails, x, y);
              p.run();
            }),
            "no answer");
  EXPECT_EQ(failure([&] { p.while_not([] { return false; }, [&] { apply(fails, x, y); }, {.max_iterations = 2}); }),
            "no answer");
  const std::vector<double> numbers = some_numbers(n * columns, 1);
  x.set(numbers);
  apply(a, x, y);
  expect_values(y, da.times(numbers));
}

TEST_P(linear_operators, that_fail_say_why) {
  const linear_operator fails =
      linear_operator::of_block("fails", n, [](const operator_block&) { throw std::runtime_error("no factor"); });
  const auto failure = [&] {
    try {
      apply(fails, x, y);
      (void)y.values();
    } catch (const std::exception& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(failure().find("no factor"), std::string::npos);
}

TEST_P(linear_operators, of_functions_need_no_matrix_in_the_program) {
  const linear_operator f = by_rows(db);
  program q(rt, f, {.how = GetParam(), .panel_rows = 10});
  block_vector from = q.vector("from", 2), to = q.vector("to", 2);
  const std::vector<double> numbers = some_numbers(n * 2, 5);
  from.set(numbers);
  apply(f, from, to);
  expect_values(to, db.times(numbers));
  EXPECT_EQ(q.panels(), 5);
}

TEST_P(linear_operators, take_blocks_of_their_own_for_what_is_between) {
  const linear_operator own =
      linear_operator::of_operations("own", n, [&](const block_vector& r, const block_vector& w) {
        apply(linear_operator(a) * b, r, w);  // has a block between, as the product around has
        axpy(1, r, w);
      });
  const std::vector<double> numbers = some_numbers(n * columns, 1);
  x.set(numbers), y.set(numbers);
  apply(2, own * own, x, 1, y);
  const dense_matrix dense = da.times(db).plus(1, one);
  expect_values(y, dense.times(dense).plus(1, dense.times(dense)).plus(1, one).times(numbers));
}

TEST_P(linear_operators, refuse_what_does_not_fit) {
  const auto message = [](const auto& call) { return message_of(call, error_kind::usage); };
  const csr_matrix wide = matrix_of("wide", 3, 4, {{0, 0, 1}}), small = some_matrix(9, 1, "small");
  EXPECT_NE(message([&] { (void)(a + small); }).find("A is 45 x 45, and small is 9 x 9"), std::string::npos);
  EXPECT_NE(message([&] { (void)(linear_operator(wide) * wide); }).find("as many columns as"), std::string::npos);
  EXPECT_NE(message([&] { apply(small, x, y); }).find("small is 9 x 9, and X has 45 rows"), std::string::npos);
  EXPECT_NE(message([&] { apply(no_number, a, x, 0, y); }).find("nan times A"), std::string::npos);
  EXPECT_NE(message([&] { (void)(no_number * linear_operator(a)); }).find("nan times"), std::string::npos);
  EXPECT_NE(message([&] { (void)shifted(a, no_number); }).find("nan times"), std::string::npos);
  EXPECT_NE(message([&] { (void)linear_operator(a).with_transposed(wide); }).find("wide is 3 x 4"), std::string::npos);
  EXPECT_NE(message([&] { (void)linear_operator::identity(-1); }).find("-1 rows"), std::string::npos);
  EXPECT_NE(message([&] { (void)linear_operator::of_tasks("f", 3, nullptr); }).find("f has no function"),
            std::string::npos);
  EXPECT_NE(message([&] { (void)linear_operator::of_block("f", 3, nullptr); }).find("f has no function"),
            std::string::npos);
  EXPECT_NE(message([&] { (void)linear_operator::of_call("f", 3, nullptr); }).find("f has no function"),
            std::string::npos);
  EXPECT_NE(message([&] { (void)linear_operator::of_rows({.name = "f", .rows = 3}); }).find("f has no function"),
            std::string::npos);
  EXPECT_NE(message([&] { (void)linear_operator(a).work(0); }).find("0 vectors"), std::string::npos);
  EXPECT_NE(message_of(
                [&] {
                  (void)linear_operator::diagonal({1, no_number});
                },
                error_kind::input)
                .find("element 2 of the diagonal is nan"),
            std::string::npos);
  // A^T A of a matrix that is not square has vectors of another length between.
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < n; ++i) entries.push_back({i % 5, i, 1});
  const csr_matrix flat = matrix_of("flat", 5, n, entries);
  EXPECT_NE(message([&] { apply(linear_operator(flat).transposed() * flat, x, y); }).find("flat is 5 x 45"),
            std::string::npos);
  program q(rt, a, {.how = GetParam()});
  const block_vector other = q.vector("other", columns);
  EXPECT_NE(message([&] { apply(a, x, other); }).find("other belongs to another program"), std::string::npos);
  EXPECT_NE(message_of([&] { (void)program(rt, linear_operator(wide)); }, error_kind::input).find("not square"),
            std::string::npos);
}

TEST_P(linear_operators, refuse_tasks_that_cannot_be_submitted) {
  const linear_operator throws =
      linear_operator::of_tasks("throws", n, [](const operator_tasks&) { throw std::runtime_error("no tasks"); });
  EXPECT_THROW(
      {
        apply(throws, x, y);
        p.run();
      },
      std::runtime_error);
  apply(a, x, y);  // the program goes on
  EXPECT_NO_THROW(p.run());
}

TEST(operator_facts_of, are_known_of_what_operators_are_made_of) {
  const csr_matrix lattice = generate("lap2d:5"), other = some_matrix(25, 1, "other");
  const linear_operator k = lattice, m = other;
  EXPECT_EQ(k.is_symmetric(), true);
  EXPECT_EQ(m.is_symmetric(), false);
  EXPECT_EQ((k - 0.5 * k).is_symmetric(), true);
  EXPECT_EQ(shifted(k, 2).is_symmetric(), true);
  EXPECT_EQ((-2 * m).is_symmetric(), false);
  EXPECT_EQ((k + m).is_symmetric(), std::nullopt);
  EXPECT_EQ((k * k).is_symmetric(), std::nullopt);
  EXPECT_EQ(linear_operator::jacobi(lattice).is_symmetric(), true);
  EXPECT_EQ(linear_operator::block_jacobi(lattice).is_symmetric(), true);
  EXPECT_EQ(linear_operator::chebyshev(k, {.pole = 0, .near = 1, .far = 8}).is_symmetric(), true);
  EXPECT_EQ((k - 0.5 * k).name(), "(lap2d:5 - 0.5 lap2d:5)");
  EXPECT_EQ((k * m).name(), "lap2d:5 other");
  EXPECT_EQ(m.transposed().name(), "other^T");
  EXPECT_EQ((k + m).heaviest_matrix(), &lattice);
  EXPECT_EQ(linear_operator::identity(3).heaviest_matrix(), nullptr);
  EXPECT_TRUE((3 * linear_operator::identity(3)).works_in_place());
  EXPECT_FALSE(k.works_in_place());
}

TEST(operator_work, adds_up) {
  const csr_matrix lattice = generate("lap2d:5");
  const linear_operator k = lattice;
  const auto entries = static_cast<double>(lattice.nonzeros());
  EXPECT_EQ(k.work(3).flops, 2 * entries * 3);
  EXPECT_EQ(k.work(3).bytes, 12 * entries + 8 * 25 + 2 * 8 * 25 * 3);
  EXPECT_EQ((k * k).work(3).flops, 2 * k.work(3).flops);
  const linear_operator f =
      linear_operator::of_block("f", 25, [](const operator_block&) {}, {.symmetric = true, .flops = 100, .bytes = 64});
  EXPECT_EQ(f.work(2).flops, 200);
  EXPECT_EQ(f.work(2).bytes, 64 + 2 * 8 * 25 * 2);
  // What a program counts of it is the same.
  runtime rt(testing::host_only(1));
  program p(rt, k);
  const block_vector x = p.vector("X", 2), y = p.vector("Y", 2);
  apply(f, x, y);
  p.run();
  EXPECT_EQ(p.work().flops, 200);
  EXPECT_EQ(p.work().bytes, 64 + 2 * 8 * 25 * 2);
}

TEST(operator_passes, are_one_for_a_sum_and_two_for_a_product) {
  runtime rt(testing::host_only(1));
  const csr_matrix a = generate("lap2d:20"), b = some_matrix(400, 1, "B");
  program p(rt, a, {.panel_rows = 100});
  const block_vector x = p.vector("X", 2), y = p.vector("Y", 2);
  const auto passes = [&](const linear_operator& op) {
    return p.while_not([] { return false; }, [&] { apply(op, x, y); }, {.max_iterations = 1}).passes;
  };
  EXPECT_EQ(passes(a), 1);
  EXPECT_EQ(passes(shifted(a, 0.5, b) + linear_operator::diagonal(std::vector<double>(400, 2.0))), 1);
  EXPECT_EQ(passes(linear_operator(a) * b), 2);
  EXPECT_EQ(passes(linear_operator(a) * linear_operator::identity(400)), 2);
}

}  // namespace
}  // namespace tessera::sparse
