#pragma once
// The factor of a symmetric matrix whose entries are near the diagonal, or can be brought there.
#include <cstdint>
#include <vector>

#include "libraries/sparse/matrix/csr_matrix.hpp"

namespace tessera::sparse {

/// The lower Cholesky factor of A, in the order of reverse Cuthill-McKee: of each row what is between its first entry
/// and the diagonal.
class envelope_factor {
 public:
  explicit envelope_factor(const csr_matrix& a);

  /// Elements of the factor, and multiplications and additions to make it. Both are known before factorize.
  double elements() const noexcept { return static_cast<double>(m_starts.back()); }
  double operations() const noexcept;
  /// Factorizes A - shift I. Returns false where it is not positive definite: a pivot is not above 0.
  bool factorize(double shift);
  /// x = (A - shift I)^-1 x, in the order of the factor, after a factorization.
  void solve(std::vector<double>& x) const;
  /// A in the order of the factor.
  const csr_matrix& matrix() const noexcept { return m_matrix; }

 private:
  csr_matrix m_matrix;
  std::vector<std::size_t> m_first, m_starts;  ///< a row's first column, and where its elements begin
  std::vector<double> m_factor;
};

}  // namespace tessera::sparse
