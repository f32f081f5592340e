#include "languages/sial/chemistry/pair_instructions.hpp"

#include <fmt/format.h>

#include <array>

#include "languages/sial/instructions/builtin/arguments.hpp"

namespace tessera::sial {
namespace {

/// Where the pairs p <= q of two segments stand in a dimension of pairs. Of one segment with itself, p <= q.
class pairs_of_segments {
 public:
  /// Dimensions `first` and `second` of a block.
  pairs_of_segments(const sial_argument& block, int first, int second)
      : m_rows(block.extents[first]),
        m_columns(block.extents[second]),
        m_equal(block.offsets[first] == block.offsets[second] && m_rows == m_columns),
        m_in_order(block.offsets[first] <= block.offsets[second]) {}

  std::int64_t count() const noexcept { return m_equal ? m_rows * (m_rows + 1) / 2 : m_rows * m_columns; }
  std::int64_t rows() const noexcept { return m_rows; }
  bool is_equal() const noexcept { return m_equal; }
  bool is_in_order() const noexcept { return m_in_order; }
  /// How many p there are for a q.
  std::int64_t rows_of(std::int64_t q) const noexcept { return m_equal ? q + 1 : m_rows; }
  /// Of element (p, q) of a block whose pair may be (q, p).
  std::int64_t ordinal(std::int64_t p, std::int64_t q) const noexcept {
    if (!m_equal) return m_in_order ? p + m_rows * q : q + m_columns * p;
    return p <= q ? p + q * (q + 1) / 2 : q + p * (p + 1) / 2;
  }
  /// -1: the pair is (q, p).
  double sign(std::int64_t p, std::int64_t q) const noexcept { return (m_equal ? p <= q : m_in_order) ? 1 : -1; }

 private:
  std::int64_t m_rows, m_columns;
  bool m_equal, m_in_order;
};

/// The pairs of a block [a,i,b,j]: (a,b) and (i,j), which a block over pairs [ab,ij] must have.
struct pairs_of_block {
  explicit pairs_of_block(const sial_argument& block) : ab((expect_rank(block, 4, 4), block), 0, 2), ij(block, 1, 3) {}
  void expect(const sial_argument& packed) const {
    if (packed.rank != 2 || packed.extents[0] != ab.count() || packed.extents[1] != ij.count())
      refuse(fmt::format("{} is {}, and {} x {} pairs are expected", shown(packed), extents_of(packed), ab.count(),
                         ij.count()));
  }
  pairs_of_segments ab, ij;
};

std::array<std::int64_t, 4> strides_of(const sial_argument& block) {
  return {1, block.extents[0], block.extents[0] * block.extents[1],
          block.extents[0] * block.extents[1] * block.extents[2]};
}

/// wrr: X[ab,ij] = Y[a,i,b,j] + sign * Z[a,j,b,i]; half of it where i and j are the same.
void pack(const instruction_call& c, double sign) {
  const sial_argument &packed = c.arguments[0], &y = c.arguments[1], &z = c.arguments[2];
  const pairs_of_block pairs(y);
  pairs.expect(packed);
  if (!pairs.ab.is_in_order() || !pairs.ij.is_in_order())
    refuse(fmt::format("the segments of {} are not in order", shown(y)));
  expect_rank(z, 4, 4);
  for (const auto& [mine, other] : {std::pair(0, 0), {1, 3}, {2, 2}, {3, 1}})
    if (y.offsets[mine] != z.offsets[other] || y.extents[mine] != z.extents[other])
      refuse(fmt::format("{} is not {} with its second and fourth index exchanged", shown(z), shown(y)));
  const std::array<std::int64_t, 4> of_y = strides_of(y), of_z = strides_of(z);
  double* to = packed.data;
  for (std::int64_t j = 0; j < y.extents[3]; ++j)
    for (std::int64_t i = 0; i < pairs.ij.rows_of(j); ++i) {
      const bool same = pairs.ij.is_equal() && i == j;
      const double of_first = same ? 0.5 : 1, of_second = same ? 0.5 * sign : sign;
      const double* const first = y.data + i * of_y[1] + j * of_y[3];
      const double* const second = z.data + j * of_z[1] + i * of_z[3];
      for (std::int64_t b = 0; b < y.extents[2]; ++b) {
        const std::int64_t rows = pairs.ab.rows_of(b);
        for (std::int64_t a = 0; a < rows; ++a)
          to[a] = of_first * first[a + b * of_y[2]] + of_second * second[a + b * of_z[2]];
        to += rows;
      }
    }
}

/// wrr: what was packed: Y[a,i,b,j] = (S[ab,ij] + A[ab,ij]) / 2, and half of the difference where the pair is (b,a) or
/// (j,i). Twice as much where i and j are the same.
void unpack(const instruction_call& c) {
  const sial_argument &y = c.arguments[0], &symmetric = c.arguments[1], &antisymmetric = c.arguments[2];
  const pairs_of_block pairs(y);
  pairs.expect(symmetric);
  pairs.expect(antisymmetric);
  double* to = y.data;
  for (std::int64_t j = 0; j < y.extents[3]; ++j)
    for (std::int64_t b = 0; b < y.extents[2]; ++b)
      for (std::int64_t i = 0; i < y.extents[1]; ++i) {
        const std::int64_t column = pairs.ij.ordinal(i, j) * pairs.ab.count();
        const double of_same = pairs.ij.is_equal() && i == j ? 1 : 0.5, sign = pairs.ij.sign(i, j);
        for (std::int64_t a = 0; a < y.extents[0]; ++a) {
          const std::int64_t at = column + pairs.ab.ordinal(a, b);
          *to++ = of_same * (symmetric.data[at] + sign * pairs.ab.sign(a, b) * antisymmetric.data[at]);
        }
      }
}

}  // namespace

std::vector<instruction> pair_instructions() {
  return {{"pack_symmetric", {"wrr"}, {}, [](const instruction_call& c) { pack(c, 1); }},
          {"pack_antisymmetric", {"wrr"}, {}, [](const instruction_call& c) { pack(c, -1); }},
          {"unpack_pairs", {"wrr"}, {}, unpack}};
}

}  // namespace tessera::sial
