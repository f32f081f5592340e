// Programs of operations: fused execution against the reference, the same bits for any workers, mistakes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <source_location>
#include <type_traits>
#include <utility>

#include "libraries/sparse/matrix/generate.hpp"
#include "tessera/sparse.hpp"
#include "tests/integration/runtime/machines.hpp"
#include "tests/support/error_of.hpp"
#include "tests/unit/sparse/every_operation.hpp"

namespace tessera::sparse {
namespace {

using test_support::message_of;

program_options cut(std::int64_t panel, std::int64_t strip = 0) { return {.panel_rows = panel, .strip_rows = strip}; }

class sparse_program : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(all, sparse_program, ::testing::Values("lap2d:17", "hs:10", "rmat:8", "kkt3d:4"));

TEST_P(sparse_program, does_what_the_reference_does) {
  const csr_matrix a = generate(GetParam());
  const every_operation reference(testing::host_only(), a, {.how = execution::at_once});
  for (const program_options& how : {program_options{}, cut(1000), cut(40, 7), cut(9, 100)})
    every_operation(testing::host_only(), a, how).expect_like(reference);
}

TEST_P(sparse_program, gives_the_same_bits_for_any_workers_and_memories) {
  const csr_matrix a = generate(GetParam());
  const every_operation one(testing::host_only(1), a, cut(13));
  for (machine& on : std::array{testing::host_only(2), testing::host_only(4),
                                testing::machine_of("plugins = [\"host\"]\n" + testing::two_hosts, 4)}) {
    const every_operation more(std::move(on), a, cut(13));
    EXPECT_EQ(more.results, one.results);
  }
}

class sparse_calls : public ::testing::Test {
 protected:
  runtime rt{testing::host_only()};
  csr_matrix a = generate("lap2d:20");
  program p{rt, a, cut(50)};
  block_vector x = p.vector("X", 4), y = p.vector("Y", 4), wide = p.vector("wide", 6);
  small_matrix g = p.small("G", 4, 4), row = p.small("row", 1, 4);
};

/// What a call makes of X and Y, by both ways of execution; `expected(i, j)` says what must be there.
class sparse_results : public ::testing::TestWithParam<execution> {
 protected:
  using element = std::function<double(std::size_t, std::size_t)>;
  double before(const std::vector<double>& of, std::size_t i, std::size_t j) const { return of[i * 3 + j]; }
  void expect(const block_vector& seen, const element& expected) const {
    const std::vector<double> values = seen.values();
    ASSERT_EQ(values.size(), 4u * 3u);
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(values[i * 3 + j], expected(i, j), 1e-14) << i << ", " << j;
  }
  sparse_results() { x.set(in_x), y.set(in_y); }

