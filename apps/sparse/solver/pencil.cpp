#include "apps/sparse/solver/pencil.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "apps/sparse/solver/small_table.hpp"
#include "core/base/error.hpp"

namespace tessera::sparse {
namespace {

/// Rows of the columns of S that are used, each times its factor; zeros elsewhere.
small_table spread(const small_table& of, const std::vector<std::int64_t>& rows, const std::vector<double>& factors,
                   std::int64_t m, std::int64_t wanted) {
  small_table made(m, wanted);
  for (std::int64_t i = 0; i < of.rows; ++i)
    for (std::int64_t j = 0; j < of.columns; ++j) {
      const auto k = static_cast<std::size_t>(i);
      made(rows[k], j) = factors[k] * of(i, j);
    }
  return made;
}

/// What `vectors` have outside of the first rows (those of S's first columns), in the inner product of g.
small_table outer_directions(const small_table& g, const small_table& vectors, std::int64_t inner_rows) {
  small_table d = vectors;
  std::fill_n(d.numbers.begin(), inner_rows * d.columns, 0.0);
  for (int twice = 0; twice < 2; ++twice) {  // orthogonal to the vectors
    const small_table overlap = adjoint_product(vectors, product(g, d)), inside = product(vectors, overlap);
    for (std::size_t k = 0; k < d.numbers.size(); ++k) d.numbers[k] -= inside.numbers[k];
  }
  for (int twice = 0; twice < 2 && d.columns > 0; ++twice) {  // orthonormal
    small_table overlap = adjoint_product(d, product(g, d));
    std::vector<double> factor(static_cast<std::size_t>(d.columns));
    for (std::int64_t j = 0; j < d.columns; ++j)
      factor[static_cast<std::size_t>(j)] = overlap(j, j) > 1e-24 ? 1 / std::sqrt(overlap(j, j)) : 0;
    for (std::int64_t i = 0; i < d.columns; ++i)
      for (std::int64_t j = 0; j < d.columns; ++j)
        overlap(i, j) *= factor[static_cast<std::size_t>(i)] * factor[static_cast<std::size_t>(j)];
    small_table white = whitening(overlap, dependent);
    for (std::int64_t i = 0; i < white.rows; ++i)
      for (std::int64_t j = 0; j < white.columns; ++j) white(i, j) *= factor[static_cast<std::size_t>(i)];
    d = product(d, white);
  }
  return d;
}

}  // namespace

std::int64_t outermost_place(std::int64_t rank, std::int64_t count, spectrum_end end) noexcept {
  switch (end) {
    case spectrum_end::smallest:
      return rank;
    case spectrum_end::largest:
      return count - 1 - rank;
    case spectrum_end::both:
      return rank % 2 == 0 ? rank / 2 : count - 1 - rank / 2;
  }
  return rank;
}

std::int64_t pairs_of_lower_end(std::int64_t pairs, spectrum_end end) noexcept {
  return end == spectrum_end::smallest ? pairs : end == spectrum_end::both ? (pairs + 1) / 2 : 0;
}

std::int64_t rank_of_pair(std::int64_t pair, std::int64_t pairs, spectrum_end end) noexcept {
  const std::int64_t lower = (pairs + 1) / 2;
  return end != spectrum_end::both ? pair : pair < lower ? 2 * pair : 2 * (pair - lower) + 1;
}

ritz_step rayleigh_ritz(pencil p, std::int64_t wanted, spectrum_end end, const std::vector<bool>& used) {
  // Columns of unit length, without those that are not used or are zero.
  std::vector<std::int64_t> rows;
  std::vector<double> factors;
  std::int64_t inner_rows = 0;
  for (std::int64_t i = 0; i < p.m; ++i) {
    const double square = p.products[static_cast<std::size_t>(i * p.m + i)];
    if (!used[static_cast<std::size_t>(i)] || !(square > 0)) continue;
    rows.push_back(i);
    factors.push_back(1 / std::sqrt(square));
    inner_rows += static_cast<std::int64_t>(i < wanted);
  }
  const auto kept = std::ssize(rows);
  const auto scaled = [&](const std::vector<double>& of) {
    small_table made(kept, kept);
    for (std::int64_t i = 0; i < kept; ++i)
      for (std::int64_t j = 0; j < kept; ++j) {
        const auto k = static_cast<std::size_t>(i), l = static_cast<std::size_t>(j);
        const double here = of[static_cast<std::size_t>(rows[k] * p.m + rows[l])],
                     mirror = of[static_cast<std::size_t>(rows[l] * p.m + rows[k])];
        made(i, j) = 0.5 * (here + mirror) * factors[k] * factors[l];
      }
    return made;
  };
  const auto refuse = [&](std::int64_t left) {
    throw error(error_kind::numerical,
                fmt::format("only {} independent directions are left, and {} are needed", left, wanted),
                "rayleigh_ritz", "a smaller block, or another start (--seed)");
  };
  if (kept < wanted) refuse(kept);
  const small_table a = scaled(p.products_a), g = scaled(p.products);
  const small_table basis = whitening(g, dependent);
  if (basis.columns < wanted) refuse(basis.columns);
  small_table inner = adjoint_product(basis, product(a, basis));
  const std::vector<double> values = diagonalize(inner);

  ritz_step step;
  small_table outermost(inner.rows, wanted);
  for (std::int64_t j = 0; j < wanted; ++j) {
    const std::int64_t from = outermost_place(j, inner.rows, end);
    step.values.push_back(values[static_cast<std::size_t>(from)]);
    for (std::int64_t i = 0; i < inner.rows; ++i) outermost(i, j) = inner(i, from);
  }
  const small_table vectors = product(basis, outermost);
  step.vectors = spread(vectors, rows, factors, p.m, wanted).numbers;
  step.directions = spread(outer_directions(g, vectors, inner_rows), rows, factors, p.m, wanted).numbers;
  step.dropped = p.m - basis.columns;
  return step;
}

}  // namespace tessera::sparse
