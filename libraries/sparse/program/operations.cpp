// The calls of a program: shapes are checked, operations recorded.
#include <fmt/format.h>

#include <algorithm>

#include "libraries/sparse/program/call.hpp"

namespace tessera::sparse {
namespace {

call multiplication(const char* name, const csr_matrix& a, const block_vector& x, const block_vector& y) {
  call c(operation_kind::mxm, name);
  c.reads(x), c.writes(y);
  c.expect_equal_columns(x, y);
  if (a.rows != x.rows() || a.columns != x.rows())
    refuse_call(name, fmt::format("{} is {} x {}, and {} has {} rows", a.name, a.rows, a.columns, x.name(), x.rows()));
  if (&x.data() == &y.data()) refuse_call(name, fmt::format("{} is source and destination", x.name()));
  return c;
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

void mxm(const spmv_operator& a, const block_vector& x, const block_vector& y) {
  call c(operation_kind::mxm, "mxm");
  c.reads(x), c.writes(y);
  c.expect_equal_columns(x, y);
  if (a.multiply == nullptr) refuse_call("mxm", fmt::format("{} has no function", a.name));
  if (&x.data() == &y.data()) refuse_call("mxm", fmt::format("{} is source and destination", x.name()));
  c.made().rows = &a;
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
