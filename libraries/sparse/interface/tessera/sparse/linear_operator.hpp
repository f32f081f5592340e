#pragma once
/// @file
/// Linear operators: what solvers multiply by. A matrix is one, a function, a preconditioner, and what is put together
/// of others: sums, products, multiples, shifts, transposes.
/// @code
/// const linear_operator k = stiffness, shifted = k - 0.5 * mass;   // two csr_matrix
/// apply(shifted, x, y);                                            // y = K x - 0.5 M x, one pass over the rows
/// @endcode
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libraries/sparse/matrix/csr_matrix.hpp"
#include "tessera/sparse/block_vector.hpp"
#include "tessera/tessera.hpp"

namespace tessera {
class runtime;
}

namespace tessera::sparse {

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

/// Rows [begin, end).
struct row_range {
  std::int64_t begin = 0, end = 0;
  bool operator==(const row_range&) const = default;  ///< the same rows
};

/// What a function of rows has to do: rows of Y, from rows of X.
struct operator_rows {
  row_range rows;             ///< of Y, to be made
  row_range from;             ///< of X, that may be read: what `reads` said for these rows
  std::int64_t columns = 0;   ///< of both, row-major
  const double* x = nullptr;  ///< row from.begin first
  double* y = nullptr;        ///< row rows.begin first
};
/// The same for a function of whole blocks: as many columns as there are right sides, and two where a solver measures
/// whether the operator is symmetric.
struct operator_block {
  std::int64_t rows = 0, columns = 0;  ///< of both, row-major
  const double* x = nullptr;           ///< may be read
  double* y = nullptr;                 ///< all of it to be made; what the function leaves out is not a number
};

/// A block of vectors in the hands of a function that submits tasks: a block of the runtime for each panel of rows.
/// Valid during the call.
class vector_panels {
 public:
  explicit vector_panels(const vector_data& of) noexcept : m_of(&of) {}  ///< made by the program
  std::int64_t rows() const noexcept;                                    ///< of all panels
  std::int64_t columns() const noexcept;                                 ///< numbers of a row
  std::size_t size() const noexcept;                                     ///< panels
  row_range rows_of(std::size_t panel) const;                            ///< those of one, row-major in its block
  block_access use(std::size_t panel, intent how) const;                 ///< what a submission names
  std::vector<block_access> all(intent how) const;                       ///< of all panels, in the order of their rows

 private:
  const vector_data* m_of;
};
/// What such a function gets: tasks that it submits to `rt` read X, and write every row of Y.
struct operator_tasks {
  runtime& rt;
  vector_panels x, y;
};

/// What is known of a function beside what it does.
struct operator_facts {
  bool symmetric = false;  ///< A^T = A; false: not known, and solvers that need it measure it
  double flops = 0;        ///< multiplications and additions for one vector
  double bytes = 0;        ///< that are read beside X, however many vectors it has
};
/// An operator by a function of rows, which takes part in passes as a matrix does. On hosts.
struct row_function {
  std::string name;       ///< for messages
  std::int64_t rows = 0;  ///< and columns, of the operator
  /// Makes some rows of Y; called by several threads for different rows, in an order of theirs.
  std::function<void(const operator_rows&)> multiply = {};
  /// The rows of X that some rows of Y are made of. More rows of Y need at least the same ones. Null: all.
  std::function<row_range(row_range)> reads = {};
  operator_facts facts = {};
};

/// A polynomial that is near 1 / (t - pole) for t from `near` to `far`, both on one side of the pole. Where all
/// eigenvalues are on this side, and none behind `far`, it has one sign at all of them, and is large where they are
/// near the pole.
struct inverse_polynomial {
  double pole, near, far;
  int degree = 8;  ///< at least 1; an application has degree - 1 products with A
};

/// y = A x, linear in x. A value: copies are the same operator. Programs keep what they have applied, functions and own
/// matrices included, until they end; a matrix that is only referred to must outlive both, and stay as it is.
/// Sizes that do not fit together throw tessera::error (usage).
class linear_operator {
 public:
  class node;

  linear_operator(const linear_operator&) = default;             ///< there is no move: it would leave one that is none
  linear_operator& operator=(const linear_operator&) = default;  ///< likewise

  /// A matrix, which is referred to: it must outlive the operator, and programs that apply it.
  linear_operator(const csr_matrix& a);  // NOLINT(google-explicit-constructor): a matrix is an operator
  linear_operator(csr_matrix&& a);       // NOLINT(google-explicit-constructor): the same, kept by the operator
  linear_operator(const csr_matrix&& a) : linear_operator(csr_matrix(a)) {}  // NOLINT: the same of a copy
  /// Y = X, of so many rows.
  static linear_operator identity(std::int64_t rows);
  /// Y = diag(d) X.
  static linear_operator diagonal(std::vector<double> d, std::string name = "diagonal");

