#pragma once
// Eigenpairs of a symmetric sparse matrix by LOBPCG: Knyazev, SIAM J. Sci. Comput. 23 (2001) 517.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "apps/sparse/solver/pencil.hpp"
#include "tessera/sparse.hpp"

namespace tessera::sparse {

/// What a residual ||A x - lambda x||, ||x|| = 1, is compared with.
enum class criterion : std::uint8_t {
  relative,  ///< tolerance * |lambda|
  norm,      ///< tolerance * ||A||, by the infinity norm
  absolute   ///< tolerance
};

/// How far a solution is.
struct lobpcg_progress {
  int iteration;
  std::int64_t converged, pairs;
  double largest_residual;  ///< of the pairs that are asked for
};

struct lobpcg_options {
  std::int64_t pairs = 8;
  std::int64_t block = 0;  ///< vectors that are iterated, at least `pairs`; 0: a little more, in fours
  spectrum_end which = spectrum_end::smallest;
  double tolerance = 1e-8;
  criterion compare = criterion::relative;
  int most_iterations = 1000;
  bool jacobi = false;  ///< precondition by the diagonal
  std::uint64_t seed = 1;
  program_options program = {};
  std::function<void(const lobpcg_progress&)> report = {};  ///< called behind each iteration
};

/// An eigenvalue and how sure it is.
struct eigenvalue {
  double value;
  double residual;     ///< of a product with A made anew at the end
  double error_bound;  ///< an eigenvalue lies within: the residual, and what rounding leaves unknown
  bool converged;      ///< by the criterion, or to what rounding allows
  bool at_rounding;    ///< converged by the latter alone
};

struct eigenpairs {
  std::vector<eigenvalue> values;  ///< the outermost first
  std::vector<double> vectors;     ///< rows x pairs, row-major
  double orthogonality = 0;        ///< largest |X^T X - I|
  double norm = 0;                 ///< the matrix's infinity norm
  std::int64_t block = 0;          ///< as used
  bool dense = false;              ///< solved as a dense matrix: the block was too large for it
  loop_outcome loop = {};          ///< of all iterations; those of restarts added up
  std::int64_t panels = 0;
  bool converged() const noexcept;  ///< all pairs
};

/// Bytes that a solution takes at least, beside the matrix. Throws what lobpcg throws for the block.
double least_memory_of(const csr_matrix& a, const lobpcg_options& options);

/// The `pairs` smallest or largest eigenvalues with their vectors. A matrix of fewer rows than three blocks is solved
/// as a dense one. Throws tessera::error: usage for a block smaller than the pairs, more pairs than rows, and a
/// tolerance that is negative or no number; input for a norm that is not finite; numerical when the directions break
/// down. What did not converge is returned, and says so.
eigenpairs lobpcg(runtime& rt, const csr_matrix& a, const lobpcg_options& options);

}  // namespace tessera::sparse
