#pragma once
// Rayleigh-Ritz in a small space whose basis may be as good as dependent.
#include <cstdint>
#include <span>
#include <vector>

#include "libraries/sparse/solver/small_table.hpp"

namespace tessera::sparse {

/// Which end of the spectrum.
enum class spectrum_end : std::uint8_t {
  smallest,
  largest,
  both  ///< as many of each, one more of the smallest for an odd number
};

/// Where the eigenvalue that is number `rank` from outside stands among `count` ascending ones; of both ends in turn.
std::int64_t outermost_place(std::int64_t rank, std::int64_t count, spectrum_end end) noexcept;
/// The rank of a pair in the order in which pairs are given: from outside; of both ends the smallest first.
std::int64_t rank_of_pair(std::int64_t pair, std::int64_t pairs, spectrum_end end) noexcept;

/// Of so many pairs, those of the lower end. They come first.
std::int64_t pairs_of_lower_end(std::int64_t pairs, spectrum_end end) noexcept;

/// The products of a basis S, m x m, row-major, symmetric up to rounding.
struct pencil {
  std::int64_t m;
  std::vector<double> products_a;  ///< S^T A S
  std::vector<double> products;    ///< S^T S
};

/// The same of the columns of S that are used and not zero, each divided by its length.
struct unit_pencil {
  std::vector<std::int64_t> columns;  ///< of S
  std::vector<double> factors;        ///< what each was multiplied by
  small_table products_a, products;
  /// Coefficients of these columns as those of S, row-major: m x wanted, zeros where there are none.
  std::vector<double> spread(const small_table& of, std::int64_t wanted) const;
  std::int64_t m;
};
unit_pencil of_unit_length(const pencil& p, const std::vector<bool>& used);

/// Ritz values in the span of a basis, the outermost first, and their vectors as coefficients of the basis.
struct outermost_pairs {
  std::vector<double> values;
  small_table vectors;
};
/// `basis`: orthonormal, in coefficients of the pencil's columns; it has at least `wanted` vectors.
outermost_pairs outermost_of(const unit_pencil& s, const small_table& basis, std::int64_t wanted, spectrum_end end);

/// What comes of it. Coefficients are row-major, a row for each column of S.
struct ritz_step {
  std::vector<double> values;   ///< `wanted` Ritz values, the outermost first
  std::vector<double> vectors;  ///< m x wanted: S vectors is orthonormal
  std::int64_t dropped = 0;     ///< directions of S that depend on others, or were not used
};

/// Columns of S that are not `used` take no part. Directions whose part outside of the others is below 1e-6 of their
/// length are dropped. Throws tessera::error (numerical) when fewer than `wanted` are left.
ritz_step rayleigh_ritz(const pencil& p, std::int64_t wanted, spectrum_end end, const std::vector<bool>& used);

/// Throws tessera::error (numerical) when fewer directions are left than are wanted.
void require_directions(std::int64_t left, std::int64_t wanted);

}  // namespace tessera::sparse
