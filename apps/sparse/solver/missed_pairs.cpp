#include "apps/sparse/solver/missed_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "apps/sparse/solver/deflation.hpp"
#include "apps/sparse/solver/krylov_basis.hpp"
#include "apps/sparse/solver/small_table.hpp"

namespace tessera::sparse {
namespace {

constexpr std::int64_t most_steps = 16;

/// What may lie between an eigenvalue and the Ritz values beside it, where none was missed: vectors that were found are
/// as exact as their residuals, and what is orthogonal to them is no better.
double blur_of(const eigenpairs& found, const stopping_rule& rule) {
  double squares = 0;
  for (const eigenvalue& e : found.values) squares += e.residual * e.residual;
  return 2 * std::sqrt(squares) + rule.rounding;
}

/// Values between which all eigenvalues were found that lie outside of them; infinite at an end that was not asked for.
struct inner_values {
  double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
};

inner_values inner_values_of(const eigenpairs& found, spectrum_end which) {
  const std::int64_t pairs = std::ssize(found.values);
  const std::int64_t low = which == spectrum_end::smallest ? pairs : which == spectrum_end::both ? (pairs + 1) / 2 : 0;
  inner_values made;
  for (std::int64_t k = 0; k < pairs; ++k) {
    const double value = found.values[static_cast<std::size_t>(k)].value;
    if (k < low)
      made.lower = std::max(made.lower, value);
    else
      made.upper = std::min(made.upper, value);
  }
  return made;
}

}  // namespace

std::vector<double> missed_vectors(runtime& rt, const csr_matrix& a, const eigen_options& o, const stopping_rule& rule,
                                   const eigenpairs& found) {
  // Rows that are left beside all that is known, and one for the block that follows.
  const std::int64_t steps = std::min(most_steps, a.rows - std::ssize(found.values) - deflated_columns(a, o) - 1);
  if (o.mass != nullptr || found.dense || steps < 1) return {};
  eigen_options known = o;
  known.deflate.clear();
  const std::int64_t pairs = std::ssize(found.values), deflated = deflated_columns(a, o);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    known.deflate.insert(known.deflate.end(), found.vectors.begin() + i * pairs,
                         found.vectors.begin() + (i + 1) * pairs);
    known.deflate.insert(known.deflate.end(), o.deflate.begin() + i * deflated, o.deflate.begin() + (i + 1) * deflated);
  }
  program p(rt, a, o.program);
  krylov_basis basis(p, a, {.width = 1, .kept = steps, .blocks = steps}, rule.rounding, reorthogonalization::full,
                     deflation::of(p, a.rows, known, 1));
  basis.refill(o.seed + 0x5eed);  // another vector than the solver's
  basis.begin();
  for (std::int64_t j = 0; j < steps; ++j) basis.extend(j);
  const std::vector<double> products = basis.projected().values(), alive = basis.alive().values();
  const auto size = std::find(alive.begin(), alive.begin() + steps, 0.0) - alive.begin();
  small_table h(size, size);
  for (std::int64_t i = 0; i < size; ++i)
    for (std::int64_t j = 0; j < size; ++j)
      h(i, j) = products[static_cast<std::size_t>(std::min(i, j) * steps + std::max(i, j))];
  const std::vector<double> values = diagonalize(h);
  const inner_values inner = inner_values_of(found, o.which);
  const double blur = blur_of(found, rule);
  std::vector<std::int64_t> beyond;
  for (std::int64_t k = 0; k < size; ++k)
    if (const double v = values[static_cast<std::size_t>(k)]; v < inner.lower - blur || v > inner.upper + blur)
      beyond.push_back(k);
  if (beyond.empty()) return {};
  small_matrix c = p.small("beyond", steps, std::ssize(beyond));
  std::vector<double> chosen(static_cast<std::size_t>(steps * std::ssize(beyond)), 0.0);
  for (std::int64_t i = 0; i < size; ++i)
    for (std::size_t k = 0; k < beyond.size(); ++k)
      chosen[static_cast<std::size_t>(i) * beyond.size() + k] = h(i, beyond[k]);
  c.set(chosen);
  const block_vector y = p.vector("missed", std::ssize(beyond));
  basis.combine_kept(c, y);
  return y.values();
}

double least_memory_of_search(const csr_matrix& a, const eigen_options& o) {
  return static_cast<double>(sizeof(double)) * static_cast<double>(a.rows) *
         static_cast<double>(most_steps + 4 + 3 * o.pairs + deflated_columns(a, o));
}

}  // namespace tessera::sparse
