// The calls of a program: shapes are checked, operations recorded.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/lapack/lapack.hpp"
#include "apps/sparse/program/state.hpp"
#include "core/base/error.hpp"

namespace tessera::sparse {
namespace {

[[noreturn]] void refuse(const std::string& operation, std::string message) {
  throw error(error_kind::usage, std::move(message), operation, "see the shapes in tessera/sparse.hpp");
}

/// An operation that is being checked.
class call {
  template <class Handle>
  auto owned(const Handle& handle) {
    auto& data = handle.data();
    if (m_owner == nullptr) m_owner = data.owner;
    if (m_owner != data.owner) refuse(m_made.name, fmt::format("{} belongs to another program", handle.name()));
    return data.shared_from_this();
  }

 public:
  call(operation_kind kind, std::string name) : m_made{kind, std::move(name), {}, {}, {}, {}} {}

  void reads(const block_vector& v) { m_made.from.push_back(owned(v)); }
  void writes(const block_vector& v) { m_made.to.push_back(owned(v)); }
  void reads(const small_matrix& m) { m_made.small_from.push_back(owned(m)); }
  void writes(const small_matrix& m) { m_made.small_to.push_back(owned(m)); }

  /// @param shape "G is 4 x 8" as it must be
  void expect(const small_matrix& m, std::int64_t rows, std::int64_t columns) const {
    if (m.rows() != rows || m.columns() != columns)
      refuse(m_made.name,
             fmt::format("{} is {} x {}, and {} x {} is needed", m.name(), m.rows(), m.columns(), rows, columns));
  }
  void expect_equal_columns(const block_vector& a, const block_vector& b) const {
    if (a.columns() != b.columns())
      refuse(m_made.name,
             fmt::format("{} has {} columns, and {} has {}", a.name(), a.columns(), b.name(), b.columns()));
  }
  operation& made() noexcept { return m_made; }
  program_state& owner() noexcept { return *m_owner; }
  void record() { m_owner->record(std::move(m_made)); }

 private:
  operation m_made;
  program_state* m_owner = nullptr;
};

call multiplication(const char* name, const csr_matrix& a, const block_vector& x, const block_vector& y) {
  call c(operation_kind::mxm, name);
  c.reads(x), c.writes(y);
  c.expect_equal_columns(x, y);
  if (a.rows != x.rows() || a.columns != x.rows())
    refuse(name, fmt::format("{} is {} x {}, and {} has {} rows", a.name, a.rows, a.columns, x.name(), x.rows()));
  if (&x.data() == &y.data()) refuse(name, fmt::format("{} is source and destination", x.name()));
  return c;
}

/// Row-major and symmetric is column-major too; the lower triangle of one is the upper of the other.
std::vector<double> mirrored_lower(const small_view& a) {
  std::vector<double> whole(static_cast<std::size_t>(a.rows * a.rows));
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j <= i; ++j)
      whole[static_cast<std::size_t>(i * a.rows + j)] = whole[static_cast<std::size_t>(j * a.rows + i)] = a(i, j);
  return whole;
}

void give_vectors(const std::vector<double>& columns, const std::vector<double>& values,
                  std::span<const small_view> to) {
  const std::int64_t n = to[0].rows;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) to[0](i, j) = columns[static_cast<std::size_t>(j * n + i)];
  std::ranges::copy(values, to[1].data);
}

void eigenvectors(std::span<const small_view> from, std::span<const small_view> to) {
  std::vector<double> a = mirrored_lower(from[0]), values(static_cast<std::size_t>(from[0].rows));
  if (const int info = lapack::dsyev(static_cast<int>(from[0].rows), a.data(), values.data()); info != 0)
    throw error(error_kind::numerical, fmt::format("{} eigenvalues do not converge", info), "syevd");
  give_vectors(a, values, to);
}

void generalized_eigenvectors(std::span<const small_view> from, std::span<const small_view> to) {
  const auto n = static_cast<int>(from[0].rows);
  std::vector<double> a = mirrored_lower(from[0]), b = mirrored_lower(from[1]), values(static_cast<std::size_t>(n));
  const int info = lapack::dsygvd(n, a.data(), b.data(), values.data());
  if (info > n)
    throw error(error_kind::numerical, fmt::format("the second matrix is not positive definite: pivot {}", info - n),
                "sygvd", "drop directions that depend on others");
  if (info != 0) throw error(error_kind::numerical, "the eigenvalues do not converge", "sygvd");
  give_vectors(a, values, to);
}

}  // namespace

void mxm(const csr_matrix& a, const block_vector& x, const block_vector& y) {
  call c = multiplication("mxm", a, x, y);
  c.made().matrix = &a;
  c.record();
}

void mxm_transposed(const csr_matrix& a, const block_vector& x, const block_vector& y) {
  call c = multiplication("mxm_transposed", a, x, y);
  c.made().matrix = &c.owner().transposed_of(a);
  c.record();
}

void gram(const block_vector& x, const block_vector& y, const small_matrix& g) {
  call c(operation_kind::gram, "gram");
  c.reads(x), c.reads(y), c.writes(g);
  c.expect(g, x.columns(), y.columns());
  c.record();
}

