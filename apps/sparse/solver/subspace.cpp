#include "apps/sparse/solver/subspace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/sparse/solver/convergence.hpp"
#include "core/base/error.hpp"

namespace tessera::sparse {

std::vector<double> started_at(const std::vector<double>& guess, std::int64_t rows, std::int64_t columns,
                               std::uint64_t seed) {
  std::vector<double> x = random_start(rows * columns, seed);
  const std::int64_t given = std::ssize(guess) / rows;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < std::min(given, columns); ++j)
      x[static_cast<std::size_t>(i * columns + j)] = guess[static_cast<std::size_t>(i * given + j)];
  return x;
}

void require_vectors(const std::vector<double>& numbers, std::int64_t rows, const char* what) {
  if (std::ssize(numbers) % rows != 0)
    throw error(error_kind::usage, fmt::format("{} numbers are no vectors of {} rows", numbers.size(), rows), what,
                "as many rows as the matrix has");
  if (!std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); }))
    throw error(error_kind::usage, "a number of the vectors is not finite", what);
}

std::vector<double> elements_of(const small_view& v) { return {v.data, v.data + v.rows * v.columns}; }

void give_values(const ritz_step& step, const small_view& values, const small_view& minus) {
  for (std::int64_t j = 0; j < values.columns; ++j) {
    values(0, j) = step.values[static_cast<std::size_t>(j)];
    minus(0, j) = -values(0, j);
  }
}

void record_ritz_vectors(const small_matrix& x_ax, const small_matrix& xx, spectrum_end end, const small_matrix& c,
                         const small_matrix& values, const small_matrix& minus_values) {
  const small_matrix from[] = {x_ax, xx}, to[] = {c, values, minus_values};
  small_operation("ritz_vectors", from, to, [end](std::span<const small_view> in, std::span<const small_view> out) {
    const std::int64_t b = in[0].rows;
    const ritz_step step = rayleigh_ritz({b, elements_of(in[0]), elements_of(in[1])}, b, end,
                                         std::vector<bool>(static_cast<std::size_t>(b), true));
    std::ranges::copy(step.vectors, out[0].data);
    give_values(step, out[1], out[2]);
  });
}

}  // namespace tessera::sparse
