#include "libraries/sparse/solver/missed_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "libraries/sparse/solver/deflation.hpp"
#include "libraries/sparse/solver/krylov_basis.hpp"
#include "libraries/sparse/solver/subspace.hpp"

namespace tessera::sparse {
namespace {

constexpr std::int64_t max_steps = 16;

/// Which of the values are further out than the innermost pair of an end that was asked for.
std::vector<std::int64_t> beyond_pairs(const std::vector<double>& values, const eigenpairs& found, spectrum_end which,
                                       const stopping_rule& rule) {
  const std::span<const eigenvalue> all(found.values);
  const auto count = static_cast<std::size_t>(pairs_of_lower_end(std::ssize(all), which));
  const std::span<const eigenvalue> low = all.first(count), high = all.subspan(count);
  double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
  for (const eigenvalue& e : low) lower = std::max(lower, e.value);
  for (const eigenvalue& e : high) upper = std::min(upper, e.value);
  lower -= blur_of(low, high, rule);
  upper += blur_of(high, low, rule);
  std::vector<std::int64_t> beyond;
  for (std::size_t k = 0; k < values.size(); ++k)
    if (values[k] < lower || values[k] > upper) beyond.push_back(static_cast<std::int64_t>(k));
  return beyond;
}

}  // namespace

double blur_of(std::span<const eigenvalue> pairs, std::span<const eigenvalue> far, const stopping_rule& rule) {
  double squares = 0;
  for (const eigenvalue& e : pairs) squares += e.residual * e.residual;
  for (const eigenvalue& e : far) {
    double distance = std::numeric_limits<double>::infinity();
    for (const eigenvalue& near : pairs) distance = std::min(distance, std::abs(near.value - e.value));
    const double part = e.residual > distance ? e.residual : e.residual / distance * e.residual;
    squares += part * part;
  }
  return 2 * std::sqrt(squares) + rule.rounding;
}

missed_pairs missed_by(runtime& rt, const csr_matrix& a, const eigen_options& o, const stopping_rule& rule,
                       const eigenpairs& found) {
  // Rows that are left beside all that is known, and one for the block that follows.
  const std::int64_t left = a.rows - std::ssize(found.values) - deflated_columns(a, o) - 1;
  const std::int64_t steps = std::min(max_steps, left);
  if (o.mass != nullptr || found.dense || steps < 1) return {};
  eigen_options known = o;
  known.deflate = beside(found.vectors, o.deflate, a.rows);
  program p(rt, a, o.program.for_columns(1));
  krylov_basis basis(p, a, {.width = 1, .kept = steps, .blocks = steps}, rule.rounding, reorthogonalization::full,
                     deflation::of(p, a.rows, known, 1));
  basis.refill(start_seed(known) + 0x5eed);  // another vector than the solver's
  basis.begin();
  for (std::int64_t j = 0; j < steps; ++j) basis.extend(j);
  small_table h = projection(basis);
  const std::vector<double> values = diagonalize(h);
  const std::vector<std::int64_t> beyond = beyond_pairs(values, found, o.which, rule);
  if (beyond.empty()) return {{}, {}, values};
  small_matrix c = p.small("beyond", steps, std::ssize(beyond));
  small_table chosen(steps, std::ssize(beyond));
  for (std::int64_t i = 0; i < h.rows; ++i)
    for (std::int64_t k = 0; k < chosen.columns; ++k) chosen(i, k) = h(i, beyond[static_cast<std::size_t>(k)]);
  const block_vector y = p.vector("missed", chosen.columns);
  c.set(chosen.numbers);
  basis.combine_kept(c, y);
  missed_pairs missed{{}, y.values(), values};
  for (const std::int64_t k : beyond) missed.values.push_back(values[static_cast<std::size_t>(k)]);
  return missed;
}

void mark_by_search(eigenpairs& found, spectrum_end which, std::span<const double> seen) {
  mark_unresolved(found.values, seen);
  const std::int64_t low = pairs_of_lower_end(std::ssize(found.values), which);
  for (std::int64_t k = 0; k < std::ssize(found.values); ++k) {
    eigenvalue& e = found.values[static_cast<std::size_t>(k)];
    e.clustered |= std::ranges::any_of(
        seen, [&](double v) { return k < low ? v < e.value - e.error_bound : v > e.value + e.error_bound; });
  }
}

void doubt_pairs(eigenpairs& found, spectrum_end which) {
  if (found.passed_over.empty()) return;
  const std::int64_t pairs = std::ssize(found.values), low = pairs_of_lower_end(pairs, which);
  const auto [least, most] = std::ranges::minmax(found.passed_over);
  for (std::int64_t k = 0; k < pairs; ++k) {
    eigenvalue& e = found.values[static_cast<std::size_t>(k)];
    if (k < low ? e.value > least : e.value < most) e.converged = e.at_rounding = false;
  }
}

double min_memory_of_search(const csr_matrix& a, const eigen_options& o) {
  return static_cast<double>(sizeof(double)) * static_cast<double>(a.rows) *
         static_cast<double>(max_steps + 4 + 3 * o.pairs + deflated_columns(a, o));
}

}  // namespace tessera::sparse
