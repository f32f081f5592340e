#pragma once
// Rows of two-electron integrals, and what they add to Coulomb and exchange matrices.
#include <cstddef>
#include <span>
#include <vector>

namespace tessera::chemistry {

/// The functions first, first + 1, ..., first + count - 1.
struct function_run {
  std::size_t first = 0, count = 0;
};

/// Matrices over all functions, row major. The mean of both triangles is meant, of exchange half of it.
struct fock_sums {
  std::vector<double> coulomb;
  std::vector<std::vector<double>> exchange;  ///< one for each density
};

/// Integrals (ab|cd): for each function of a, of b and of c, which is fastest, a row over the functions d of some runs.
struct integral_rows {
  function_run a, b, c;
  std::span<const function_run> d;
  const double* values = nullptr;
};

/// Contracts rows with densities, which outlive it. Reading is safe for many threads.
class row_contraction {
 public:
  /// Densities are symmetric, n x n.
  row_contraction(std::size_t n, std::span<const std::vector<double>> densities);

  /// J_ab += (ab|cd) D_cd with the sum of the densities, K_ac += (ab|cd) D_bd of each, and the like for the integrals
  /// that equal (ab|cd): J_cd, K_ad, K_bc, K_bd.
  void add(const integral_rows& rows, fock_sums& into) const;

 private:
  void add_all(const integral_rows& rows, fock_sums& into) const;
  void add_one(std::size_t a, std::size_t b, std::size_t c, const function_run& d, const double* v,
               fock_sums& into) const;

  const std::size_t m_n;
  const std::span<const std::vector<double>> m_densities;
  std::vector<double> m_sum;  // of several densities
  const double* m_total;
};

}  // namespace tessera::chemistry
