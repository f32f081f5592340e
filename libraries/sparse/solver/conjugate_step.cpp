#include "libraries/sparse/solver/conjugate_step.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "libraries/sparse/solver/small_table.hpp"

namespace tessera::sparse {
namespace {

/// A -= B (C^T A), the part of A that B and C name.
void take_away(small_table& a, const small_table& b, const small_table& c) {
  const small_table part = product(b, adjoint_product(c, a));
  for (std::size_t k = 0; k < a.numbers.size(); ++k) a.numbers[k] -= part.numbers[k];
}

/// Columns times T with T^T H T = I, where H has their products: those of more than `least` of the square of 1, and of
/// them what does not depend on others.
small_table orthonormal(const small_table& columns, const small_table& h, double least) {
  std::vector<std::int64_t> kept;
  std::vector<double> factors;
  for (std::int64_t j = 0; j < h.columns; ++j)
    if (h(j, j) > least) kept.push_back(j), factors.push_back(1 / std::sqrt(h(j, j)));
  const auto count = std::ssize(kept);
  small_table unit(count, count), of_unit_length(columns.rows, count);
  for (std::int64_t j = 0; j < count; ++j) {
    const auto l = static_cast<std::size_t>(j);
    for (std::int64_t i = 0; i < count; ++i) {
      const auto k = static_cast<std::size_t>(i);
      unit(i, j) = h(kept[k], kept[l]) * factors[k] * factors[l];
    }
    for (std::int64_t i = 0; i < columns.rows; ++i) of_unit_length(i, j) = columns(i, kept[l]) * factors[l];
  }
  if (count == 0) return of_unit_length;
  return product(of_unit_length, whitening(unit, dependent));
}

/// Of the span of S, by coefficients: orthonormal in the inner product `g`, the products of S.
class basis_of_parts {
 public:
  explicit basis_of_parts(const small_table& g) : m_g(g), m_t(g.rows, 0) {}

  /// What some columns of S, of unit length, add to it. Those of which no more than `least` of the square is left
  /// beside it add nothing.
  void add(std::int64_t begin, std::int64_t end, double least) {
    if (begin == end) return;
    small_table rest(m_g.rows, end - begin);
    for (std::int64_t j = begin; j < end; ++j) rest(j, j - begin) = 1;
    const small_table products = product(m_g, m_t);
    if (m_t.columns > 0)
      for (int twice = 0; twice < 2; ++twice) take_away(rest, m_t, products);
    append(orthonormal(rest, adjoint_product(rest, product(m_g, rest)), least));
  }
  const small_table& vectors() const noexcept { return m_t; }

 private:
  void append(const small_table& more) {
    small_table all(m_t.rows, m_t.columns + more.columns);
    for (std::int64_t i = 0; i < all.rows; ++i)
      for (std::int64_t j = 0; j < all.columns; ++j) all(i, j) = j < m_t.columns ? m_t(i, j) : more(i, j - m_t.columns);
    m_t = std::move(all);
  }

  const small_table& m_g;
  small_table m_t;
};

/// Of orthonormal columns Z, what they have outside of the first rows: orthonormal, and orthogonal to Z. All numbers
/// are at most 1, however small that part is: what is made of products by them has no larger errors than these.
small_table outside(const small_table& z, std::int64_t rows) {
  constexpr double nothing = 1e-28;  // the square of what rounding leaves of a number 1
  small_table d = z;
  std::fill_n(d.numbers.begin(), rows * d.columns, 0.0);
  for (int twice = 0; twice < 2; ++twice) take_away(d, z, z);
  for (int twice = 0; twice < 2 && d.columns > 0; ++twice) {
    d = orthonormal(d, adjoint_product(d, d), nothing);
    if (d.columns > 0) take_away(d, z, z);
  }
  return d;
}

/// Of products that are sums of the old ones of X and P.
std::vector<double> grown(const std::vector<double>& growth, std::int64_t b, const std::vector<double>& coefficients) {
  std::vector<double> squares(static_cast<std::size_t>(b), 1.0);
  for (std::int64_t i = 0; i < 2 * b; ++i) {
    const std::int64_t row = i < b ? i : b + i;  // between them are those of R
    for (std::int64_t j = 0; j < b; ++j) {
      const double part = coefficients[static_cast<std::size_t>(row * b + j)] * growth[static_cast<std::size_t>(i)];
      squares[static_cast<std::size_t>(j)] += part * part;
    }
  }
  std::ranges::transform(squares, squares.begin(), [](double s) { return std::sqrt(s); });
  return squares;
}

}  // namespace

conjugate_step conjugate_step_of(const pencil& p, std::int64_t b, spectrum_end end, const std::vector<bool>& used,
                                 const std::vector<double>& growth) {
  const unit_pencil s = of_unit_length(p, used);
  const auto columns_before = [&](std::int64_t column) {
    return std::ranges::lower_bound(s.columns, column) - s.columns.begin();
  };
  const std::int64_t of_r = columns_before(b), of_p = columns_before(2 * b), all = std::ssize(s.columns);
  constexpr double bad = 0.01;  // P is orthonormal but for rounding; directions that are not are dropped
  basis_of_parts basis(s.products);
  basis.add(0, of_r, dependent);
  const std::int64_t of_x = basis.vectors().columns;
  basis.add(of_p, all, bad);
  basis.add(of_r, of_p, dependent);
  const small_table& t = basis.vectors();
  require_directions(t.columns, b);

  outermost_pairs outermost = outermost_of(s, t, b, end);
  conjugate_step step;
  step.values = std::move(outermost.values);
  step.vectors = s.spread(product(t, outermost.vectors), b);
  step.directions = s.spread(product(t, outside(outermost.vectors, of_x)), b);
  step.growth = grown(growth, b, step.vectors);
  std::ranges::copy(grown(growth, b, step.directions), std::back_inserter(step.growth));
  step.dropped = p.m - t.columns;
  return step;
}

}  // namespace tessera::sparse
