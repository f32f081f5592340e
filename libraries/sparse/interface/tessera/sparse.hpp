#pragma once
// Iterative solvers as programs of operations on sparse matrices and blocks of vectors. Calls record; an iteration
// becomes one task graph over all of its operations, panel by panel, and is replayed (docs/sparse.md).
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <vector>

#include "libraries/sparse/matrix/generate.hpp"
#include "tessera/sparse/block_vector.hpp"     // IWYU pragma: export
#include "tessera/sparse/linear_operator.hpp"  // IWYU pragma: export
#include "tessera/sparse/linear_solver.hpp"    // IWYU pragma: export
#include "tessera/sparse/program_options.hpp"  // IWYU pragma: export
#include "tessera/sparse/stop_criterion.hpp"   // IWYU pragma: export
#include "tessera/tessera.hpp"

namespace tessera::sparse {

struct program_state;

/// When a loop ends, beside its condition.
struct loop_options {
  int max_iterations = 1000;                 ///< at least 0
  std::function<void(int)> after_each = {};  ///< called behind each iteration with their number so far
  /// Iterations that begin before the condition and after_each are asked about an earlier one, so that nothing waits at
  /// its end. When the loop ends, up to so many more have run than the condition has seen, and the values are those of
  /// the last. What the two record is done before the next iteration that begins. With execution::at_once there is no
  /// lag.
  int lag = 0;
  std::vector<small_matrix> watched =
      {};  ///< with a lag: what the two read, as it was behind the iteration in question
};

/// How a program makes products with a matrix.
struct product_form {
  matrix_form form = matrix_form::csr;
  std::string text = {};   ///< its name and, where it was chosen, what was measured; for messages
  std::int64_t bytes = 0;  ///< of the matrix that a product reads
};

/// Vectors of the rows of one operator, and the operations that were recorded on them. One thread at a time.
class program {
 public:
  /// Cuts the rows of a square operator into panels, balanced by the nonzeros of its heaviest matrix. Throws
  /// tessera::error: input for one that is not square, and a matrix that is not well formed; usage for a negative
  /// number of rows, a location that does not exist, and inside a task.
  program(runtime& rt, const linear_operator& a, const program_options& options = {});
  /// Waits; what is recorded and was not asked for does not run. Inside a task, which it would wait for, it stays, and
  /// the next fence throws an error (usage) that says so.
  ~program();
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  /// Zeros. Throws tessera::error (usage) for less than one column, (memory) when there is none.
  block_vector vector(std::string name, std::int64_t columns);
  /// Zeros. Throws tessera::error (usage) for less than one row or column.
  small_matrix small(std::string name, std::int64_t rows, std::int64_t columns);

  /// Runs what was recorded and waits for it. Throws what it throws. Reading a value does so too.
  void run();
  /// Runs `body` until `converged` says so, asked before each iteration, or loop_options::max_iterations have run:
  /// that is no error, and loop_outcome::converged tells the two apart. `body` records an iteration: it is called
  /// twice, compared, made one graph, and replayed; so it must record the same each time and read no value. What
  /// `converged` and loop_options::after_each record is done before the next iteration. With execution::at_once the
  /// body is called each time. Throws tessera::error: usage when the two differ, for a negative lag, for no function
  /// and for another program's small matrices to watch, and what the iterations throw. What body, condition or
  /// after_each had recorded when one of them threw is dropped.
  loop_outcome while_not(const std::function<bool()>& converged, const std::function<void()>& body,
                         const loop_options& options = {});

  std::int64_t panels() const noexcept;  ///< tasks of a pass over the rows
  work_count work() const;               ///< of all that ran so far
  /// How products of a matrix of the program's shape with so many vectors are made: chosen now, or before. Throws
  /// tessera::error: usage for another shape and less than one column, input for a matrix that is not well formed.
  product_form form_of(const csr_matrix& a, std::int64_t columns);
  program_state& state() noexcept { return *m_state; }  ///< for the operations

