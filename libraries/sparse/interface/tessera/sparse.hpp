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

#include "libraries/sparse/matrix/csr_matrix.hpp"
#include "libraries/sparse/matrix/generate.hpp"
#include "libraries/sparse/product/matrix_form.hpp"
#include "tessera/runtime.hpp"

namespace tessera::sparse {

struct program_state;
struct vector_data;
struct small_data;

/// rows x columns numbers, row-major: `columns` vectors side by side. A handle: copies name the same numbers, and
/// moving copies, so that none is ever empty. Belongs to the program that made it, and must not be used after that has
/// ended.
class block_vector {
 public:
  /// Made by program::vector.
  explicit block_vector(std::shared_ptr<vector_data> data) noexcept : m_data(std::move(data)) {}
  block_vector(const block_vector&) noexcept = default;             ///< the same numbers
  block_vector& operator=(const block_vector&) noexcept = default;  ///< likewise
  std::int64_t rows() const noexcept;                               ///< those of the program's matrix
  std::int64_t columns() const noexcept;                            ///< vectors
  const std::string& name() const noexcept;                         ///< for messages
  /// Runs what is recorded, waits for it, and copies the numbers, row by row. Throws tessera::error for numbers that an
  /// operation which failed should have made.
  std::vector<double> values() const;
  /// Runs what is recorded, waits for it, and overwrites all numbers. Throws tessera::error (usage) for another count,
  /// and inside a loop's body.
  void set(std::span<const double> row_major);
  vector_data& data() const noexcept { return *m_data; }  ///< for the operations

 private:
  std::shared_ptr<vector_data> m_data;
};

/// A matrix of a few rows and columns, row-major, which one task has at a time. A handle, as block_vector is.
class small_matrix {
 public:
  /// Made by program::small.
  explicit small_matrix(std::shared_ptr<small_data> data) noexcept : m_data(std::move(data)) {}
  small_matrix(const small_matrix&) noexcept = default;             ///< the same numbers
  small_matrix& operator=(const small_matrix&) noexcept = default;  ///< likewise
  std::int64_t rows() const noexcept;                               ///< as it was made
  std::int64_t columns() const noexcept;                            ///< likewise
  const std::string& name() const noexcept;                         ///< for messages
  /// Runs what is recorded, waits for it, and copies the numbers, row by row. Throws tessera::error for numbers that an
  /// operation which failed should have made.
  std::vector<double> values() const;
  /// Runs what is recorded, waits for it, and overwrites all numbers. Throws tessera::error (usage) for another count,
  /// and inside a loop's body.
  void set(std::span<const double> row_major);
  small_data& data() const noexcept { return *m_data; }  ///< for the operations

 private:
  std::shared_ptr<small_data> m_data;
};

/// How a program's operations run.
enum class execution : std::uint8_t {
  fused,   ///< as a task graph of panels
  at_once  ///< each call at once, one after the other on the calling thread: the reference for tests
};

/// What a program may choose.
struct program_options {
  execution how = execution::fused;
  std::int64_t panel_rows = 0;  ///< rows of a task, at least 1; 0: chosen by the matrix and `columns` alone
  /// Columns of most of its block vectors, where that is known, at least 1; 0: unknown. Rows of few columns are quickly
  /// done, so a task has more of them.
  std::int64_t columns = 0;
  /// Rows that all operations of a task go through together, at least 1; 0: what fits the cache.
  std::int64_t strip_rows = 0;
  std::string at = {};  ///< location where operations over the rows run; "": where the runtime places them
  /// How matrices lie in memory for their products; none: the fastest, as measured when a program first multiplies.
  std::optional<matrix_form> form = {};

