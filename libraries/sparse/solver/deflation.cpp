#include "libraries/sparse/solver/deflation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "libraries/sparse/solver/small_table.hpp"
#include "libraries/sparse/solver/subspace.hpp"

namespace tessera::sparse {
namespace {

/// T with T^T G T = I, columns of zeros for what depends on others.
void orthonormalize(std::span<const small_view> from, std::span<const small_view> to) {
  const small_view& g = from[0];
  const std::int64_t d = g.rows;
  std::vector<double> factor(static_cast<std::size_t>(d));
  for (std::int64_t j = 0; j < d; ++j) factor[static_cast<std::size_t>(j)] = g(j, j) > 0 ? 1 / std::sqrt(g(j, j)) : 0;
  small_table unit(d, d);
  for (std::int64_t i = 0; i < d; ++i)
    for (std::int64_t j = 0; j < d; ++j)
      unit(i, j) = g(i, j) * factor[static_cast<std::size_t>(i)] * factor[static_cast<std::size_t>(j)];
  const small_table white = whitening(unit, dependent);
  std::fill_n(to[0].data, d * d, 0.0);
  for (std::int64_t i = 0; i < d; ++i)
    for (std::int64_t j = 0; j < white.columns; ++j) to[0](i, j) = white(i, j) * factor[static_cast<std::size_t>(i)];
}

}  // namespace

std::optional<deflation> deflation::of(program& p, std::int64_t rows, const eigen_options& o, std::int64_t columns,
                                       const csr_matrix* with_products) {
  if (o.deflate.empty()) return std::nullopt;
  return deflation(p, rows, o, columns, with_products);
}

deflation::deflation(program& p, std::int64_t rows, const eigen_options& o, std::int64_t columns, const csr_matrix* a)
    : m_has_mass(o.mass != nullptr),
      m_y(p.vector("deflated", std::ssize(o.deflate) / rows)),
      m_by(m_has_mass ? p.vector("B deflated", m_y.columns()) : m_y),
      m_ay(a != nullptr ? p.vector("A deflated", m_y.columns()) : m_y),
      m_overlap(p.small("deflated'BX", m_y.columns(), columns)),
      m_minus_overlap(p.small("-deflated'BX", m_y.columns(), columns)) {
  m_y.set(of_moderate_size(o.deflate, m_y.columns()));
  const small_matrix products = p.small("deflated'B deflated", m_y.columns(), m_y.columns()),
                     t = p.small("orthonormal", m_y.columns(), m_y.columns());
  if (m_has_mass) apply(*o.mass, m_y, m_by);
  for (int twice = 0; twice < 2; ++twice) {
    gram(m_y, m_by, products);
    small_operation("orthonormalize", std::span(&products, 1), std::span(&t, 1), orthonormalize);
    combine(m_y, t, m_y);
    if (m_has_mass) combine(m_by, t, m_by);
  }
  if (a != nullptr) apply(*a, m_y, m_ay);
}

void deflation::measure(const block_vector& x) const {
  gram(m_by, x, m_overlap);
  small_operation("minus", std::span(&m_overlap, 1), std::span(&m_minus_overlap, 1),
                  [](std::span<const small_view> from, std::span<const small_view> to) {
                    std::transform(from[0].data, from[0].data + from[0].rows * from[0].columns, to[0].data,
                                   [](double v) { return -v; });
                  });
}

void deflation::project(const block_vector& x) const {
  measure(x);
  combine(m_y, m_minus_overlap, x, 1);
}

void deflation::project(const block_vector& x, const block_vector& ax, const block_vector& bx) const {
  project(x);
  combine(m_ay, m_minus_overlap, ax, 1);
  if (m_has_mass) combine(m_by, m_minus_overlap, bx, 1);
}

std::int64_t deflated_columns(const csr_matrix& a, const eigen_options& o) { return std::ssize(o.deflate) / a.rows; }

std::int64_t pairs_left(const csr_matrix& a, const eigen_options& o) { return a.rows - rank_of(o.deflate, a.rows); }

void require_deflation(const csr_matrix& a, const eigen_options& o) {
  require_vectors(o.deflate, a.rows, "the deflated vectors");
  if (o.pairs <= a.rows - deflated_columns(a, o)) return;
  require_pairs_left(o.pairs, pairs_left(a, o));
}

void require_pairs_left(std::int64_t pairs, std::int64_t left) {
  if (pairs > left)
    throw error(error_kind::usage, fmt::format("{} pairs, and {} are left beside the deflated vectors", pairs, left),
                "the deflated vectors", "fewer --pairs or fewer vectors");
}

}  // namespace tessera::sparse
