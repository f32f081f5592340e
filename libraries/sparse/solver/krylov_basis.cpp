#include "libraries/sparse/solver/krylov_basis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "libraries/sparse/solver/convergence.hpp"
#include "libraries/sparse/solver/small_table.hpp"

namespace tessera::sparse {
namespace {

using views = std::span<const small_view>;

small_table identity(std::int64_t n) {
  small_table made(n, n);
  for (std::int64_t i = 0; i < n; ++i) made(i, i) = 1;
  return made;
}

void clear(const small_view& v) { std::fill_n(v.data, v.rows * v.columns, 0.0); }

/// What is left of W^T W, `products`, beside V.
small_table left_beside(views overlaps, const small_view& products) {
  const std::int64_t b = products.rows;
  small_table left(b, b);
  for (std::int64_t r = 0; r < b; ++r)
    for (std::int64_t c = 0; c < b; ++c) {
      double sum = products(r, c);
      for (const small_view& o : overlaps)
        for (std::int64_t k = 0; k < b; ++k) sum -= o(k, r) * o(k, c);
      left(r, c) = sum;
    }
  return left;
}

/// Columns T of W (I - V V^T) T = orthonormal, by the products V(i)^T W and, behind them, W^T W. Shorter columns than
/// `floor`, and directions that depend on others, are left out.
small_table orthonormalizing(views overlaps, const small_view& products, double floor) {
  const std::int64_t b = products.rows;
  std::vector<double> factor(static_cast<std::size_t>(b));
  for (std::int64_t c = 0; c < b; ++c) {
    const double square = products(c, c);
    factor[static_cast<std::size_t>(c)] = square > floor * floor ? 1 / std::sqrt(square) : 0;
  }
  small_table left = left_beside(overlaps, products);
  for (std::int64_t r = 0; r < b; ++r)
    for (std::int64_t c = 0; c < b; ++c)
      left(r, c) = left(r, c) * factor[static_cast<std::size_t>(r)] * factor[static_cast<std::size_t>(c)];
  small_table made = whitening(left, dependent);
  for (std::int64_t r = 0; r < b; ++r)
    for (std::int64_t c = 0; c < made.columns; ++c) made(r, c) *= factor[static_cast<std::size_t>(r)];
  return made;
}

/// An orthogonal T for which a direction that is far longer than others is a column of W T of its own. In every column
/// it would hide the others: their products are lost to rounding, and they would be left out as if they depended on it.
small_table setting_apart(views overlaps, const small_view& products) {
  constexpr double far_shorter = 1e-8;  // by squares of lengths
  small_table vectors = left_beside(overlaps, products);
  const std::vector<double> squares = diagonalize(vectors);
  return squares.front() < far_shorter * squares.back() ? vectors : identity(products.rows);
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

/// W^T W as it was before W was turned: T (W T)^T (W T) T^T.
void give_rest(const small_view& products, const small_view& turned, const small_view& to) {
  const std::int64_t b = products.rows;
  small_table of(b, b), t(b, b), t_transposed(b, b);
  std::copy_n(products.data, b * b, of.numbers.begin());
  for (std::int64_t r = 0; r < b; ++r)
    for (std::int64_t c = 0; c < b; ++c) t(r, c) = t_transposed(c, r) = turned(r, c);
  std::ranges::copy(product(product(t, of), t_transposed).numbers, to.data);
}

}  // namespace

krylov_basis::krylov_basis(program& p, const linear_operator& a, const basis_shape& shape, double floor,
                           reorthogonalization orthogonal, std::optional<deflation> away)
    : m_operator(a),
      m_shape(shape),
      m_floor(floor),
      m_orthogonal(orthogonal),
      m_away(std::move(away)),
      m_next(p.vector("W", shape.width)),
      m_spare(p.vector("spare", shape.width)),
      m_products(p.small("W'W", shape.width, shape.width)),
      m_rest(p.small("rest", shape.width, shape.width)),
      m_projected(p.small("V'AV", shape.columns(), shape.columns())),
      m_alive(p.small("alive", 1, shape.past_columns())),
      m_strayed(p.small("strayed", 1, 1)),
      m_turned(p.small("turned", shape.width, shape.width)) {
  const std::int64_t b = shape.width;
  for (std::int64_t j = 0; j <= shape.blocks; ++j) {
    m_blocks.push_back(p.vector(fmt::format("V{}", j), b));
    m_overlaps.push_back(p.small(fmt::format("V{}'W", j), b, b));
    const std::int64_t before = std::ssize(earlier(j));
    m_plain.push_back(p.small(fmt::format("coefficients {}", j), (before + 1) * b, b));
    m_filling.push_back(p.small(fmt::format("coefficients {} with spare", j), (before + 2) * b, b));
  }
}

void krylov_basis::refill(std::uint64_t seed) { m_spare.set(random_start(m_spare.rows() * m_shape.width, seed)); }

void krylov_basis::refill(std::span<const double> row_major) { m_spare.set(row_major); }

/// The blocks that V(j) is made orthogonal to.
std::vector<std::size_t> krylov_basis::earlier(std::int64_t j) const {
  std::vector<std::size_t> made;
  for (std::int64_t i = 0; i < j; ++i)
    if (m_orthogonal == reorthogonalization::full || i < m_shape.kept || i >= j - 2)
      made.push_back(static_cast<std::size_t>(i));
  return made;
}

void krylov_basis::begin() {
  // There is no product yet: W is zero, and the spare vectors step in.
  orthogonalize(0, stage::orthonormalize);
  orthogonalize(0, stage::orthonormalize_2);
}

void krylov_basis::extend(std::int64_t j) {
  apply(m_operator, m_blocks[static_cast<std::size_t>(j)], m_next);
  orthogonalize(j + 1, stage::project);
  orthogonalize(j + 1, stage::orthonormalize);
  orthogonalize(j + 1, stage::orthonormalize_2);
}

std::vector<small_matrix> krylov_basis::measure(std::span<const std::size_t> blocks) {
  std::vector<small_matrix> made;
  for (const std::size_t i : blocks) {
    gram(m_blocks[i], m_next, m_overlaps[i]);
    made.push_back(m_overlaps[i]);
  }
  return made;
}

std::vector<block_vector> krylov_basis::sources(std::span<const std::size_t> blocks, bool spare) const {
  std::vector<block_vector> made;
  for (const std::size_t i : blocks) made.push_back(m_blocks[i]);
  made.push_back(m_next);
  if (spare) made.push_back(m_spare);
  return made;
}

void krylov_basis::orthogonalize(std::int64_t j, stage which) {
  const auto k = static_cast<std::size_t>(j);
  const std::int64_t b = m_shape.width;
  if (m_away) m_away->project(m_next);
  const std::vector<std::size_t> blocks = earlier(j);
  std::vector<small_matrix> from = measure(blocks);
  if (which == stage::project) {
    gram(m_next, m_next, m_products);
    from.push_back(m_products);
    from.push_back(m_projected);
    const small_matrix to[] = {m_plain[k], m_projected, m_turned};
    small_operation("project", from, to, [b, j, blocks](views in, views out) {
      const views overlaps = in.first(in.size() - 2);
      const small_table turned = setting_apart(overlaps, in[in.size() - 2]);
      give_coefficients(overlaps, turned, out[0]);
      std::ranges::copy(turned.numbers, out[2].data);
      // A block that is left out is orthogonal by the method itself: A couples neighbours, and what was kept.
      for (std::int64_t row = 0; row < j * b; ++row) std::fill_n(&out[1](row, (j - 1) * b), b, 0.0);
      for (std::size_t i = 0; i < blocks.size(); ++i)
        for (std::int64_t r = 0; r < b; ++r)
          std::copy_n(&in[i](r, 0), b, &out[1](static_cast<std::int64_t>(blocks[i]) * b + r, (j - 1) * b));
    });
    combine(sources(blocks, false), m_plain[k], std::span(&m_next, 1));
    return;
  }
  gram(m_next, m_next, m_products);
  from.push_back(m_products);
  if (which == stage::orthonormalize) {
    from.push_back(m_turned);
    from.push_back(m_strayed);
    const small_matrix to[] = {m_filling[k], m_rest, m_strayed};
    const bool to_all = std::ssize(blocks) == j;
    small_operation("orthonormalize", from, to, [b, floor = m_floor, to_all](views in, views out) {
      const views overlaps = in.first(in.size() - 3);
      const small_view &products = in[in.size() - 3], &turned = in[in.size() - 2];
      const small_table t = orthonormalizing(overlaps, products, floor);
      if (!to_all) out[2](0, 0) += static_cast<double>(b - t.columns);
      give_coefficients(overlaps, t, out[0]);
      for (std::int64_t c = t.columns; c < b; ++c) out[0](out[0].rows - b + c, c) = 1;
      give_rest(products, turned, out[1]);
    });
    combine(sources(blocks, true), m_filling[k], std::span(&m_next, 1));
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
  combine(sources(blocks, false), m_plain[k], std::span(&m_blocks[k], 1));
}

void krylov_basis::restart(const small_matrix& c) {
  const std::span all(m_blocks);
  combine(all.first(static_cast<std::size_t>(m_shape.blocks)), c, all.first(static_cast<std::size_t>(m_shape.kept)));
  copy(m_blocks.back(), m_blocks[static_cast<std::size_t>(m_shape.kept)]);
}

void krylov_basis::combine_kept(const small_matrix& c, const block_vector& y) const {
  combine(std::span(m_blocks).first(static_cast<std::size_t>(m_shape.kept)), c, std::span(&y, 1));
}

small_table projection(const krylov_basis& basis) {
  const std::int64_t columns = basis.shape().columns();
  const std::vector<double> products = basis.projected().values(), alive = basis.alive().values();
  const auto size = std::find(alive.begin(), alive.begin() + columns, 0.0) - alive.begin();
  small_table h(size, size);
  for (std::int64_t i = 0; i < size; ++i)
    for (std::int64_t j = 0; j < size; ++j)
      h(i, j) = products[static_cast<std::size_t>(std::min(i, j) * columns + std::max(i, j))];
  return h;
}

}  // namespace tessera::sparse
