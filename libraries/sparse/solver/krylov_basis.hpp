#pragma once
// The orthonormal basis of a block Lanczos method, and the matrix in it.
#include <cstdint>
#include <string>
#include <vector>

#include "libraries/sparse/solver/deflation.hpp"
#include "libraries/sparse/solver/small_table.hpp"
#include "tessera/sparse.hpp"

namespace tessera::sparse {

/// Blocks of `width` vectors; the first `kept` survive a restart.
struct basis_shape {
  std::int64_t width, kept, blocks;
  std::int64_t columns() const noexcept { return width * blocks; }             ///< vectors of the basis
  std::int64_t kept_columns() const noexcept { return width * kept; }          ///< of them after a restart
  std::int64_t past_columns() const noexcept { return width * (blocks + 1); }  ///< with the block that follows
};

/// Blocks V0, V1, ... of orthonormal vectors, H = V^T A V, and a block V(blocks) that follows them. Calls record.
/// Where a block has fewer directions than columns, since an invariant subspace is found, spare vectors step in, once
/// between two calls of refill; when they are used up too, the columns are zero and not `alive`.
class krylov_basis {
 public:
  /// @param floor a vector of at most this length is as good as zero
  krylov_basis(program& p, const linear_operator& a, const basis_shape& shape, double floor,
               reorthogonalization orthogonal = reorthogonalization::full, std::optional<deflation> away = {});

  /// Overwrites the vectors that `begin` makes the first block of, or those that step in. Not within a loop's body.
  void refill(std::uint64_t seed);
  void refill(std::span<const double> row_major);  ///< the same with these
  /// Makes V0 of the spare vectors.
  void begin();
  /// Makes V(j + 1) and column block j of H: A times V(j), orthogonalized in three passes, of which the first is the
  /// method's own: to all blocks, or to the kept ones and the last two.
  void extend(std::int64_t j);
  /// V0 .. V(kept - 1) = the whole basis times C; V(kept) = the block that follows.
  void restart(const small_matrix& c);
  /// Y = [V0 .. V(kept - 1)] C.
  void combine_kept(const small_matrix& c, const block_vector& y) const;

  const basis_shape& shape() const noexcept { return m_shape; }
  const small_matrix& projected() const noexcept { return m_projected; }  ///< H: its upper triangle
  const small_matrix& alive() const noexcept { return m_alive; }          ///< 1 x past_columns: 1, or 0 for no vector
  const small_matrix& rest() const noexcept { return m_rest; }  ///< W^T W of the last extension, W what H leaves of A V
  /// 1 x 1: spare vectors that stepped in where a block was not made orthogonal to all others, so that they are not.
  const small_matrix& strayed() const noexcept { return m_strayed; }

 private:
  enum class stage : std::uint8_t {
    project,          ///< W -= V V^T W, and W T with an orthogonal T where columns hide shorter directions
    orthonormalize,   ///< that again, and columns of length 1; spare vectors for those that are missing
    orthonormalize_2  ///< that again, into the next block
  };
  void orthogonalize(std::int64_t j, stage which);
  std::vector<std::size_t> earlier(std::int64_t j) const;
  std::vector<small_matrix> measure(std::span<const std::size_t> blocks);
  std::vector<block_vector> sources(std::span<const std::size_t> blocks, bool spare) const;

  const linear_operator m_operator;
  basis_shape m_shape;
  double m_floor;
  reorthogonalization m_orthogonal;
  std::optional<deflation> m_away;
  std::vector<block_vector> m_blocks;
  block_vector m_next, m_spare;
  std::vector<small_matrix> m_overlaps;  ///< V(i)^T W
  small_matrix m_products, m_rest, m_projected, m_alive, m_strayed, m_turned;
  std::vector<small_matrix> m_plain, m_filling;  ///< coefficients, per block that is made; with spare vectors
};

/// H of the columns that are alive: a direction that an invariant subspace has not is zero in H, and those behind it
/// are no part of the basis. Waits for it.
small_table projection(const krylov_basis& basis);

}  // namespace tessera::sparse
