#pragma once
// Directions that are known, and that a solution is to have no part of.
#include <optional>

#include "libraries/sparse/solver/eigenpairs.hpp"

namespace tessera::sparse {

/// The span of eigen_options::deflate, as an orthonormal block (in B, where there is a mass matrix). Calls record.
class deflation {
 public:
  /// None where there are no vectors. `columns`: of the blocks that are projected. `with_products`: with a matrix A,
  /// whose products with blocks are to be projected too.
  static std::optional<deflation> of(program& p, std::int64_t rows, const eigen_options& o, std::int64_t columns,
                                     const csr_matrix* with_products = nullptr);

  /// X = X - Y (B Y)^T X.
  void project(const block_vector& x) const;
  /// The same, and what belongs to it of AX and BX (which is X where there is no B); with the products of A.
  void project(const block_vector& x, const block_vector& ax, const block_vector& bx) const;

 private:
  deflation(program& p, std::int64_t rows, const eigen_options& o, std::int64_t columns, const csr_matrix* a);
  void measure(const block_vector& x) const;

  bool m_has_mass;
  block_vector m_y, m_by, m_ay;  ///< fewer blocks where there is no B, no A
  small_matrix m_overlap, m_minus_overlap;
};

/// How many vectors are deflated.
std::int64_t deflated_columns(const csr_matrix& a, const eigen_options& o);
/// How many eigenvalues are left beside the deflated vectors, which may depend on each other.
std::int64_t pairs_left(const csr_matrix& a, const eigen_options& o);
/// Throws tessera::error (usage) for vectors of other rows, numbers that are not finite, and where fewer eigenvalues
/// are left than pairs are asked for.
void require_deflation(const csr_matrix& a, const eigen_options& o);
/// Throws tessera::error (usage) for more pairs than are left.
void require_pairs_left(std::int64_t pairs, std::int64_t left);

}  // namespace tessera::sparse
