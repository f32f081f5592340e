// Operations and bytes of a program, counted by hand.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <utility>

#include "libraries/sparse/matrix/generate.hpp"
#include "libraries/sparse/program/state.hpp"
#include "tessera/sparse.hpp"
#include "tests/integration/runtime/machines.hpp"

namespace tessera::sparse {
namespace {

constexpr std::int64_t rows = 10, columns = 2, nonzeros = 28;
constexpr double block_bytes = rows * columns * 8, matrix_bytes = nonzeros * 12 + rows * 8;

csr_matrix tridiagonal() {
  std::vector<triplet> entries;
  for (std::int32_t i = 0; i < rows; ++i)
    for (std::int32_t j = std::max(0, i - 1); j <= std::min<std::int32_t>(rows - 1, i + 1); ++j)
      entries.push_back({i, j, i == j ? 2.0 : -1.0});
  return matrix_of("tridiagonal", rows, rows, entries);
}

class work_counted : public ::testing::Test {
 protected:
  void expect(double flops, double bytes) {
    p.run();
    EXPECT_EQ(p.work().flops - before.flops, flops);
    EXPECT_EQ(p.work().bytes - before.bytes, bytes);
    before = p.work();
  }
  runtime rt{tessera::testing::host_only(1)};
  csr_matrix a = tridiagonal();
  program p{rt, a};
  block_vector x = p.vector("X", columns), y = p.vector("Y", columns), z = p.vector("Z", columns);
  small_matrix g = p.small("G", columns, columns), d = p.small("D", 1, columns);
  work_count before;
};

TEST_F(work_counted, of_a_pass_has_each_block_once) {
  apply(a, x, y);
  gram(x, y, g);
  column_norms(y, d);
  expect(2 * nonzeros * columns + 2 * rows * columns * columns + 2 * rows * columns, matrix_bytes + 2 * block_bytes);
}

TEST_F(work_counted, of_two_passes_reads_again) {
  apply(a, x, y);
  apply(a, y, z);
  expect(2 * 2 * nonzeros * columns, 2 * matrix_bytes + 4 * block_bytes);
}

TEST_F(work_counted, of_a_block_with_itself_is_a_triangle) {
  gram(x, x, g);
  expect(rows * columns * (columns + 1), block_bytes);
}

TEST_F(work_counted, of_an_update_is_read_and_written) {
  axpy(2.0, x, y);
  expect(2 * rows * columns, 3 * block_bytes);
  combine(x, g, y);
  expect(2 * rows * columns * columns, 2 * block_bytes);
  copy(x, y);
  expect(0, 2 * block_bytes);
  small_operation("nothing", {&g, 1}, {&d, 1}, [](auto, auto) {});
  expect(0, 0);
}

TEST_F(work_counted, of_a_loop_is_that_of_its_iterations_and_what_comes_behind_them) {
  const auto body = [&] { apply(a, x, y), copy(y, z); };
  const loop_outcome done =
      p.while_not([] { return false; }, body, {.max_iterations = 5, .after_each = [&](int) { copy(z, x); }});
  EXPECT_EQ(done.iterations, 5);
  EXPECT_EQ(done.work.flops, 5 * 2 * nonzeros * columns);
  EXPECT_EQ(done.work.bytes, 5 * (matrix_bytes + 3 * block_bytes) + 5 * 2 * block_bytes);
  EXPECT_EQ(p.work().flops, done.work.flops);
  EXPECT_GT(done.build_seconds, 0);
}

/// What an earlier product has found out about its matrix is a part of what came before the first iteration.
TEST_F(work_counted, before_a_loop_has_what_was_looked_up_before) {
  constexpr auto while_it_looks = std::chrono::milliseconds(10);
  bool first = true;
  const linear_operator slow = linear_operator::of_rows({.name = "slow",
                                                         .rows = rows,
                                                         .multiply = [](const operator_rows& r) { r.y[0] = r.x[0]; },
                                                         .reads =
                                                             [&](row_range) {
                                                               if (std::exchange(first, false))
                                                                 std::this_thread::sleep_for(while_it_looks);
                                                               return row_range{0, rows};
                                                             }});
  apply(slow, x, y);
  p.run();
  const auto once = [&] {
    return p.while_not([] { return false; }, [&] { apply(slow, x, y); }, {.max_iterations = 1}).build_seconds;
  };
  EXPECT_GE(once(), std::chrono::duration<double>(while_it_looks).count());
  EXPECT_EQ(p.state().looked_seconds, 0) << "once";
}

TEST(counted_matrices, have_the_bytes_of_their_form) {
  const csr_matrix lattice = generate("lap2d:40"), blocks = generate("kkt3d:6");
  for (const auto& [a, form] : {std::pair{&lattice, matrix_form::csr}, std::pair{&lattice, matrix_form::sell},
                                std::pair{&blocks, matrix_form::sell}, std::pair{&blocks, matrix_form::bcsr}}) {
    runtime rt{tessera::testing::host_only(2)};
    program p(rt, *a, {.panel_rows = 300, .form = form});
    block_vector v = p.vector("V", columns), w = p.vector("W", columns);
    const double of_vectors = 2.0 * static_cast<double>(a->rows * columns) * 8;
    apply(*a, v, w);
    p.run();
    const auto of_form = static_cast<double>(p.form_of(*a, columns).bytes);
    EXPECT_EQ(p.work().bytes, of_form + of_vectors);
    EXPECT_LE(of_form, static_cast<double>(12 * a->nonzeros() + 8 * a->rows));
    const loop_outcome done = p.while_not([] { return false; }, [&] { apply(*a, v, w); }, {.max_iterations = 3});
    EXPECT_EQ(done.work.bytes, 3 * (of_form + of_vectors)) << "the loop's alone";
    if (a == &lattice) {
      EXPECT_EQ(form == matrix_form::sell, of_form < 10 * static_cast<double>(a->nonzeros()));
    }
  }
}

TEST(counted_matrices, are_compressed_rows_on_devices) {
  const csr_matrix a = generate("lap2d:40");
  runtime rt{tessera::testing::with_sims(1, "64 MiB")};
  program p(rt, a, {.panel_rows = 300, .at = "sim0", .form = matrix_form::sell});
  block_vector v = p.vector("V", columns), w = p.vector("W", columns);
  apply(a, v, w);
  p.run();
  EXPECT_EQ(p.work().bytes, static_cast<double>(12 * a.nonzeros() + 4 * a.rows + 2 * a.rows * columns * 8));
}

TEST_F(work_counted, of_calls_one_by_one_is_a_pass_each) {
  program slow(rt, a, {.how = execution::at_once});
  block_vector v = slow.vector("V", columns), w = slow.vector("W", columns);
  apply(a, v, w);
  copy(w, v);
  EXPECT_EQ(slow.work().flops, 2 * nonzeros * columns);
  EXPECT_EQ(slow.work().bytes, matrix_bytes + 4 * block_bytes);
}

}  // namespace
}  // namespace tessera::sparse