void combine(std::span<const block_vector> x, const small_matrix& m, std::span<const block_vector> y, double beta) {
  call c(operation_kind::combine, "combine");
  if (x.empty() || y.empty()) refuse("combine", "there is no source, or no destination");
  std::int64_t rows = 0, columns = 0;
  for (const block_vector& v : x) c.reads(v), rows += v.columns();
  for (const block_vector& v : y) {
    if (std::ranges::count_if(y, [&](const block_vector& other) { return &other.data() == &v.data(); }) > 1)
      refuse("combine", fmt::format("{} is a destination twice", v.name()));
    c.writes(v), columns += v.columns();
  }
  c.reads(m);
  c.expect(m, rows, columns);
  c.made().factor = beta;
  c.record();
}

void combine(const block_vector& x, const small_matrix& c, const block_vector& y, double beta) {
  combine(std::span(&x, 1), c, std::span(&y, 1), beta);
}

void axpy(const small_matrix& alpha, const block_vector& x, const block_vector& y) {
  call c(operation_kind::axpy, "axpy");
  c.reads(x), c.reads(alpha), c.writes(y);
  c.expect_equal_columns(x, y);
  c.expect(alpha, 1, x.columns());
  c.record();
}

void axpy(double alpha, const block_vector& x, const block_vector& y) {
  call c(operation_kind::add_multiple, "axpy");
  c.reads(x), c.writes(y);
  c.expect_equal_columns(x, y);
  c.made().factor = alpha;
  c.record();
}

void scale(const small_matrix& alpha, const block_vector& x) {
  call c(operation_kind::scale, "scale");
  c.reads(x), c.reads(alpha), c.writes(x);
  c.expect(alpha, 1, x.columns());
  c.record();
}

void copy(const block_vector& x, const block_vector& y) {
  call c(operation_kind::copy, "copy");
  c.reads(x), c.writes(y);
  c.expect_equal_columns(x, y);
  if (&x.data() == &y.data()) return;
  c.record();
}

void hadamard(const block_vector& x, const block_vector& y, const block_vector& z) {
  call c(operation_kind::hadamard, "hadamard");
  c.reads(x), c.reads(y), c.writes(z);
  c.expect_equal_columns(x, y), c.expect_equal_columns(x, z);
  c.record();
}

void column_norms(const block_vector& x, const small_matrix& norms) {
  call c(operation_kind::column_norms, "column_norms");
  c.reads(x), c.writes(norms);
  c.expect(norms, 1, x.columns());
  c.record();
}

void column_dots(const block_vector& x, const block_vector& y, const small_matrix& dots) {
  call c(operation_kind::column_dots, "column_dots");
  c.reads(x), c.reads(y), c.writes(dots);
  c.expect_equal_columns(x, y);
  c.expect(dots, 1, x.columns());
  c.record();
}

preconditioner preconditioner::jacobi(const csr_matrix& a) {
  constexpr double least = 0x1p-300;  // of the largest; squares of the factors are finite
  preconditioner made;
  made.m_factors = diagonal_of(a);
  double largest = 0;
  for (const double d : made.m_factors) largest = std::max(largest, std::abs(d));
  for (double& d : made.m_factors) d = d == 0 || std::abs(d) < least * largest ? 1 : 1 / std::abs(d);
  return made;
}

void apply(const preconditioner& m, const block_vector& r, const block_vector& w) {
  call c(operation_kind::apply_diagonal, "apply");
  c.reads(r), c.writes(w);
  c.expect_equal_columns(r, w);
  if (std::ssize(m.factors()) != r.rows())
    refuse("apply",
           fmt::format("the preconditioner has {} rows, and {} has {}", m.factors().size(), r.name(), r.rows()));
  c.made().diagonal = m.factors().data();
  c.record();
}

void small_operation(const std::string& name, std::span<const small_matrix> from, std::span<const small_matrix> to,
                     small_function function) {
  call c(operation_kind::small, name);
  if (to.empty()) refuse(name, "the operation makes nothing");
  if (function == nullptr) refuse(name, "there is no function");
  for (const small_matrix& m : from) c.reads(m);
  for (const small_matrix& m : to) c.writes(m);
  c.made().function = std::move(function);
  c.record();
}

void syevd(const small_matrix& a, const small_matrix& v, const small_matrix& lambda) {
  call c(operation_kind::small, "syevd");
  c.reads(a), c.writes(v), c.writes(lambda);
  c.expect(a, a.rows(), a.rows()), c.expect(v, a.rows(), a.rows()), c.expect(lambda, 1, a.rows());
  c.made().function = eigenvectors;
  c.record();
}

void sygvd(const small_matrix& a, const small_matrix& b, const small_matrix& v, const small_matrix& lambda) {
  call c(operation_kind::small, "sygvd");
  c.reads(a), c.reads(b), c.writes(v), c.writes(lambda);
  c.expect(a, a.rows(), a.rows()), c.expect(b, a.rows(), a.rows());
  c.expect(v, a.rows(), a.rows()), c.expect(lambda, 1, a.rows());
  c.made().function = generalized_eigenvectors;
  c.record();
}

}  // namespace tessera::sparse