 private:
  std::unique_ptr<program_state> m_state;
};

// ---------------------------------------------------------------------------------------------------------------------
// Operations. Each is recorded with the program of its operands, and takes place in the order of the calls. Shapes that
// do not fit, operands of two programs, and calls inside of a task (which functions of small operations are) throw
// tessera::error (usage).

/// G = X^T Y: columns of X by columns of Y. Summed panel by panel in a fixed tree: the same bits for any workers.
void gram(const block_vector& x, const block_vector& y, const small_matrix& g);
/// [Y1 Y2 ...] = [X1 X2 ...] C + beta [Y1 Y2 ...] at one time: a block may be source and destination. C has a row for
/// each column of the sources, and a column for each of the destinations. With beta 0 the Y before do not matter.
void combine(std::span<const block_vector> x, const small_matrix& c, std::span<const block_vector> y, double beta = 0);
/// The same, of blocks that are listed where it is called.
inline void combine(std::initializer_list<block_vector> x, const small_matrix& c, std::initializer_list<block_vector> y,
                    double beta = 0) {
  combine(std::span(x.begin(), x.size()), c, std::span(y.begin(), y.size()), beta);
}
/// Y = X C + beta Y.
void combine(const block_vector& x, const small_matrix& c, const block_vector& y, double beta = 0);
/// Y = Y + X diag(alpha); alpha is 1 x columns.
void axpy(const small_matrix& alpha, const block_vector& x, const block_vector& y);
/// Y = Y + alpha X.
void axpy(double alpha, const block_vector& x, const block_vector& y);
/// Y = alpha X + beta Y. With beta 0 the Y before do not matter.
void axpby(double alpha, const block_vector& x, double beta, const block_vector& y);
/// X = X diag(alpha); alpha is 1 x columns.
void scale(const small_matrix& alpha, const block_vector& x);
/// Y = X.
void copy(const block_vector& x, const block_vector& y);
/// Z = X Y, element by element; Z may be X or Y.
void hadamard(const block_vector& x, const block_vector& y, const block_vector& z);
/// norms(0, j) = 2-norm of column j. Summed as gram is.
/// Squares are added up: columns whose largest element is above 1e150 or below 1e-150 may have a norm of infinity, or
/// 0.
void column_norms(const block_vector& x, const small_matrix& norms);
/// dots(0, j) = product of column j of X with column j of Y. Summed as gram is.
void column_dots(const block_vector& x, const block_vector& y, const small_matrix& dots);

/// A small matrix in the hands of a small operation.
struct small_view {
  double* data = nullptr;  ///< row-major; those of the sources may only be read
  std::int64_t rows = 0, columns = 0;
  double& operator()(std::int64_t i, std::int64_t j) const noexcept { return data[i * columns + j]; }  ///< an element
};
/// Sources and destinations, in the order of the call.
using small_function = std::function<void(std::span<const small_view> from, std::span<const small_view> to)>;
/// An operation of the program's own on small matrices: one task of the host. A matrix may be source and destination
/// (it has one view in each list then). What the function throws, the program's next run throws. The function is kept,
/// and called once for each iteration of a loop. Errors of this and of the operations below name the line of the call.
void small_operation(const std::string& name, std::span<const small_matrix> from, std::span<const small_matrix> to,
                     small_function function, std::source_location site = std::source_location::current());
/// A V = V diag(lambda) for a symmetric A, whose lower triangle counts; lambda is 1 x n, ascending. V may be A, but not
/// lambda. Fails (numerical) when the values do not converge.
void syevd(const small_matrix& a, const small_matrix& v, const small_matrix& lambda,
           std::source_location site = std::source_location::current());
/// A V = B V diag(lambda), V^T B V = I. Fails (numerical) too when B is not positive definite.
void sygvd(const small_matrix& a, const small_matrix& b, const small_matrix& v, const small_matrix& lambda,
           std::source_location site = std::source_location::current());

/// A = L L^T for a symmetric A, whose lower triangle counts; zeros above. L may be A. Fails (numerical) when A is not
/// positive definite.
void potrf(const small_matrix& a, const small_matrix& l, std::source_location site = std::source_location::current());
/// Where a triangular factor stands.
enum class factor_side : std::uint8_t {
  left,  ///< L X = B
  right  ///< X L^T = B: a block Y with Y^T Y = L L^T becomes orthonormal by combine(Y, X, Y), B = I
};
/// Solves with the lower triangle of L. X may be B. Fails (numerical) when an element of the diagonal is 0.
void trsm_small(const small_matrix& l, const small_matrix& b, const small_matrix& x, factor_side side,
                std::source_location site = std::source_location::current());
/// A = U diag(values) V^T; k = the smaller of A's rows and columns; U has k columns, V too; values are 1 x k and
/// descend. Fails (numerical) when they do not converge.
void svd(const small_matrix& a, const small_matrix& u, const small_matrix& values, const small_matrix& v,
         std::source_location site = std::source_location::current());

}  // namespace tessera::sparse
