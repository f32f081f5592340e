#include "plugins/kit/kernels/blas_call.hpp"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>

namespace tessera::kit {
namespace {

using i64 = std::int64_t;

tsr_status check_type(const reporter& report, const char* call, tsr_type type) {
  if (blas_supports(TSR_BLAS_GEMM, type)) return TSR_OK;
  return report.fail(TSR_UNIMPLEMENTED, "%s: no kernel for element type %u; ask supports first", call, type);
}

tsr_status check_size(const reporter& report, const char* call, const char* name, i64 value) {
  if (value < 0) return report.fail(TSR_INVALID_ARGUMENT, "%s: %s is %lld", call, name, static_cast<long long>(value));
  if (value > INT_MAX)
    return report.fail(TSR_OUT_OF_RANGE, "%s: %s is %lld; OpenBLAS counts to %d", call, name,
                       static_cast<long long>(value), INT_MAX);
  return TSR_OK;
}

/// Checks a column-major matrix of rows x columns and yields its bytes.
tsr_status check_matrix(const reporter& report, const char* call, const char* name, i64 rows, i64 columns, i64 ld,
                        tsr_type type, std::uint64_t& bytes) {
  if (ld < std::max<i64>(1, rows))
    return report.fail(TSR_INVALID_ARGUMENT, "%s: the leading dimension %lld of %s is less than its %lld rows", call,
                       static_cast<long long>(ld), name, static_cast<long long>(rows));
  if (ld > INT_MAX)
    return report.fail(TSR_OUT_OF_RANGE, "%s: the leading dimension of %s exceeds %d", call, name, INT_MAX);
  if (rows == 0 || columns == 0) {
    bytes = 0;
    return TSR_OK;
  }
  const auto elements = static_cast<std::uint64_t>(columns - 1) * static_cast<std::uint64_t>(ld) +
                        static_cast<std::uint64_t>(rows);  // below 2^62: both factors fit 31 bits
  if (__builtin_mul_overflow(elements, std::uint64_t{element_bytes(type)}, &bytes))
    return report.fail(TSR_OUT_OF_RANGE, "%s: %s exceeds 64 bits of bytes", call, name);
  return TSR_OK;
}

tsr_status read_scalar(const reporter& report, const char* call, const char* name, const void* from, tsr_type type,
                       scalar& out) {
  if (from == nullptr) return report.fail(TSR_INVALID_ARGUMENT, "%s: %s is NULL", call, name);
  std::memcpy(out.bytes, from, element_bytes(type));
  return TSR_OK;
}

tsr_status check_choice(const reporter& report, const char* call, const char* name, std::uint32_t value,
                        std::uint32_t last) {
  if (value <= last) return TSR_OK;
  return report.fail(TSR_INVALID_ARGUMENT, "%s: %s is %u", call, name, value);
}

}  // namespace

bool blas_supports(tsr_blas_operation operation, tsr_type type) noexcept {
  return operation >= TSR_BLAS_GEMM && operation <= TSR_BLAS_POTRF && type >= TSR_F32 && type <= TSR_C128;
}

tsr_status prepare(const reporter& report, operand_resolver& operands, const tsr_gemm* arguments, gemm_form form,
                   gemm_call& out) {
  const char* call = form == gemm_form::single ? "gemm" : form == gemm_form::strided ? "gemm_strided" : "gemm_batched";
  if (!TSR_HAS(tsr_gemm, arguments, workspace))
    return report.fail(TSR_INVALID_ARGUMENT, "%s: NULL arguments or a struct_size that is not set", call);
  const auto& g = *arguments;
  if (const auto status = check_type(report, call, g.type)) return status;
  if (const auto status = check_choice(report, call, "transpose_a", g.transpose_a, TSR_CONJUGATE_TRANSPOSE))
    return status;
  if (const auto status = check_choice(report, call, "transpose_b", g.transpose_b, TSR_CONJUGATE_TRANSPOSE))
    return status;
  if (const auto status = check_size(report, call, "m", g.m)) return status;
  if (const auto status = check_size(report, call, "n", g.n)) return status;
  if (const auto status = check_size(report, call, "k", g.k)) return status;
  if (const auto status = read_scalar(report, call, "alpha", g.alpha, g.type, out.alpha)) return status;
  if (const auto status = read_scalar(report, call, "beta", g.beta, g.type, out.beta)) return status;
  const bool plain_a = g.transpose_a == TSR_NO_TRANSPOSE, plain_b = g.transpose_b == TSR_NO_TRANSPOSE;
  std::uint64_t bytes_a = 0, bytes_b = 0, bytes_c = 0;
  if (const auto status =
          check_matrix(report, call, "A", plain_a ? g.m : g.k, plain_a ? g.k : g.m, g.lda, g.type, bytes_a))
    return status;
  if (const auto status =
          check_matrix(report, call, "B", plain_b ? g.k : g.n, plain_b ? g.n : g.k, g.ldb, g.type, bytes_b))
    return status;
  if (const auto status = check_matrix(report, call, "C", g.m, g.n, g.ldc, g.type, bytes_c)) return status;
  out.type = g.type;
  out.transpose_a = g.transpose_a;
  out.transpose_b = g.transpose_b;
  out.m = static_cast<int>(g.m);
  out.n = static_cast<int>(g.n);
  out.k = static_cast<int>(g.k);
  out.lda = static_cast<int>(g.lda);
  out.ldb = static_cast<int>(g.ldb);
  out.ldc = static_cast<int>(g.ldc);
  out.batch = 1;
  out.stride_a = out.stride_b = out.stride_c = 0;
  out.pointers.clear();
  if (form == gemm_form::batched) {
    if (const auto status = check_size(report, call, "batch", g.batch)) return status;
    if (g.batch > 0 && (g.a_array == nullptr || g.b_array == nullptr || g.c_array == nullptr))
      return report.fail(TSR_INVALID_ARGUMENT, "%s: an array of addresses is NULL", call);
    out.batch = g.batch;
    out.pointers.resize(static_cast<std::size_t>(g.batch));
    for (std::size_t i = 0; i < out.pointers.size(); ++i) {
      if (const auto status = operands.resolve("A", g.a_array[i], bytes_a, &out.pointers[i].a)) return status;
      if (const auto status = operands.resolve("B", g.b_array[i], bytes_b, &out.pointers[i].b)) return status;
      if (const auto status = operands.resolve("C", g.c_array[i], bytes_c, &out.pointers[i].c)) return status;
    }
    return TSR_OK;
  }
  if (form == gemm_form::strided) {
    if (const auto status = check_size(report, call, "batch", g.batch)) return status;
    if (g.stride_a < 0 || g.stride_b < 0 || g.stride_c < 0)
      return report.fail(TSR_INVALID_ARGUMENT, "%s: a stride is negative", call);
    if (g.batch > 1 && static_cast<std::uint64_t>(g.stride_c) < bytes_c)
      return report.fail(TSR_INVALID_ARGUMENT, "%s: the matrices of C overlap", call);
    out.batch = g.batch;
    out.stride_a = g.stride_a;
    out.stride_b = g.stride_b;
    out.stride_c = g.stride_c;
    const auto whole = [&](std::uint64_t& bytes, i64 stride) -> bool {
      if (bytes == 0 || g.batch <= 0) return bytes = 0, true;
      std::uint64_t steps = 0;
      return !__builtin_mul_overflow(static_cast<std::uint64_t>(g.batch - 1), static_cast<std::uint64_t>(stride),
                                     &steps) &&
             !__builtin_add_overflow(bytes, steps, &bytes);
    };
    if (!whole(bytes_a, g.stride_a) || !whole(bytes_b, g.stride_b) || !whole(bytes_c, g.stride_c))
      return report.fail(TSR_OUT_OF_RANGE, "%s: a batch exceeds 64 bits of bytes", call);
  }
  if (const auto status = operands.resolve("A", g.a, bytes_a, &out.a)) return status;
  if (const auto status = operands.resolve("B", g.b, bytes_b, &out.b)) return status;
  if (const auto status = operands.resolve("C", g.c, bytes_c, &out.c)) return status;
  return TSR_OK;
}

tsr_status prepare(const reporter& report, operand_resolver& operands, const tsr_vector_operation* arguments,
                   tsr_blas_operation operation, vector_call& out) {
  const char* call = operation == TSR_BLAS_AXPY   ? "axpy"
                     : operation == TSR_BLAS_SCAL ? "scal"
                     : operation == TSR_BLAS_DOT  ? "dot"
                                                  : "nrm2";
  if (!TSR_HAS(tsr_vector_operation, arguments, workspace))
    return report.fail(TSR_INVALID_ARGUMENT, "%s: NULL arguments or a struct_size that is not set", call);
  const auto& v = *arguments;
  const bool uses_alpha = operation == TSR_BLAS_AXPY || operation == TSR_BLAS_SCAL;
  const bool uses_y = operation == TSR_BLAS_AXPY || operation == TSR_BLAS_DOT;
  if (const auto status = check_type(report, call, v.type)) return status;
  if (const auto status = check_size(report, call, "n", v.n)) return status;
  if (uses_alpha) {
    if (const auto status = read_scalar(report, call, "alpha", v.alpha, v.type, out.alpha)) return status;
  }
  const auto vector = [&](const char* name, const tsr_address& address, i64 increment, void** pointer) -> tsr_status {
    if (increment == 0 || increment < -INT_MAX || increment > INT_MAX)
      return report.fail(TSR_INVALID_ARGUMENT, "%s: the increment of %s is %lld", call, name,
                         static_cast<long long>(increment));
    const auto step = static_cast<std::uint64_t>(increment < 0 ? -increment : increment);
    const auto elements = v.n == 0 ? 0 : static_cast<std::uint64_t>(v.n - 1) * step + 1;
    std::uint64_t bytes = 0;
    if (__builtin_mul_overflow(elements, std::uint64_t{element_bytes(v.type)}, &bytes))
      return report.fail(TSR_OUT_OF_RANGE, "%s: %s exceeds 64 bits of bytes", call, name);
    return operands.resolve(name, address, bytes, pointer);
  };
  if (const auto status = vector("x", v.x, v.incx, &out.x)) return status;
  if (uses_y) {
    if (const auto status = vector("y", v.y, v.incy, &out.y)) return status;
  }
  if (!uses_alpha) {
    if (const auto status = operands.resolve("result", v.result, element_bytes(v.type), &out.result)) return status;
  }
  out.operation = operation;
  out.type = v.type;
  out.n = static_cast<int>(v.n);
  out.incx = static_cast<int>(v.incx);
  out.incy = uses_y ? static_cast<int>(v.incy) : 1;
  if (!uses_y) out.incx = std::abs(out.incx);  // the same elements; OpenBLAS ignores negative steps here
  return TSR_OK;
}

tsr_status prepare(const reporter& report, operand_resolver& operands, const tsr_syrk* arguments, syrk_call& out) {
  if (!TSR_HAS(tsr_syrk, arguments, workspace))
    return report.fail(TSR_INVALID_ARGUMENT, "syrk: NULL arguments or a struct_size that is not set");
  const auto& s = *arguments;
  if (const auto status = check_type(report, "syrk", s.type)) return status;
  if (const auto status = check_choice(report, "syrk", "triangle", s.triangle, TSR_UPPER)) return status;
  if (const auto status = check_choice(report, "syrk", "transpose", s.transpose, TSR_CONJUGATE_TRANSPOSE))
    return status;
  if (s.transpose == TSR_CONJUGATE_TRANSPOSE && is_complex(s.type))
    return report.fail(TSR_UNIMPLEMENTED, "syrk: conjugate transposes of complex matrices are not offered");
  if (const auto status = check_size(report, "syrk", "n", s.n)) return status;
  if (const auto status = check_size(report, "syrk", "k", s.k)) return status;
  if (const auto status = read_scalar(report, "syrk", "alpha", s.alpha, s.type, out.alpha)) return status;
  if (const auto status = read_scalar(report, "syrk", "beta", s.beta, s.type, out.beta)) return status;
  const bool plain = s.transpose == TSR_NO_TRANSPOSE;
  std::uint64_t bytes_a = 0, bytes_c = 0;
  if (const auto status =
          check_matrix(report, "syrk", "A", plain ? s.n : s.k, plain ? s.k : s.n, s.lda, s.type, bytes_a))
    return status;
  if (const auto status = check_matrix(report, "syrk", "C", s.n, s.n, s.ldc, s.type, bytes_c)) return status;
  if (const auto status = operands.resolve("A", s.a, bytes_a, &out.a)) return status;
  if (const auto status = operands.resolve("C", s.c, bytes_c, &out.c)) return status;
  out.type = s.type;
  out.triangle = s.triangle;
  out.transpose = s.transpose;
  out.n = static_cast<int>(s.n);
  out.k = static_cast<int>(s.k);
  out.lda = static_cast<int>(s.lda);
  out.ldc = static_cast<int>(s.ldc);
  return TSR_OK;
}

tsr_status prepare(const reporter& report, operand_resolver& operands, const tsr_trsm* arguments, trsm_call& out) {
  if (!TSR_HAS(tsr_trsm, arguments, workspace))
    return report.fail(TSR_INVALID_ARGUMENT, "trsm: NULL arguments or a struct_size that is not set");
  const auto& t = *arguments;
  if (const auto status = check_type(report, "trsm", t.type)) return status;
  if (const auto status = check_choice(report, "trsm", "side", t.side, TSR_RIGHT)) return status;
  if (const auto status = check_choice(report, "trsm", "triangle", t.triangle, TSR_UPPER)) return status;
  if (const auto status = check_choice(report, "trsm", "transpose", t.transpose, TSR_CONJUGATE_TRANSPOSE))
    return status;
  if (const auto status = check_size(report, "trsm", "m", t.m)) return status;
  if (const auto status = check_size(report, "trsm", "n", t.n)) return status;
  if (const auto status = read_scalar(report, "trsm", "alpha", t.alpha, t.type, out.alpha)) return status;
  const i64 order = t.side == TSR_LEFT ? t.m : t.n;
  std::uint64_t bytes_a = 0, bytes_b = 0;
  if (const auto status = check_matrix(report, "trsm", "A", order, order, t.lda, t.type, bytes_a)) return status;
  if (const auto status = check_matrix(report, "trsm", "B", t.m, t.n, t.ldb, t.type, bytes_b)) return status;
  if (const auto status = operands.resolve("A", t.a, bytes_a, &out.a)) return status;
  if (const auto status = operands.resolve("B", t.b, bytes_b, &out.b)) return status;
  out.type = t.type;
  out.side = t.side;
  out.triangle = t.triangle;
  out.transpose = t.transpose;
  out.unit_diagonal = t.unit_diagonal;
  out.m = static_cast<int>(t.m);
  out.n = static_cast<int>(t.n);
  out.lda = static_cast<int>(t.lda);
  out.ldb = static_cast<int>(t.ldb);
  return TSR_OK;
}

tsr_status prepare(const reporter& report, operand_resolver& operands, const tsr_potrf* arguments, potrf_call& out) {
  if (!TSR_HAS(tsr_potrf, arguments, workspace))
    return report.fail(TSR_INVALID_ARGUMENT, "potrf: NULL arguments or a struct_size that is not set");
  const auto& p = *arguments;
  if (const auto status = check_type(report, "potrf", p.type)) return status;
  if (const auto status = check_choice(report, "potrf", "triangle", p.triangle, TSR_UPPER)) return status;
  if (const auto status = check_size(report, "potrf", "n", p.n)) return status;
  std::uint64_t bytes = 0;
  if (const auto status = check_matrix(report, "potrf", "A", p.n, p.n, p.lda, p.type, bytes)) return status;
  if (const auto status = operands.resolve("A", p.a, bytes, &out.a)) return status;
  if (const auto status = operands.resolve("info", p.info, sizeof(std::int32_t), &out.info)) return status;
  out.type = p.type;
  out.triangle = p.triangle;
  out.n = static_cast<int>(p.n);
  out.lda = static_cast<int>(p.lda);
  return TSR_OK;
}

namespace {
double complex_factor(tsr_type type) { return is_complex(type) ? 4.0 : 1.0; }
}  // namespace

double flops(const gemm_call& call) {
  return 2.0 * call.m * call.n * call.k * static_cast<double>(call.batch) * complex_factor(call.type);
}
double flops(const vector_call& call) {
  return (call.operation == TSR_BLAS_SCAL ? 1.0 : 2.0) * call.n * complex_factor(call.type);
}
double flops(const syrk_call& call) { return 1.0 * call.n * (call.n + 1.0) * call.k * complex_factor(call.type); }
double flops(const trsm_call& call) {
  return 1.0 * call.m * call.n * (call.side == TSR_LEFT ? call.m : call.n) * complex_factor(call.type);
}
double flops(const potrf_call& call) { return 1.0 * call.n * call.n * call.n / 3.0 * complex_factor(call.type); }

}  // namespace tessera::kit