  /// The same for block vectors of so many columns, unless `columns` says already.
  program_options for_columns(std::int64_t count) const {
    program_options made = *this;
    if (columns == 0) made.columns = count;
    return made;
  }
};

/// When a loop ends, beside its condition.
struct loop_options {
  int most_iterations = 1000;                ///< at least 0
  std::function<void(int)> after_each = {};  ///< called behind each iteration with their number so far
  /// Iterations that begin before the condition and after_each are asked about an earlier one, so that nothing waits at
  /// its end. When the loop ends, up to so many more have run than the condition has seen, and the values are those of
  /// the last. What the two record is done before the next iteration that begins. With execution::at_once there is no
  /// lag.
  int lag = 0;
  std::vector<small_matrix> watched =
      {};  ///< with a lag: what the two read, as it was behind the iteration in question
};

/// What operations have to do, counted from their shapes.
struct work_count {
  double flops = 0;  ///< multiplications and additions of numbers; not those of small matrices and functions of users
  /// What must go between processor and memory if all else stays in the cache: for each pass over the rows every matrix
  /// in the form that its products use (compressed rows: 8 bytes of an entry's value, 4 of its column, 8 of a row) and
  /// every block vector that it reads, once, and every block vector that it writes, once. As in STREAM, the read that a
  /// cache makes of a line before it is overwritten does not count.
  double bytes = 0;
  /// Adds up.
  work_count& operator+=(const work_count& more) noexcept {
    flops += more.flops, bytes += more.bytes;
    return *this;
  }
};

/// What went from one memory to another.
struct link_bytes {
  std::string from, to;     ///< memories, as statistics::links names them
  std::uint64_t bytes = 0;  ///< together
};

/// Adds up what went over the same links.
void add_moved(std::vector<link_bytes>& to, const std::vector<link_bytes>& more);

/// What program::while_not did.
struct loop_outcome {
  bool converged = false;   ///< the condition became true
  int iterations = 0;       ///< that were run, those that had begun when it became true included
  std::int64_t passes = 0;  ///< over the rows, in one iteration
  std::int64_t tasks = 0;   ///< of one iteration
  double seconds = 0;       ///< of all iterations, conditions included
  std::string form = {};    ///< of the matrix in products, and how it was chosen; for messages
  /// Before the first: recording the body twice, comparing, making the graph; and before that, since the program began
  /// or its last loop did, looking at matrices that it multiplies by: which panels depend on each other, which form.
  double build_seconds = 0;
  work_count work = {};                ///< in `seconds`: the iterations, and what else was recorded behind them
  std::vector<link_bytes> moved = {};  ///< by all iterations, between memories; without what goes home at the end
};

/// How a program makes products with a matrix.
struct product_form {
  matrix_form form = matrix_form::csr;
  std::string text = {};   ///< its name and, where it was chosen, what was measured; for messages
  std::int64_t bytes = 0;  ///< of the matrix that a product reads
};

/// Vectors of the rows of one matrix, and the operations that were recorded on them. One thread at a time.
class program {
 public:
  /// Cuts the rows of a square matrix into panels, balanced by its nonzeros. The matrix must outlive the program and
  /// stay as it is. Throws tessera::error: input for a matrix that is not square or not well formed, usage for a
  /// negative number of rows, a location that does not exist, and inside a task.
  program(runtime& rt, const csr_matrix& a, const program_options& options = {});
  program(runtime& rt, const csr_matrix&& a, const program_options& options = {}) = delete;  ///< it would end too soon
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
  /// Runs `body` until `converged` says so, asked before each iteration, or loop_options::most_iterations have run:
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

/// Y = A X. A has the program's rows and columns, and outlives it; X and Y have equal columns and are not the same.
/// Throws tessera::error (input) for a matrix that is not well formed, when the program first multiplies by it.
void mxm(const csr_matrix& a, const block_vector& x, const block_vector& y);
void mxm(const csr_matrix&& a, const block_vector& x, const block_vector& y) = delete;  ///< it would end too soon
/// Y = A^T X. The program keeps a transposed copy of A, made at the first call.
void mxm_transposed(const csr_matrix& a, const block_vector& x, const block_vector& y);
void mxm_transposed(const csr_matrix&& a, const block_vector& x, const block_vector& y) = delete;  ///< likewise

/// Rows [begin, end).
struct row_range {
  std::int64_t begin = 0, end = 0;
  bool operator==(const row_range&) const = default;  ///< the same rows
};
/// What a matrix-free operator has to do: rows of Y, from rows of X.
struct operator_rows {
  row_range rows;             ///< of Y, to be made
  row_range from;             ///< of X, that may be read: what `reads` said for these rows
  std::int64_t columns = 0;   ///< of both, row-major
  const double* x = nullptr;  ///< row from.begin first
  double* y = nullptr;        ///< row rows.begin first
};
/// A matrix-free operator: Y = A X by a function. Must outlive the program that uses it.
struct spmv_operator {
  std::string name;  ///< for messages
  /// Makes some rows of Y, on the host; called by several threads for different rows, in an order of theirs.
  std::function<void(const operator_rows&)> multiply;
  /// The rows of X that some rows of Y are made of. More rows of Y need at least the same ones. Null: all.
  std::function<row_range(row_range)> reads = {};
};
/// Y = A X; X and Y have equal columns and are not the same. Fused as a product with a matrix is. Throws tessera::error
/// (usage) for no function, and for rows that X has not.
void mxm(const spmv_operator& a, const block_vector& x, const block_vector& y);
void mxm(const spmv_operator&& a, const block_vector& x, const block_vector& y) = delete;  ///< it would end too soon
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

/// A polynomial that is near 1 / (t - pole) for t from `near` to `far`, both on one side of the pole. Where all
/// eigenvalues are on this side, and none behind `far`, it has one sign at all of them, and is large where they are
/// near the pole.
struct inverse_polynomial {
  double pole, near, far;
  int degree = 8;  ///< at least 1; an application has degree - 1 products with A
};

/// M^-1, roughly A^-1. Must outlive the program that uses it.
class preconditioner {
 public:
  /// By the absolute values of the diagonal of A + shift. One that is 0, or as good as that beside the largest (2^-52
  /// of it), counts as a 10,000th of the mean of the others; where all are 0, rows stay as they are. One pass with the
  /// operations around it. Throws tessera::error (input) for a matrix that is not well formed.
  static preconditioner jacobi(const csr_matrix& a, double shift = 0);
  /// By the diagonal tiles of A + shift, symmetric, with the absolute values of their eigenvalues: a product with their
  /// inverses. Throws tessera::error: usage for tiles of no rows, input for a matrix that is not well formed.
  static preconditioner block_jacobi(const csr_matrix& a, std::int64_t tile_rows = 16, double shift = 0);
  /// By a polynomial of A, which must outlive it. Throws tessera::error (usage) for a polynomial that has no such
  /// range.
  static preconditioner chebyshev(const csr_matrix& a, const inverse_polynomial& p);
  static preconditioner chebyshev(const csr_matrix&& a,
                                  const inverse_polynomial& p) = delete;  ///< it would end too soon
  /// One of your own: `record` calls operations that make W of R, which are two blocks. It is called where `apply` is
  /// called, and must record the same each time.
  static preconditioner of(std::function<void(const block_vector& r, const block_vector& w)> record);

  const std::vector<double>& factors() const noexcept { return m_factors; }  ///< of the rows, of a diagonal one
  bool is_recorded() const noexcept { return m_record != nullptr; }          ///< no diagonal one
  /// Calls what `of` was given.
  void record(const block_vector& r, const block_vector& w) const { m_record(r, w); }

 private:
  std::vector<double> m_factors;
  std::function<void(const block_vector&, const block_vector&)> m_record;
};
/// W = M^-1 R; W may be R.
void apply(const preconditioner& m, const block_vector& r, const block_vector& w);
void apply(const preconditioner&& m, const block_vector& r, const block_vector& w) = delete;  ///< it would end too soon

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
