#include "libraries/sparse/solver/pencil.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.hpp"
#include "libraries/sparse/solver/small_table.hpp"

namespace tessera::sparse {

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

unit_pencil of_unit_length(const pencil& p, const std::vector<bool>& used) {
  unit_pencil made{{}, {}, {0, 0}, {0, 0}, p.m};
  for (std::int64_t i = 0; i < p.m; ++i) {
    const double square = p.products[static_cast<std::size_t>(i * p.m + i)];
    if (!used[static_cast<std::size_t>(i)] || !(square > 0)) continue;
    made.columns.push_back(i);
    made.factors.push_back(1 / std::sqrt(square));
  }
  const auto kept = std::ssize(made.columns);
  const auto scaled = [&](const std::vector<double>& of) {
    small_table table(kept, kept);
    for (std::int64_t i = 0; i < kept; ++i)
      for (std::int64_t j = 0; j < kept; ++j) {
        const auto k = static_cast<std::size_t>(i), l = static_cast<std::size_t>(j);
        const double here = of[static_cast<std::size_t>(made.columns[k] * p.m + made.columns[l])],
                     mirror = of[static_cast<std::size_t>(made.columns[l] * p.m + made.columns[k])];
        table(i, j) = 0.5 * (here + mirror) * made.factors[k] * made.factors[l];
      }
    return table;
  };
  made.products_a = scaled(p.products_a), made.products = scaled(p.products);
  return made;
}

std::vector<double> unit_pencil::spread(const small_table& of, std::int64_t wanted) const {
  std::vector<double> made(static_cast<std::size_t>(m * wanted));
  for (std::int64_t i = 0; i < of.rows; ++i)
    for (std::int64_t j = 0; j < of.columns; ++j) {
      const auto k = static_cast<std::size_t>(i);
      made[static_cast<std::size_t>(columns[k] * wanted + j)] = factors[k] * of(i, j);
    }
  return made;
}

void require_directions(std::int64_t left, std::int64_t wanted) {
  if (left < wanted)
    throw error(error_kind::numerical,
                fmt::format("only {} independent directions are left, and {} are needed", left, wanted),
                "rayleigh_ritz", "a smaller block, or another start (--seed)");
}

outermost_pairs outermost_of(const unit_pencil& s, const small_table& basis, std::int64_t wanted, spectrum_end end) {
  small_table inner = adjoint_product(basis, product(s.products_a, basis));
  const std::vector<double> values = diagonalize(inner);
  outermost_pairs found{{}, small_table(inner.rows, wanted)};
  for (std::int64_t j = 0; j < wanted; ++j) {
    const std::int64_t from = outermost_place(j, inner.rows, end);
    found.values.push_back(values[static_cast<std::size_t>(from)]);
    for (std::int64_t i = 0; i < inner.rows; ++i) found.vectors(i, j) = inner(i, from);
  }
  return found;
}

ritz_step rayleigh_ritz(const pencil& p, std::int64_t wanted, spectrum_end end, const std::vector<bool>& used) {
  const unit_pencil s = of_unit_length(p, used);
  require_directions(std::ssize(s.columns), wanted);
  const small_table basis = whitening(s.products, dependent);
  require_directions(basis.columns, wanted);
  outermost_pairs outermost = outermost_of(s, basis, wanted, end);

  ritz_step step;
  step.values = std::move(outermost.values);
  step.vectors = s.spread(product(basis, outermost.vectors), wanted);
  step.dropped = p.m - basis.columns;
  return step;
}

}  // namespace tessera::sparse
