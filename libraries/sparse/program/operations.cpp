// The calls of a program: shapes are checked, operations recorded.
#include <fmt/format.h>

#include <algorithm>

#include "libraries/sparse/program/call.hpp"

namespace tessera::sparse {

void gram(const block_vector& x, const block_vector& y, const small_matrix& g) {
  call c(operation_kind::gram, "gram");
  c.reads(x), c.reads(y), c.writes(g);
  c.expect(g, x.columns(), y.columns());
  c.record();
}

void combine(std::span<const block_vector> x, const small_matrix& m, std::span<const block_vector> y, double beta) {
  call c(operation_kind::combine, "combine");
  if (x.empty() || y.empty()) refuse_call("combine", "there is no source, or no destination");
  std::int64_t rows = 0, columns = 0;
  for (const block_vector& v : x) c.reads(v), rows += v.columns();
  for (const block_vector& v : y) c.writes(v), columns += v.columns();
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

void axpby(double alpha, const block_vector& x, double beta, const block_vector& y) {
  if (beta == 1) return axpy(alpha, x, y);
  call c(operation_kind::axpby, "axpby");
  c.reads(x), c.writes(y);
  c.expect_equal_columns(x, y);
  c.made().scale = alpha, c.made().factor = beta;
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

void small_operation(const std::string& name, std::span<const small_matrix> from, std::span<const small_matrix> to,
                     small_function function, std::source_location site) {
  call c(operation_kind::small, name, site);
  if (to.empty()) refuse_call(name, "the operation makes nothing");
  if (function == nullptr) refuse_call(name, "there is no function");
  for (const small_matrix& m : from) c.reads(m);
  for (const small_matrix& m : to) c.writes(m);
  c.made().function = std::move(function);
  c.record();
}

}  // namespace tessera::sparse
