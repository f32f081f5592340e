#pragma once
// What is asked of an eigensolver, and what it finds.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libraries/sparse/solver/pencil.hpp"
#include "tessera/sparse.hpp"

namespace tessera::sparse {

/// What a residual ||A x - lambda x||, ||x|| = 1, is compared with.
enum class criterion : std::uint8_t {
  relative,  ///< tolerance * |lambda|
  norm,      ///< tolerance * ||A||, by the infinity norm
  absolute   ///< tolerance
};

/// What LOBPCG multiplies residuals by.
enum class preconditioning : std::uint8_t {
  automatic,  ///< jacobi where elements of the diagonal differ by more than a factor of two, else none
  none,
  jacobi,        ///< linear_operator::jacobi
  block_jacobi,  ///< linear_operator::block_jacobi
  chebyshev      ///< linear_operator::chebyshev, for the end of the spectrum that is asked for
};

/// What Lanczos makes a new block orthogonal to.
enum class reorthogonalization : std::uint8_t {
  full,      ///< the whole basis
  selective  ///< the Ritz vectors of the last restart, and the last two blocks
};

/// How far one pair is.
struct pair_progress {
  double value, residual;
  double wanted;  ///< a residual of this or less is small enough
};

/// How far a solution is.
struct eigen_progress {
  int iteration;
  std::int64_t converged, pairs;
  double largest_residual;  ///< of the pairs that are asked for
  std::vector<pair_progress> of_pairs = {};
  bool searching = false;  ///< all this is of a search for others, which only tells that it goes on
};

class early_stop;

/// Of every solver.
struct eigen_options {
  std::int64_t pairs = 8;
  std::int64_t block = 0;  ///< vectors that are multiplied together; 0: the solver's choice
  spectrum_end which = spectrum_end::smallest;
  double tolerance = 1e-8;
  criterion compare = criterion::relative;
  int max_iterations = 3000;                                  ///< of Lanczos: restarts
  preconditioning precondition = preconditioning::automatic;  ///< of LOBPCG
  /// Of LOBPCG, in place of that: roughly (A - sigma B)^-1, symmetric and positive definite.
  std::optional<linear_operator> preconditioner = {};
  /// Ends the solution before its pairs are done or max_iterations have run; each pair is judged by `tolerance`
  /// nevertheless. Asked about the pairs that are looked for; a relative residual is one to |lambda|.
  std::optional<stop_criterion> stop = {};
  std::shared_ptr<early_stop> stopping = {};                   ///< for the solvers, which make it of `stop`
  int degree = 0;                                              ///< of Chebyshev polynomials; 0: as convergence asks for
  reorthogonalization orthogonal = reorthogonalization::full;  ///< of Lanczos
  int lag = 0;  ///< iterations that begin before it is known whether an earlier one was the last
  std::uint64_t seed = 1;
  const csr_matrix* mass = nullptr;  ///< B of A x = lambda B x, positive definite; diagonal but for LOBPCG; null: 1
  std::vector<double> guess = {};    ///< rows x columns, row-major: vectors to start with
  std::vector<double> deflate = {};  ///< rows x columns, row-major: pairs are looked for that are orthogonal to these
  bool deflates_found = false;       ///< of Lanczos: residuals are measured beside them, since they are less exact
  program_options program = {};
  std::function<void(const eigen_progress&)> report = {};  ///< called behind each iteration
};

/// An eigenvalue and how sure it is.
struct eigenvalue {
  double value;
  double residual;         ///< ||A x - value B x||, x^T B x = 1, of one more product with A at the end
  double error_bound;      ///< an eigenvalue lies within: the residual, and what rounding leaves unknown
  bool converged;          ///< by the criterion, or to what rounding allows
  bool at_rounding;        ///< converged by the latter alone
  bool clustered = false;  ///< others are so near, and not all of them known, that its number may be another one
  bool unsettled = false;  ///< the search for pairs further out has ended before it was sure: likewise
};

struct eigenpairs {
  std::vector<eigenvalue> values;  ///< the outermost first
  std::vector<double> vectors;     ///< rows x pairs, row-major; X^T B X = I
  double orthogonality = 0;        ///< largest |X^T B X - I|
  double norm = 0;                 ///< the matrix's infinity norm
  std::int64_t block = 0;          ///< as used
  bool dense = false;              ///< solved as a dense matrix: the block was too large for it
  loop_outcome loop = {};          ///< of all iterations; those of restarts added up
  std::int64_t panels = 0;
  int degree = 0;        ///< of the last filter, of Chebyshev
  std::int64_t far = 0;  ///< of Chebyshev: so many of the first pairs are done, and hide the others from the filter
  bool gave_up = false;  ///< of Chebyshev: the largest degree was too slow for the iterations that were left
  std::string stopped_by = {};  ///< which criteria of eigen_options::stop have ended it; "": none
  int searched = 0;             ///< iterations of searches for pairs that were passed over; not those of the loop
  /// Ritz values further out that were seen when no iteration was left: pairs inside of them have not converged.
  std::vector<double> passed_over = {};
  bool converged() const noexcept;  ///< all pairs
};

}  // namespace tessera::sparse
