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

/// A loop that uses every operation, and what it leaves behind.
struct every_operation {
  static constexpr std::int64_t b = 5, c = 9;  // columns that fit no processor's vectors
  std::vector<double> x, y, w, products, norms, dots, values;
  statistics counted;  ///< of the runtime, at the end

  every_operation(machine on, const csr_matrix& a, const program_options& how) {
    runtime rt(std::move(on));
    program p(rt, a, how);
    block_vector vx = p.vector("X", b), vy = p.vector("Y", b), vz = p.vector("Z", b), vw = p.vector("W", c);
    small_matrix g = p.small("G", b, b), h = p.small("H", b, c), factors = p.small("factors", b + c, b + c),
                 alpha = p.small("alpha", 1, b), n = p.small("norms", 1, b), d = p.small("dots", 1, b),
                 lambda = p.small("lambda", 1, b), v = p.small("V", b, b);
    const preconditioner m = preconditioner::jacobi(a);
    vx.set(numbers(a.rows * b, 1));
    vw.set(numbers(a.rows * c, 2));
    factors.set(numbers((b + c) * (b + c), 3));
    alpha.set(numbers(b, 4));
    int asked = 0;
    const loop_outcome done = p.while_not([&] { return asked++ == 3; },
                                          [&] {
                                            mxm(a, vx, vy);
                                            gram(vx, vy, g);
                                            gram(vx, vw, h);
                                            axpy(alpha, vx, vy);
                                            syevd(g, v, lambda);
                                            combine(vy, g, vz);
                                            column_norms(vz, n);
                                            apply(m, vz, vz);
                                            scale_to_one(n, alpha);
                                            scale(alpha, vz);
                                            const std::array<block_vector, 2> both{vz, vw};
                                            combine(both, factors, both);
                                            hadamard(vz, vx, vy);
                                            combine(vz, v, vy, -0.5);
                                            axpy(0.25, vz, vy);
                                            column_dots(vy, vz, d);
                                            copy(vz, vx);
                                          });
    EXPECT_TRUE(done.converged);
    EXPECT_EQ(done.iterations, 3);
    x = vx.values(), y = vy.values(), w = vw.values(), products = h.values(), norms = n.values(), dots = d.values(),
    values = lambda.values();
    counted = rt.statistics();
  }

  /// The same numbers as those of the reference, but for rounding.
  void expect_like(const every_operation& reference) const {
    double largest = 0;
    for (const double v : reference.w) largest = std::max(largest, std::abs(v));
    const double largest_norm = *std::ranges::max_element(reference.norms);
    const double largest_value = std::max(std::abs(reference.values.front()), std::abs(reference.values.back()));
    expect_near(x, reference.x, 1e-10 * largest);
    expect_near(w, reference.w, 1e-10 * largest);
    expect_near(values, reference.values, 1e-10 * largest_value);
    expect_near(norms, reference.norms, 1e-10 * largest_norm);
  }

  static void scale_to_one(const small_matrix& lengths, const small_matrix& factors) {
    small_operation("invert", std::span(&lengths, 1), std::span(&factors, 1),
                    [](std::span<const small_view> from, std::span<const small_view> to) {
                      for (std::int64_t j = 0; j < to[0].columns; ++j) to[0](0, j) = 0.5 / from[0](0, j);
                    });
  }
};

}  // namespace tessera::sparse
