#pragma once
// A program with every operation.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tessera/machine.hpp"
#include "tessera/sparse.hpp"
#include "tessera/tessera.hpp"

namespace tessera::sparse {

inline std::vector<double> numbers(std::int64_t count, double seed) {
  std::vector<double> made(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < made.size(); ++k) made[k] = std::sin(seed + 0.37 * static_cast<double>(k * k));
  return made;
}

inline void expect_near(const std::vector<double>& seen, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(seen.size(), expected.size());
  for (std::size_t k = 0; k < seen.size(); ++k) ASSERT_NEAR(seen[k], expected[k], tolerance) << k;
}

/// Rows of the sum of a vector's neighbours, without a matrix.
inline linear_operator sum_of_neighbours(std::int64_t n) {
  const auto beside = [n](row_range rows) {
    return row_range{std::max<std::int64_t>(rows.begin - 1, 0), std::min(rows.end + 1, n)};
  };
  return linear_operator::of_rows({.name = "neighbours",
                                   .rows = n,
                                   .multiply =
                                       [beside](const operator_rows& r) {
                                         for (std::int64_t i = r.rows.begin; i < r.rows.end; ++i)
                                           for (std::int64_t j = 0; j < r.columns; ++j) {
                                             double sum = 0;
                                             const row_range near = beside({i, i + 1});
                                             for (std::int64_t k = near.begin; k < near.end; ++k)
                                               sum += r.x[(k - r.from.begin) * r.columns + j];
                                             r.y[(i - r.rows.begin) * r.columns + j] = sum;
                                           }
                                       },
                                   .reads = beside,
                                   .facts = {.symmetric = true}});
}

/// The rows in the other order: one task that needs all of them.
inline linear_operator reversed_rows(std::int64_t n) {
  return linear_operator::of_block("reversed", n, [](const operator_block& b) {
    for (std::int64_t i = 0; i < b.rows; ++i)
      std::copy_n(b.x + i * b.columns, b.columns, b.y + (b.rows - 1 - i) * b.columns);
  });
}

/// Half of each row, by a task for each panel.
inline linear_operator halved_by_tasks(std::int64_t n) {
  return linear_operator::of_tasks("halved", n, [](const operator_tasks& on) {
    for (std::size_t k = 0; k < on.x.size(); ++k) {
      const block_access uses[] = {on.x.use(k, intent::read), on.y.use(k, intent::write)};
      on.rt.submit(
          "half",
          [](task_blocks b) {
            const view<const double> from = b.get<const double, 1>(0);
            const view<double> to = b.get<double, 1>(1);
            for (std::int64_t i = 0; i < from.size(); ++i) to[i] = 0.5 * from[i];
          },
          std::span<const block_access>(uses));
    }
  });
}

/// A loop that uses every operation, and what each leaves behind.
struct every_operation {
  static constexpr std::int64_t b = 5, c = 9;  // columns that fit no processor's vectors
  struct result {
    std::string name;
    std::vector<double> numbers;
    bool operator==(const result&) const = default;
  };
  std::vector<result> results;  ///< of the last iteration
  statistics counted;           ///< of the runtime, at the end

