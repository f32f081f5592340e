// A solver outside the tree: the largest eigenvalue of a generated matrix by the power method, a linear system, and a
// file that is missing.
#include <tessera/sparse.hpp>
#include <tessera/tessera.hpp>

#include <cmath>
#include <cstdio>
#include <exception>
#include <utility>
#include <vector>

namespace sparse = tessera::sparse;

int main() {
  try {
    tessera::runtime rt;
    const sparse::csr_matrix a = sparse::generate("lap2d:6");
    sparse::program p(rt, a);
    sparse::block_vector x = p.vector("x", 1), y = p.vector("y", 1);
    const sparse::small_matrix length = p.small("length", 1, 1), factor = p.small("1 / length", 1, 1);
    std::vector<double> start(static_cast<std::size_t>(a.rows));
    for (std::size_t k = 0; k < start.size(); ++k) start[k] = std::sin(1.0 + static_cast<double>(k * k));
    x.set(start);
    double before = 0, now = 1;
    const auto converged = [&] {
      before = std::exchange(now, length.values()[0]);
      return std::abs(now - before) < 1e-13 * now;
    };
    const auto iteration = [&] {
      sparse::apply(a, x, y);
      sparse::column_norms(y, length);
      sparse::small_operation("invert", {&length, 1}, {&factor, 1},
                              [](auto from, auto to) { to[0](0, 0) = 1 / from[0](0, 0); });
      sparse::copy(y, x);
      sparse::scale(factor, x);
    };
    if (!p.while_not(converged, iteration).converged) {
      std::fprintf(stderr, "not converged\n");
      return 1;
    }
    const double expected = 4 + 4 * std::cos(std::acos(-1.0) / 7);  // of the grid of 6 x 6 points
    std::printf("largest eigenvalue %.9f, expected %.9f\n", now, expected);
    if (!(std::abs(now - expected) < 1e-6)) return 1;
    // And a linear system, whose operator is put together: the right side is that of ones.
    const sparse::linear_operator shift = sparse::shifted(a, -1);
    const std::vector<double> ones(static_cast<std::size_t>(a.rows), 1.0);
    std::vector<double> b = sparse::plain_product(a, ones);
    for (double& element : b) element += 1;
    const sparse::linear_solution solved =
        sparse::conjugate_gradients(rt, shift, b, {.preconditioner = sparse::linear_operator::jacobi(a, 1)});
    std::printf("stopped by %s\n", solved.stopped.by.c_str());
    for (const double element : solved.x)
      if (!(std::abs(element - 1) < 1e-6)) return 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  try {
    (void)sparse::read_matrix("no_such.mtx");
  } catch (const tessera::error&) {
    return 0;
  }
  std::fprintf(stderr, "a missing file is no error\n");
  return 1;
}
