#include "apps/sparse/solver/krylov_basis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/sparse/solver/convergence.hpp"
#include "apps/sparse/solver/small_table.hpp"

namespace tessera::sparse {
namespace {

using views = std::span<const small_view>;

void clear(const small_view& v) { std::fill_n(v.data, v.rows * v.columns, 0.0); }

/// Columns T of W (I - V V^T) T = orthonormal, by the products V(i)^T W and, behind them, W^T W. Shorter columns than
/// `floor`, and directions that depend on others, are left out.
small_table orthonormalizing(views overlaps, const small_view& products, double floor) {
  const std::int64_t b = products.rows;
  std::vector<double> factor(static_cast<std::size_t>(b));
  for (std::int64_t c = 0; c < b; ++c) {
    const double square = products(c, c);
    factor[static_cast<std::size_t>(c)] = square > floor * floor ? 1 / std::sqrt(square) : 0;
  }
  small_table left(b, b);
  for (std::int64_t r = 0; r < b; ++r)
    for (std::int64_t c = 0; c < b; ++c) {
      double sum = products(r, c);
      for (const small_view& o : overlaps)
        for (std::int64_t k = 0; k < b; ++k) sum -= o(k, r) * o(k, c);
      left(r, c) = sum * factor[static_cast<std::size_t>(r)] * factor[static_cast<std::size_t>(c)];
    }
  small_table made = whitening(left, dependent);
  for (std::int64_t r = 0; r < b; ++r)
    for (std::int64_t c = 0; c < made.columns; ++c) made(r, c) *= factor[static_cast<std::size_t>(r)];
  return made;
}

/// C = [-V^T W T; T], for the sources [V W].
void give_coefficients(views overlaps, const small_table& t, const small_view& to) {
  clear(to);
  const std::int64_t b = t.rows;
  std::int64_t row = 0;
  for (const small_view& o : overlaps)
    for (std::int64_t r = 0; r < b; ++r, ++row)
      for (std::int64_t c = 0; c < t.columns; ++c)
        for (std::int64_t k = 0; k < b; ++k) to(row, c) -= o(r, k) * t(k, c);
  for (std::int64_t r = 0; r < b; ++r, ++row)
    for (std::int64_t c = 0; c < t.columns; ++c) to(row, c) = t(r, c);
}

small_table identity(std::int64_t n) {
  small_table made(n, n);
  for (std::int64_t i = 0; i < n; ++i) made(i, i) = 1;
  return made;
}

}  // namespace

krylov_basis::krylov_basis(program& p, const csr_matrix& a, const basis_shape& shape, double floor)
    : m_matrix(a),
      m_shape(shape),
      m_floor(floor),
      m_next(p.vector("W", shape.width)),
      m_spare(p.vector("spare", shape.width)),
      m_products(p.small("W'W", shape.width, shape.width)),
      m_rest(p.small("rest", shape.width, shape.width)),
      m_projected(p.small("V'AV", shape.columns(), shape.columns())),
      m_alive(p.small("alive", 1, shape.past_columns())) {
  const std::int64_t b = shape.width;
  for (std::int64_t j = 0; j <= shape.blocks; ++j) {
    m_blocks.push_back(p.vector(fmt::format("V{}", j), b));
    m_overlaps.push_back(p.small(fmt::format("V{}'W", j), b, b));
    m_plain.push_back(p.small(fmt::format("coefficients {}", j), (j + 1) * b, b));
    m_filling.push_back(p.small(fmt::format("coefficients {} with spare", j), (j + 2) * b, b));
  }
}

void krylov_basis::refill(std::uint64_t seed) { m_spare.set(random_start(m_spare.rows() * m_shape.width, seed)); }

void krylov_basis::begin() {
  // There is no product yet: W is zero, and the spare vectors step in.
  orthogonalize(0, stage::orthonormalize);
  orthogonalize(0, stage::orthonormalize_2);
}

void krylov_basis::extend(std::int64_t j) {
  mxm(m_matrix, m_blocks[static_cast<std::size_t>(j)], m_next);
  orthogonalize(j + 1, stage::project);
  orthogonalize(j + 1, stage::orthonormalize);
  orthogonalize(j + 1, stage::orthonormalize_2);
}

std::vector<small_matrix> krylov_basis::measure(std::int64_t j) {
  std::vector<small_matrix> made;
  for (std::size_t i = 0; i < static_cast<std::size_t>(j); ++i) {
    gram(m_blocks[i], m_next, m_overlaps[i]);
    made.push_back(m_overlaps[i]);
  }
  return made;
}

std::vector<block_vector> krylov_basis::sources(std::int64_t j, bool spare) const {
  std::vector<block_vector> made(m_blocks.begin(), m_blocks.begin() + j);
  made.push_back(m_next);
  if (spare) made.push_back(m_spare);
  return made;
}

void krylov_basis::orthogonalize(std::int64_t j, stage which) {
  const auto k = static_cast<std::size_t>(j);
  const std::int64_t b = m_shape.width;
  std::vector<small_matrix> from = measure(j);
  if (which == stage::project) {
    from.push_back(m_projected);
    const small_matrix to[] = {m_plain[k], m_projected};
    small_operation("project", from, to, [b, j](views in, views out) {
      give_coefficients(in.first(in.size() - 1), identity(b), out[0]);
      for (std::int64_t row = 0; row < j * b; ++row)
        for (std::int64_t c = 0; c < b; ++c)
          out[1](row, (j - 1) * b + c) = in[static_cast<std::size_t>(row / b)](row % b, c);
    });
    combine(sources(j, false), m_plain[k], std::span(&m_next, 1));
    return;
  }
  gram(m_next, m_next, m_products);
  from.push_back(m_products);
  if (which == stage::orthonormalize) {
    const small_matrix to[] = {m_filling[k], m_rest};
    small_operation("orthonormalize", from, to, [b, floor = m_floor](views in, views out) {
      const views overlaps = in.first(in.size() - 1);
      const small_table t = orthonormalizing(overlaps, in.back(), floor);
      give_coefficients(overlaps, t, out[0]);
      for (std::int64_t c = t.columns; c < b; ++c) out[0](out[0].rows - b + c, c) = 1;
      std::copy_n(in.back().data, b * b, out[1].data);
    });
    combine(sources(j, true), m_filling[k], std::span(&m_next, 1));
    return;
  }
  from.push_back(m_alive);
  const small_matrix to[] = {m_plain[k], m_alive};
  small_operation("orthonormalize again", from, to, [b, j](views in, views out) {
    const views overlaps = in.first(in.size() - 2);
    const small_table t = orthonormalizing(overlaps, in[in.size() - 2], 0);
    give_coefficients(overlaps, t, out[0]);
    for (std::int64_t c = 0; c < b; ++c) out[1](0, j * b + c) = c < t.columns ? 1 : 0;
  });
  combine(sources(j, false), m_plain[k], std::span(&m_blocks[k], 1));
}

void krylov_basis::restart(const small_matrix& c) {
  const std::span all(m_blocks);
  combine(all.first(static_cast<std::size_t>(m_shape.blocks)), c, all.first(static_cast<std::size_t>(m_shape.kept)));
  copy(m_blocks.back(), m_blocks[static_cast<std::size_t>(m_shape.kept)]);
}

void krylov_basis::combine_kept(const small_matrix& c, const block_vector& y) const {
  combine(std::span(m_blocks).first(static_cast<std::size_t>(m_shape.kept)), c, std::span(&y, 1));
}

}  // namespace tessera::sparse