  /// By a function of rows: fused with the operations around it.
  static linear_operator of_rows(row_function f);
  /// By a function of all rows: one task of the host between two passes, such as a solution with a factor.
  static linear_operator of_block(std::string name, std::int64_t rows,
                                  std::function<void(const operator_block&)> multiply,
                                  const operator_facts& facts = {});
  /// By a function that submits tasks, regions or both, between two passes. It is called when the graph is made, once
  /// for all iterations of a loop, and must not wait.
  static linear_operator of_tasks(std::string name, std::int64_t rows,
                                  std::function<void(const operator_tasks&)> submit, const operator_facts& facts = {});
  /// By a function of all rows that the program's own thread calls, between two graphs, when nothing of the program
  /// runs: it may submit regions and tasks and wait for them, or ask another library. X and Y are memory of the
  /// program, the same in each iteration. A loop with one has a graph for each part of its body, and no lag.
  static linear_operator of_call(std::string name, std::int64_t rows,
                                 std::function<void(const operator_block&)> multiply, const operator_facts& facts = {});
  /// By a function that records operations which make Y of X; the two are different blocks. It is called where `apply`
  /// is, and must record the same each time.
  static linear_operator of_operations(std::string name, std::int64_t rows,
                                       std::function<void(const block_vector& x, const block_vector& y)> record,
                                       const operator_facts& facts = {});

  /// A preconditioner, roughly A^-1: by the absolute values of the diagonal of A + shift. One that is 0, or as good as
  /// that beside the largest (2^-52 of it), counts as a 10,000th of the mean of the others; where all are 0, rows stay
  /// as they are. Throws tessera::error (input) for a matrix that is not well formed.
  static linear_operator jacobi(const csr_matrix& a, double shift = 0);
  /// The same by the diagonal tiles of A + shift, symmetric, with the absolute values of their eigenvalues: a product
  /// with their inverses. Throws tessera::error: usage for tiles of no rows, input for a matrix that is not well
  /// formed.
  static linear_operator block_jacobi(const csr_matrix& a, std::int64_t tile_rows = 16, double shift = 0);
  /// The same by a polynomial of A. Throws tessera::error (usage) for a polynomial that has no such range.
  static linear_operator chebyshev(const linear_operator& a, const inverse_polynomial& p);

  const std::string& name() const noexcept;  ///< for messages: "K - 0.5 M"
  std::int64_t rows() const noexcept;        ///< of Y
  std::int64_t columns() const noexcept;     ///< of the operator: rows of X
  /// A^T = A; none: not known. Looks at all entries of a matrix, the first time. Throws tessera::error (input) for one
  /// that is not well formed.
  std::optional<bool> is_symmetric() const;
  /// apply(a, x, x) needs no block of its own.
  bool works_in_place() const noexcept;
  /// The matrix that weighs most among those that it is made of; null: there is none.
  const csr_matrix* heaviest_matrix() const noexcept;
  /// Of a product with so many vectors, without what fusion saves: matrices in compressed rows, vectors once.
  work_count work(std::int64_t vectors) const;
  /// A^T. Programs make a transposed copy of a matrix when they first need it. Throws tessera::error (usage) for a
  /// function that is not symmetric: with_transposed gives it one.
  linear_operator transposed() const;
  /// The same operator, whose transpose is `t`.
  linear_operator with_transposed(const linear_operator& t) const;

  explicit linear_operator(std::shared_ptr<const node> of) noexcept : m_node(std::move(of)) {}  ///< for the operations
  const node& inside() const noexcept { return *m_node; }                                       ///< likewise

 private:
  std::shared_ptr<const node> m_node;
};

/// A + B, by one pass over the rows where both have one.
linear_operator operator+(const linear_operator& a, const linear_operator& b);
linear_operator operator-(const linear_operator& a, const linear_operator& b);  ///< A - B
linear_operator operator-(const linear_operator& a);                            ///< -A
linear_operator operator*(double factor, const linear_operator& a);             ///< a multiple
/// A B: first B, then A.
linear_operator operator*(const linear_operator& a, const linear_operator& b);
/// A - sigma.
linear_operator shifted(const linear_operator& a, double sigma);
/// A - sigma B.
linear_operator shifted(const linear_operator& a, double sigma, const linear_operator& b);

/// Y = A X, recorded as operations are (<tessera/sparse.hpp>). A has as many rows and columns as the program; X and Y
/// have equal columns, and may be the same. Throws tessera::error (input) for a matrix that is not well formed, when
/// the program first multiplies by it.
void apply(const linear_operator& a, const block_vector& x, const block_vector& y);
/// Y = alpha A X + beta Y. With beta 0 the Y before do not matter.
void apply(double alpha, const linear_operator& a, const block_vector& x, double beta, const block_vector& y);

}  // namespace tessera::sparse
