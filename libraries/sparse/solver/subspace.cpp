#include "libraries/sparse/solver/subspace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "core/base/error.hpp"
#include "libraries/sparse/solver/convergence.hpp"

namespace tessera::sparse {

namespace {

/// Which of the columns behind the first `away` are not zero and do not depend on those before them: more than `least`
/// of the square of their length is left. As many as rows span all: those behind them are not looked at.
std::vector<std::int64_t> independent_columns(const small_table& x, std::int64_t away, double least) {
  std::vector<std::vector<double>> orthonormal;  // of the span of the columns so far
  std::vector<std::int64_t> found;
  std::vector<double> rest(static_cast<std::size_t>(x.rows));
  for (std::int64_t k = 0; k < x.columns && std::ssize(orthonormal) < x.rows; ++k) {
    for (std::int64_t i = 0; i < x.rows; ++i) rest[static_cast<std::size_t>(i)] = x(i, k);
    const double before = std::inner_product(rest.begin(), rest.end(), rest.begin(), 0.0);
    for (int time = 0; time < 2; ++time)  // once leaves what rounding has made of a column that nearly depends
      for (const std::vector<double>& q : orthonormal) {
        const double part = std::inner_product(q.begin(), q.end(), rest.begin(), 0.0);
        for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= part * q[i];
      }
    const double after = std::inner_product(rest.begin(), rest.end(), rest.begin(), 0.0);
    if (!(after > least * before)) continue;
    if (k >= away) found.push_back(k);
    orthonormal.push_back(rest);
    for (double& element : orthonormal.back()) element /= std::sqrt(after);
  }
  return found;
}

}  // namespace

std::vector<double> of_moderate_size(std::vector<double> numbers, std::int64_t columns) {
  const auto width = static_cast<std::size_t>(columns);
  for (std::size_t j = 0; j < width; ++j) {
    double largest = 0;
    for (std::size_t k = j; k < numbers.size(); k += width) largest = std::max(largest, std::abs(numbers[k]));
    if (largest > 0)
      for (std::size_t k = j; k < numbers.size(); k += width) numbers[k] /= largest;
  }
  return numbers;
}

small_table usable_guess(const eigen_options& o, std::int64_t rows) {
  const std::int64_t given = std::ssize(o.guess) / rows, away = std::ssize(o.deflate) / rows;
  if (given == 0) return {rows, 0};
  const std::vector<double> guess = of_moderate_size(o.guess, given), deflated = of_moderate_size(o.deflate, away);
  small_table all(rows, away + given);
  for (std::int64_t i = 0; i < rows; ++i) {
    std::copy_n(deflated.begin() + i * away, away, &all(i, 0));
    std::copy_n(guess.begin() + i * given, given, &all(i, away));
  }
  constexpr double least = 1e-8;
  const std::vector<std::int64_t> usable = independent_columns(all, away, least);
  small_table made(rows, std::ssize(usable));
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < made.columns; ++j) made(i, j) = all(i, usable[static_cast<std::size_t>(j)]);
  return made;
}

std::uint64_t start_seed(const eigen_options& o) {
  std::uint64_t seed = o.seed;
  for (const double x : o.deflate) seed = (seed ^ std::bit_cast<std::uint64_t>(x)) * 0x100000001B3u;
  return seed;
}

std::vector<double> started_at(const eigen_options& o, std::int64_t rows, std::int64_t columns) {
  std::vector<double> x = random_start(rows * columns, start_seed(o));
  const small_table guess = usable_guess(o, rows);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < std::min(guess.columns, columns); ++j)
      x[static_cast<std::size_t>(i * columns + j)] = guess(i, j);
  return x;
}

std::int64_t rank_of(const std::vector<double>& vectors, std::int64_t rows) {
  const std::int64_t given = std::ssize(vectors) / rows;
  small_table all(rows, given);
  std::ranges::copy(of_moderate_size(vectors, given), &all(0, 0));
  return std::ssize(independent_columns(all, 0, dependent));
}

std::vector<double> beside(const std::vector<double>& a, const std::vector<double>& b, std::int64_t rows) {
  const std::int64_t of_a = std::ssize(a) / rows, of_b = std::ssize(b) / rows;
  std::vector<double> made;
  made.reserve(a.size() + b.size());
  for (std::int64_t i = 0; i < rows; ++i) {
    made.insert(made.end(), a.begin() + i * of_a, a.begin() + (i + 1) * of_a);
    made.insert(made.end(), b.begin() + i * of_b, b.begin() + (i + 1) * of_b);
  }
  return made;
}

std::vector<double> some_columns(const std::vector<double>& of, std::int64_t rows, std::int64_t first,
                                 std::int64_t count) {
  const std::int64_t all = std::ssize(of) / rows;
  std::vector<double> made;
  made.reserve(static_cast<std::size_t>(rows * count));
  for (std::int64_t i = 0; i < rows; ++i)
    made.insert(made.end(), of.begin() + i * all + first, of.begin() + i * all + first + count);
  return made;
}

void require_vectors(const std::vector<double>& numbers, std::int64_t rows, const char* what) {
  if (std::ssize(numbers) % rows != 0)
    throw error(error_kind::usage, fmt::format("{} numbers are no vectors of {} rows", numbers.size(), rows), what,
                "as many rows as the matrix has");
  if (!std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); }))
    throw error(error_kind::usage, "a number of the vectors is not finite", what);
}

std::vector<double> elements_of(const small_view& v) { return {v.data, v.data + v.rows * v.columns}; }

void give_values(const std::vector<double>& found, const small_view& values, const small_view& minus) {
  for (std::int64_t j = 0; j < values.columns; ++j) {
    values(0, j) = found[static_cast<std::size_t>(j)];
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
    give_values(step.values, out[1], out[2]);
  });
}

}  // namespace tessera::sparse