  every_operation(machine on, const csr_matrix& a, const program_options& how) {
    runtime rt(std::move(on));
    program p(rt, a, how);
    const auto vector = [&](const char* name) { return p.vector(name, b); };
    const auto square = [&](const char* name) { return p.small(name, b, b); };
    const auto row = [&](const char* name) { return p.small(name, 1, b); };
    block_vector x = vector("X"), y = vector("Y"), z = vector("Z"), w = p.vector("W", c);
    small_matrix g = square("G"), h = p.small("H", b, c), factors = p.small("factors", b + c, b + c),
                 alpha = row("alpha"), n = row("norms"), d = row("dots"), lambda = row("lambda"), v = square("V");
    const block_vector product = vector("hadamard"), added = vector("combine with beta"), sum = vector("axpy, number"),
                       turned = vector("transposed"), near = vector("of a function"),
                       added_to = vector("alpha A X + beta Y"), shift = vector("shifted"), chained = vector("product"),
                       factored = vector("of a block"), submitted = vector("of tasks"), affine = vector("axpby"),
                       of_tiles = vector("block-jacobi"), in_place = vector("block-jacobi in place"),
                       of_polynomial = vector("chebyshev"), own = vector("own preconditioner");
    const small_matrix s = square("S"), l = square("L"), left = p.small("trsm, left", b, c),
                       right = square("trsm, right"), pencil = square("sygvd"), pencil_values = row("sygvd, values"),
                       u = square("svd, left"), singular = row("svd, values"), t = p.small("svd, right", c, b);
    const linear_operator neighbours = sum_of_neighbours(a.rows);
    const linear_operator m = linear_operator::jacobi(a), tiles = linear_operator::block_jacobi(a, 7),
                          polynomial = linear_operator::chebyshev(a, {.pole = -1, .near = 0.5, .far = 9, .degree = 4}),
                          twice = linear_operator::of_operations("twice", a.rows,
                                                                 [](const block_vector&from, const block_vector&to) {
                                                                   copy(from, to);
                                                                   axpy(1.0, from, to);
                                                                 }),
                          reversed = reversed_rows(a.rows), halved = halved_by_tasks(a.rows);
    x.set(numbers(a.rows * b, 1));
    w.set(numbers(a.rows * c, 2));
    factors.set(numbers((b + c) * (b + c), 3));
    alpha.set(numbers(b, 4));
    int asked = 0;
    const loop_outcome done = p.while_not([&] { return asked++ == 3; },
                                          [&] {
                                            apply(a, x, y);
                                            gram(x, y, g);
                                            gram(x, w, h);
                                            axpy(alpha, x, y);
                                            syevd(g, v, lambda);
                                            combine(y, g, z);
                                            column_norms(z, n);
                                            apply(m, z, z);
                                            scale_to_one(n, alpha);
                                            scale(alpha, z);
                                            const std::array<block_vector, 2> both{z, w};
                                            combine(both, factors, both);
                                            hadamard(z, x, product);
                                            copy(product, added);
                                            combine(z, v, added, -0.5);
                                            copy(added, sum);
                                            axpy(0.25, z, sum);
                                            column_dots(sum, z, d);
                                            apply(linear_operator(a).transposed(), sum, turned);
                                            apply(neighbours, sum, near);
                                            copy(z, added_to);
                                            apply(0.5, a, sum, -2, added_to);
                                            apply(-1, neighbours, sum, 0.5, added_to);
                                            apply(0.25, m, sum, 3, added_to);
                                            apply(shifted(a, 1.5, neighbours) - 2 * m, sum, shift);
                                            apply(2, neighbours * (a * m), sum, 0, chained);
                                            apply(reversed, sum, factored);
                                            copy(z, submitted);
                                            apply(2, halved * reversed, factored, 0.5, submitted);
                                            copy(sum, affine);
                                            axpby(-0.5, z, 2, affine);
                                            apply(tiles, sum, of_tiles);
                                            copy(sum, in_place);
                                            apply(tiles, in_place, in_place);
                                            apply(polynomial, sum, of_polynomial);
                                            apply(twice, sum, own);
                                            gram(z, z, s);
                                            potrf(s, l);
                                            trsm_small(l, h, left, factor_side::left);
                                            trsm_small(l, g, right, factor_side::right);
                                            sygvd(g, s, pencil, pencil_values);
                                            svd(h, u, singular, t);
                                            copy(z, x);
                                          });
    EXPECT_TRUE(done.converged);
    EXPECT_EQ(done.iterations, 3);
    for (const block_vector& made : {x, y, z, w, product, added, sum, turned, near, added_to, shift, chained, factored,
                                     submitted, affine, of_tiles, in_place, of_polynomial, own})
      results.push_back({made.name(), made.values()});
    for (const small_matrix& made :
         {g, h, alpha, n, d, lambda, v, s, l, left, right, pencil, pencil_values, u, singular, t})
      results.push_back({made.name(), made.values()});
    counted = rt.statistics();
  }

  /// The same numbers as those of the reference, but for rounding.
  void expect_like(const every_operation& reference) const {
    ASSERT_EQ(results.size(), reference.results.size());
    for (std::size_t k = 0; k < results.size(); ++k) {
      SCOPED_TRACE(results[k].name);
      double largest = 0;
      for (const double number : reference.results[k].numbers) largest = std::max(largest, std::abs(number));
      EXPECT_GT(largest, 0);
      expect_near(results[k].numbers, reference.results[k].numbers, 1e-10 * largest);
    }
  }

  static void scale_to_one(const small_matrix& lengths, const small_matrix& factors) {
    small_operation("invert", std::span(&lengths, 1), std::span(&factors, 1),
                    [](std::span<const small_view> from, std::span<const small_view> to) {
                      for (std::int64_t j = 0; j < to[0].columns; ++j) to[0](0, j) = 0.5 / from[0](0, j);
                    });
  }
};

}  // namespace tessera::sparse