  runtime rt{testing::host_only()};
  csr_matrix a = matrix_of("A", 4, 4, {{0, 1, 2}, {0, 3, -1}, {1, 0, 4}, {2, 2, 3}, {3, 0, 5}, {3, 1, 7}});
  program p{rt, a, {.how = GetParam(), .panel_rows = 2}};
  block_vector x = p.vector("X", 3), y = p.vector("Y", 3), z = p.vector("Z", 3);
  std::vector<double> in_x = numbers(12, 5), in_y = numbers(12, 6);
};
INSTANTIATE_TEST_SUITE_P(both, sparse_results, ::testing::Values(execution::fused, execution::at_once));

TEST_P(sparse_results, of_the_transposed_matrix) {
  apply(linear_operator(a).transposed(), x, y);
  const double dense[4][4] = {{0, 2, 0, -1}, {4, 0, 0, 0}, {0, 0, 3, 0}, {5, 7, 0, 0}};
  expect(y, [&](std::size_t i, std::size_t j) {
    double sum = 0;
    for (std::size_t k = 0; k < 4; ++k) sum += dense[k][i] * before(in_x, k, j);
    return sum;
  });
}

TEST_P(sparse_results, of_products_of_elements) {
  hadamard(x, y, z);
  hadamard(x, z, x);
  expect(z, [&](std::size_t i, std::size_t j) { return before(in_x, i, j) * before(in_y, i, j); });
  expect(x, [&](std::size_t i, std::size_t j) { return before(in_x, i, j) * before(in_x, i, j) * before(in_y, i, j); });
}

TEST_P(sparse_results, of_products_of_columns) {
  const small_matrix dots = p.small("dots", 1, 3);
  column_dots(x, y, dots);
  const std::vector<double> seen = dots.values();
  for (std::size_t j = 0; j < 3; ++j) {
    double sum = 0;
    for (std::size_t i = 0; i < 4; ++i) sum += before(in_x, i, j) * before(in_y, i, j);
    EXPECT_NEAR(seen[j], sum, 1e-14);
  }
}

TEST_P(sparse_results, of_a_multiple_that_is_added) {
  axpy(-1.5, x, y);
  expect(y, [&](std::size_t i, std::size_t j) { return before(in_y, i, j) - 1.5 * before(in_x, i, j); });
}

TEST_P(sparse_results, of_a_combination_that_is_added_to_what_was_there) {
  small_matrix c = p.small("C", 6, 3);
  const std::vector<double> factors = numbers(18, 7);
  c.set(factors);
  const std::array<block_vector, 2> both{x, y};
  combine(both, c, std::span(&y, 1), 0.5);
  expect(y, [&](std::size_t i, std::size_t j) {
    double sum = 0.5 * before(in_y, i, j);
    for (std::size_t k = 0; k < 3; ++k)
      sum += before(in_x, i, k) * factors[k * 3 + j] + before(in_y, i, k) * factors[(3 + k) * 3 + j];
    return sum;
  });
}

TEST_F(sparse_calls, run_when_a_value_is_asked_for) {
  x.set(std::vector<double>(400 * 4, 1.0));
  const std::uint64_t before = rt.tasks_submitted();
  apply(a, x, y);
  gram(x, y, g);
  EXPECT_EQ(rt.tasks_submitted(), before);
  EXPECT_DOUBLE_EQ(g.values()[0], 80);  // 4 * 20 missing neighbours, at the edges
  EXPECT_GE(rt.tasks_submitted(), before + 8 + 1);
}

TEST_F(sparse_calls, of_a_loop_are_few_passes) {
  int asked = 0;
  const loop_outcome done = p.while_not([&] { return asked++ == 5; },
                                        [&] {
                                          apply(a, x, y);
                                          gram(y, y, g);
                                          combine(y, g, x);
                                        });
  EXPECT_EQ(done.passes, 2);
  EXPECT_EQ(done.tasks, 8 + 1 + 8);
  EXPECT_EQ(done.iterations, 5);
}

TEST_F(sparse_calls, end_a_loop_that_does_not_converge) {
  int told = 0;
  const loop_outcome done = p.while_not([] { return false; }, [&] { copy(x, y); },
                                        {.max_iterations = 7, .after_each = [&](int k) { told += k; }});
  EXPECT_FALSE(done.converged);
  EXPECT_EQ(done.iterations, 7);
  EXPECT_EQ(told, 28);
}

TEST_F(sparse_calls, behind_an_iteration_are_done_before_the_next) {
  const auto last = [&](execution how) {
    program doubling(rt, a, {.how = how});
    const small_matrix n = doubling.small("n", 1, 1);
    const auto adding = [&](double factor, double summand) {
      small_operation(factor == 1 ? "add" : "double", std::span(&n, 1), std::span(&n, 1),
                      [=](auto from, auto to) { to[0](0, 0) = factor * from[0](0, 0) + summand; });
    };
    int asked = 0;
    const auto converged = [&] {
      if (asked++ == 1) adding(1, 100);  // the condition may record too
      return false;
    };
    doubling.while_not(converged, [&] { adding(1, 1); },
                       {.max_iterations = 3, .after_each = [&](int) { adding(2, 0); }});
    return n.values()[0];
  };
  EXPECT_EQ(last(execution::at_once), ((1 * 2 + 100 + 1) * 2 + 1) * 2);
  EXPECT_EQ(last(execution::fused), last(execution::at_once));
}

TEST_F(sparse_calls, refuse_values_that_a_failed_operation_should_have_made) {
  x.set(std::vector<double>(400 * 4, 1.0));
  const auto fail = [](auto, auto) { throw error(error_kind::numerical, "cannot", "here"); };
  small_operation("first", std::span(&row, 1), std::span(&row, 1), [](auto, auto) {});
  small_operation("second", std::span(&row, 1), std::span(&g, 1), fail);
  combine(x, g, x);
  EXPECT_NE(message_of([&] { p.run(); }, error_kind::numerical).find("second failed"), std::string::npos);
  EXPECT_THROW((void)g.values(), error);
  EXPECT_THROW((void)x.values(), error);
  EXPECT_NO_THROW((void)row.values());
  g.set(std::vector<double>(16, 2.0));
  x.set(std::vector<double>(400 * 4, 1.0));
  combine(x, g, x);
  EXPECT_EQ(x.values()[0], 8);
}

TEST_F(sparse_calls, take_handles_that_were_moved) {
  block_vector moved = std::move(x);
  moved.set(std::vector<double>(400 * 4, 1.0));
  copy(x, y);  // NOLINT(bugprone-use-after-move): a handle that was moved was copied
  EXPECT_EQ(y.values()[0], 1);
  const small_matrix other = std::move(g);
  EXPECT_EQ(&g.data(), &other.data());  // NOLINT(bugprone-use-after-move)
}

// What a program goes on to use must not end with the call.
TEST_F(sparse_calls, keep_matrices_that_nobody_else_has) {
  x.set(numbers(400 * 4, 1));
  apply(a, x, y);
  const std::vector<double> expected = y.values();
  program q(rt, csr_matrix(a), cut(50));
  block_vector from = q.vector("X", 4), to = q.vector("Y", 4);
  from.set(x.values());
  apply(csr_matrix(a), from, to);
  EXPECT_EQ(to.values(), expected);
  apply(linear_operator(csr_matrix(a)).transposed(), from, to);
  EXPECT_EQ(to.values(), expected) << "symmetric";
}

TEST_F(sparse_calls, take_any_positive_number_of_rows_for_panels_and_strips) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  x.set(numbers(400 * 4, 1));
  apply(a, x, y);
  for (const program_options& how : {cut(50, most), cut(most, 7), cut(1, 1)}) {
    program q(rt, a, how);
    block_vector from = q.vector("X", 4), to = q.vector("Y", 4);
    from.set(x.values());
    apply(a, from, to);
    EXPECT_EQ(to.values(), y.values());
  }
  for (const program_options& how : {cut(-1), cut(0, -1)})
    EXPECT_NE(message_of([&] { program(rt, a, how); }, error_kind::usage).find("-1"), std::string::npos);
}

// A row of few columns is quickly done.
TEST(sparse_programs, have_larger_panels_for_narrower_vectors) {
  runtime rt(testing::host_only());
  const csr_matrix a = generate("lap2d:200");
  const auto panels = [&](program_options how) { return program(rt, a, how).panels(); };
  const std::int64_t narrow = panels({.columns = 1}), some = panels({.columns = 4}), wide = panels({.columns = 100});
  EXPECT_LT(narrow, some);
  EXPECT_LT(some, wide);
  EXPECT_EQ(panels({.columns = std::numeric_limits<std::int64_t>::max()}), wide);
  EXPECT_EQ(panels({}), some) << "unknown";
  EXPECT_EQ(panels(program_options{}.for_columns(1)), narrow);
  EXPECT_EQ(panels(program_options{.columns = 100}.for_columns(1)), wide) << "what a caller says stays";
  EXPECT_EQ(panels({.panel_rows = 1000, .columns = 1}), 40);
  EXPECT_NE(message_of([&] { (void)panels({.columns = -2}); }, error_kind::usage).find("-2 columns"),
            std::string::npos);
}

// As Lanczos asks for them: one column with all before it, and with itself.
TEST(sparse_programs, have_the_same_products_of_columns_one_by_one_and_together) {
  runtime rt(testing::host_only());
  const csr_matrix a = generate("lap2d:37");
  program p(rt, a, {.panel_rows = 500, .strip_rows = 101});
  constexpr std::size_t count = 11;  // not a multiple of what a loop does at once
  std::vector<block_vector> v;
  std::vector<small_matrix> together;
  for (std::size_t k = 0; k < count; ++k) {
    v.push_back(p.vector("v" + std::to_string(k), 1));
    v.back().set(numbers(a.rows, k));
    together.push_back(p.small("product " + std::to_string(k), 1, 1));
  }
  for (std::size_t k = 0; k < count; ++k) gram(v[k], v.back(), together[k]);
  for (std::size_t k = 0; k < count; ++k) {
    const double all = together[k].values()[0];
    const small_matrix alone = p.small("alone", 1, 1);
    gram(v[k], v.back(), alone);
    EXPECT_EQ(alone.values()[0], all) << k;
    const std::vector<double> x = v[k].values(), y = v.back().values();
    EXPECT_NEAR(std::inner_product(x.begin(), x.end(), y.begin(), 0.0), all, 1e-10) << k;
  }
}

TEST_F(sparse_calls, refuse_sizes_that_no_memory_has) {
  const auto message = [&](std::int64_t rows, std::int64_t columns) {
    return message_of([&] { (void)p.small("S", rows, columns); }, error_kind::memory);
  };
  EXPECT_NE(message(std::int64_t{1} << 32, std::int64_t{1} << 32).find("4294967296 x 4294967296"), std::string::npos);
  EXPECT_NE(message(1, std::int64_t{1} << 61).find("do not fit"), std::string::npos);
  EXPECT_NE(message_of([&] { (void)p.vector("V", std::int64_t{1} << 60); }, error_kind::memory).find("do not fit"),
            std::string::npos);
}

TEST_F(sparse_calls, refuse_another_matrix_whose_arrays_make_none) {
  csr_matrix b = a;
  b.name = "B", b.entry_columns[5] = 1000;
  EXPECT_NE(message_of([&] { apply(b, x, y); }, error_kind::input).find("column outside"), std::string::npos);
  EXPECT_NO_THROW(p.run());
}

TEST_F(sparse_calls, refuse_shapes_that_do_not_fit) {
  const auto message = [](const auto& call) { return message_of(call, error_kind::usage); };
  EXPECT_NE(message([&] { apply(a, x, wide); }).find("X has 4 columns, and wide has 6"), std::string::npos);
  EXPECT_NE(message([&] { apply(generate("lap2d:3"), x, y); }).find("is 9 x 9, and X has 400 rows"), std::string::npos);
  EXPECT_NE(message([&] { gram(x, wide, g); }).find("G is 4 x 4, and 4 x 6 is needed"), std::string::npos);
  EXPECT_NE(message([&] { axpy(g, x, y); }).find("1 x 4 is needed"), std::string::npos);
  const std::array<block_vector, 2> twice{y, y};
  EXPECT_NE(message([&] { combine(twice, g, twice); }).find("destination twice"), std::string::npos);
  EXPECT_NE(message([&] { x.set(std::vector<double>(3)); }).find("3 numbers are given"), std::string::npos);
  EXPECT_NE(message([&] { p.vector("none", 0); }).find("0 columns"), std::string::npos);
  EXPECT_NE(message([&] { small_operation("none", {}, std::span(&g, 1), nullptr); }).find("no function"),
            std::string::npos);
  program other(rt, a);
  EXPECT_NE(message([&] { copy(x, other.vector("Z", 4)); }).find("another program"), std::string::npos);
}

TEST_F(sparse_calls, refuse_a_body_that_changes) {
  int calls = 0;
  const auto body = [&] {
    copy(x, y);
    if (calls++ > 0) scale(row, y);
  };
  const std::string said = message_of([&] { p.while_not([] { return false; }, body); }, error_kind::usage);
  EXPECT_NE(said.find("from operation 2 on (scale)"), std::string::npos) << said;
}

TEST_F(sparse_calls, drop_what_a_loop_had_recorded_when_it_throws) {
  const auto set_row = [&](double to) {
    small_operation("set", {}, std::span(&row, 1), [to](auto, auto out) { out[0](0, 0) = to; });
  };
  row.set(std::vector<double>(4, 1.0));
  const auto stop = [] { throw error(error_kind::numerical, "stop", "the test"); };
  for (const int lag : {0, 1}) {
    const auto run = [&](const std::function<bool()>& converged, const std::function<void()>& body,
                         const std::function<void(int)>& after_each) {
      EXPECT_NE(
          message_of([&] { p.while_not(converged, body, {.after_each = after_each, .lag = lag, .watched = {row}}); },
                     error_kind::numerical)
              .find("stop"),
          std::string::npos);
      EXPECT_EQ(row.values()[0], 1);
    };
    const auto never = [] { return false; };
    const auto nothing = [&] { copy(x, y); };
    run([&] { return set_row(2), stop(), false; }, nothing, {});
    run(never, [&] { set_row(3), stop(); }, {});
    run(never, nothing, [&](int) { set_row(4), stop(); });
  }
}

/// What is recorded behind iterations goes when it is done, and not at the end of the loop.
TEST_F(sparse_calls, keep_no_graphs_of_iterations_that_are_done) {
  row.set(std::vector<double>(4, 1.0));
  for (const int lag : {0, 1}) {
    std::vector<std::weak_ptr<int>> recorded;
    std::ptrdiff_t most = 0;
    const auto after = [&](int k) {
      auto token = std::make_shared<int>(k);
      recorded.emplace_back(token);
      small_operation("hold", {}, std::span(&row, 1), [token](auto, auto out) { out[0](0, 0) = *token; });
      most = std::max(most, std::ranges::count_if(recorded, [](const auto& r) { return !r.expired(); }));
    };
    (void)p.while_not([&] { return row.values()[0] < 0; }, [&] { copy(x, y); },
                      {.max_iterations = 60, .after_each = after, .lag = lag, .watched = {row}});
    EXPECT_EQ(recorded.size(), 60u);
    EXPECT_LT(most, 12) << lag;
  }
}

TEST_F(sparse_calls, refuse_another_program_inside_of_a_body) {
  program other(rt, a);
  block_vector x2 = other.vector("x2", 1), y2 = other.vector("y2", 1);
  x2.set(std::vector<double>(static_cast<std::size_t>(a.rows), 1.0));
  const std::string said = message_of(
      [&] { p.while_not([] { return false; }, [&] { apply(a, x2, y2); }, {.max_iterations = 1}); }, error_kind::usage);
  EXPECT_NE(said.find("operations of its own program alone"), std::string::npos) << said;
  EXPECT_EQ(y2.values()[0], 0) << "nothing of it was recorded";
  apply(a, x2, y2);  // both go on
  EXPECT_NEAR(y2.values()[0], plain_product(a, x2.values())[0], 1e-12);
  x.set(numbers(400 * 4, 1));
  p.while_not([] { return false; }, [&] { apply(a, x, y); }, {.max_iterations = 1});
  EXPECT_NEAR(y.values()[5], plain_product(a, x.values())[5], 1e-12);
}

TEST_F(sparse_calls, refuse_values_inside_of_a_body) {
  const std::string said =
      message_of([&] { p.while_not([] { return false; }, [&] { (void)g.values(); }); }, error_kind::usage);
  EXPECT_NE(said.find("records an iteration"), std::string::npos);
  EXPECT_EQ(g.values().size(), 16u);  // and outside again
}

TEST_F(sparse_calls, hand_on_what_a_small_operation_throws) {
  g.set(std::vector<double>(16, -1.0));
  const small_matrix v = p.small("V", 4, 4);
  const unsigned line = std::source_location::current().line() + 1;
  sygvd(g, g, v, row);
  const std::string said = message_of([&] { p.run(); }, error_kind::numerical);
  EXPECT_NE(said.find("not positive definite: pivot 1"), std::string::npos);
  EXPECT_NE(said.find("submitted at program_test.cpp:" + std::to_string(line)), std::string::npos) << said;
  copy(x, y);
  EXPECT_NO_THROW(p.run());
}

TEST_F(sparse_calls, solve_small_eigenproblems) {
  small_matrix b = p.small("B", 2, 2), c = p.small("C", 2, 2), v = p.small("V", 2, 2), l = p.small("l", 1, 2);
  b.set(std::array{2.0, 1.0, 1.0, 2.0});
  c.set(std::array{4.0, 0.0, 0.0, 1.0});
  syevd(b, v, l);
  expect_near(l.values(), {1, 3}, 1e-14);
  EXPECT_NEAR(std::abs(v.values()[1]), std::sqrt(0.5), 1e-14);
  EXPECT_NEAR(v.values()[0] + v.values()[2], 0, 1e-14);  // a column is (1, -1)
  sygvd(b, c, v, l);                                     // det [2 - 4 l, 1; 1, 2 - l] = 4 l^2 - 10 l + 3
  expect_near(l.values(), {(10 - std::sqrt(52)) / 8, (10 + std::sqrt(52)) / 8}, 1e-13);
}

/// The one of docs/sparse.md: x of A x = b, for a positive definite A.
std::vector<double> conjugate_gradients(runtime& rt, const csr_matrix& a, const std::vector<double>& b) {
  program p(rt, a);
  block_vector x = p.vector("x", 1), r = p.vector("r", 1), d = p.vector("d", 1), ad = p.vector("A d", 1);
  small_matrix rr = p.small("r'r", 1, 1), before = p.small("r'r before", 1, 1), dad = p.small("d'A d", 1, 1),
               alpha = p.small("alpha", 1, 1), minus = p.small("-alpha", 1, 1), beta = p.small("beta", 1, 1);
  r.set(b), d.set(b);
  column_dots(r, r, rr);
  const double wanted = 1e-20 * rr.values()[0];
  const small_matrix step_from[] = {rr, dad}, step[] = {alpha, minus, before}, turn_from[] = {rr, before};
  const auto iteration = [&] {
    apply(a, d, ad);
    column_dots(d, ad, dad);
    small_operation("step", step_from, step, [](auto from, auto to) {
      to[0](0, 0) = from[0](0, 0) / from[1](0, 0);
      to[1](0, 0) = -to[0](0, 0);
      to[2](0, 0) = from[0](0, 0);
    });
    axpy(alpha, d, x);
    axpy(minus, ad, r);
    column_dots(r, r, rr);
    small_operation("turn", turn_from, {&beta, 1},
                    [](auto from, auto to) { to[0](0, 0) = from[0](0, 0) / from[1](0, 0); });
    scale(beta, d);
    axpy(1.0, r, d);
  };
  const loop_outcome done = p.while_not([&] { return rr.values()[0] <= wanted; }, iteration);
  EXPECT_TRUE(done.converged);
  return x.values();
}

TEST(sparse_programs, may_be_conjugate_gradients) {
  runtime rt(testing::host_only());
  const csr_matrix a = generate("lap2d:30");
  const std::vector<double> expected = numbers(a.rows, 3);
  std::vector<double> b(expected.size(), 0.0);
  for (std::size_t i = 0; i < b.size(); ++i)
    for (auto k = static_cast<std::size_t>(a.row_starts[i]); k < static_cast<std::size_t>(a.row_starts[i + 1]); ++k)
      b[i] += a.values[k] * expected[static_cast<std::size_t>(a.entry_columns[k])];
  expect_near(conjugate_gradients(rt, a, b), expected, 1e-7);
}

TEST(sparse_programs, may_be_a_power_method) {  // the one of docs/sparse.md
  runtime rt(testing::host_only());
  const csr_matrix a = generate("lap3d:6");
  program p(rt, a);
  block_vector x = p.vector("X", 1), y = p.vector("Y", 1);
  small_matrix length = p.small("length", 1, 1), factor = p.small("1 / length", 1, 1);
  x.set(numbers(a.rows, 1));
  double before = 0, now = 1;
  const auto converged = [&] {
    before = std::exchange(now, length.values()[0]);
    return std::abs(now - before) < 1e-10 * now;
  };
  const loop_outcome done = p.while_not(converged, [&] {
    apply(a, x, y);
    column_norms(y, length);
    small_operation("invert", {&length, 1}, {&factor, 1}, [](auto from, auto to) { to[0](0, 0) = 1 / from[0](0, 0); });
    copy(y, x);
    scale(factor, x);
  });
  EXPECT_TRUE(done.converged);
  EXPECT_NEAR(now, 12 - known_lowest("lap3d:6", 1)[0], 1e-6);
}

TEST(sparse_programs, want_a_square_matrix) {
  runtime rt(testing::host_only());
  const csr_matrix a = matrix_of("m", 2, 3, {{0, 0, 1}});
  EXPECT_NE(message_of([&] { program p(rt, a); }, error_kind::input).find("2 x 3, not square"), std::string::npos);
}

}  // namespace
}  // namespace tessera::sparse
