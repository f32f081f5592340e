#include "libraries/sparse/linear/symmetry.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "core/base/error.hpp"

namespace tessera::sparse {
namespace {

constexpr const char* hint = "conjugate gradients and minres solve with symmetric operators";

/// Numbers between -1 and 1, the same everywhere.
std::vector<double> random_numbers(std::int64_t count) {
  std::vector<double> numbers(static_cast<std::size_t>(count));
  std::uint64_t state = 1;
  for (double& x : numbers) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    x = static_cast<double>(state >> 11) * 0x1.0p-52 - 1;
  }
  return numbers;
}

}  // namespace

void require_symmetric_operator(program& p, const linear_operator& a, const char* what) {
  const std::optional<bool> known = a.is_symmetric();
  if (known == true) return;
  if (known == false) {
    const csr_matrix* const matrix = a.heaviest_matrix();
    if (matrix != nullptr) require_symmetric(*matrix, hint);  // names the entry
    throw error(error_kind::input, fmt::format("{} is not symmetric", what), a.name(), hint);
  }
  block_vector x = p.vector("vectors to measure", 2), ax = p.vector("products to measure", 2);
  const small_matrix products = p.small("x'Ax", 2, 2), squares = p.small("x'x", 2, 2), lengths = p.small("|Ax|", 1, 2);
  x.set(random_numbers(2 * a.rows()));
  apply(a, x, ax);
  gram(x, ax, products);
  gram(x, x, squares);
  column_norms(ax, lengths);
  const std::vector<double> xax = products.values(), xx = squares.values(), of_ax = lengths.values();
  constexpr double rounding = 1e-9;
  const double difference = std::abs(xax[1] - xax[2]);
  const double size = std::sqrt(xx[0]) * of_ax[1] + std::sqrt(xx[3]) * of_ax[0];
  if (!std::isfinite(difference) || !std::isfinite(size))
    throw error(error_kind::numerical, fmt::format("{} makes numbers that are not finite", what), a.name(),
                "look at what its function writes: every row of Y, in all of its columns; here there are two");
  if (difference > rounding * size)
    throw error(error_kind::input,
                fmt::format("{} is not symmetric: for two random vectors x'Ay is {:.10g}, and y'Ax is {:.10g}", what,
                            xax[1], xax[2]),
                a.name(), hint);
}

}  // namespace tessera::sparse
