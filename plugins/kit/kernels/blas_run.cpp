// The calls into OpenBLAS, for the four element types.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "plugins/kit/kernels/blas_call.hpp"
#include "plugins/kit/kernels/numbers.hpp"
#include "plugins/kit/kernels/openblas.hpp"

namespace tessera::kit {
namespace {

CBLAS_TRANSPOSE word(tsr_transpose transpose) {
  return transpose == TSR_NO_TRANSPOSE ? CblasNoTrans : transpose == TSR_TRANSPOSE ? CblasTrans : CblasConjTrans;
}
CBLAS_UPLO word_of_triangle(tsr_triangle triangle) { return triangle == TSR_LOWER ? CblasLower : CblasUpper; }

/// The dot product of complex vectors of which one has gaps, conj(x) y: there OpenBLAS 0.3.21 reads an element before
/// or behind them, which may be no memory.
template <class Real>
std::complex<Real> strided_dot(const vector_call& v) {
  using element = std::complex<Real>;
  const auto from = [&](const void* vector, int step) {  // BLAS: a negative step begins at the far end
    return static_cast<const element*>(vector) + (step < 0 ? std::ptrdiff_t{1 - v.n} * step : 0);
  };
  const element *x = from(v.x, v.incx), *y = from(v.y, v.incy);
  Real re = 0, im = 0;
  for (std::ptrdiff_t k = 0; k < v.n; ++k) {
    const element a = x[k * v.incx], b = y[k * v.incy];
    re += a.real() * b.real() + a.imag() * b.imag();
    im += a.real() * b.imag() - a.imag() * b.real();
  }
  return {re, im};
}

void run_one(const openblas& blas, const gemm_call& g, const void* a, const void* b, void* c) {
  const auto ta = word(g.transpose_a), tb = word(g.transpose_b);
  const auto *alpha = g.alpha.bytes, *beta = g.beta.bytes;
  switch (g.type) {
    case TSR_F32:
      blas.sgemm(CblasColMajor, ta, tb, g.m, g.n, g.k, value_of<float>(g.alpha), static_cast<const float*>(a), g.lda,
                 static_cast<const float*>(b), g.ldb, value_of<float>(g.beta), static_cast<float*>(c), g.ldc);
      break;
    case TSR_F64:
      blas.dgemm(CblasColMajor, ta, tb, g.m, g.n, g.k, value_of<double>(g.alpha), static_cast<const double*>(a), g.lda,
                 static_cast<const double*>(b), g.ldb, value_of<double>(g.beta), static_cast<double*>(c), g.ldc);
      break;
    case TSR_C64:
      blas.cgemm(CblasColMajor, ta, tb, g.m, g.n, g.k, alpha, a, g.lda, b, g.ldb, beta, c, g.ldc);
      break;
    default:
      blas.zgemm(CblasColMajor, ta, tb, g.m, g.n, g.k, alpha, a, g.lda, b, g.ldb, beta, c, g.ldc);
      break;
  }
}

/// The 1-based index of the first diagonal element of a factor that is not positive (NaN included), 0 if none.
template <class Element>
int first_bad_pivot(const void* matrix, int n, int ld) {
  const auto* a = static_cast<const Element*>(matrix);
  for (int i = 0; i < n; ++i)
    if (!(std::real(a[static_cast<std::size_t>(i) * static_cast<std::size_t>(ld) + static_cast<std::size_t>(i)]) > 0))
      return i + 1;
  return 0;
}

}  // namespace

tsr_status run(const gemm_call& call) {
  if (call.m == 0 || call.n == 0) return TSR_OK;
  const openblas& blas = openblas::loaded();
  const openblas::call one_call;
  if (!call.pointers.empty()) {
    for (const auto& one : call.pointers) run_one(blas, call, one.a, one.b, one.c);
    return TSR_OK;
  }
  const auto at = [](void* base, std::int64_t stride, std::int64_t i) {
    return base == nullptr ? nullptr : static_cast<void*>(static_cast<char*>(base) + stride * i);
  };
  for (std::int64_t i = 0; i < call.batch; ++i)
    run_one(blas, call, at(call.a, call.stride_a, i), at(call.b, call.stride_b, i), at(call.c, call.stride_c, i));
  return TSR_OK;
}

tsr_status run(const vector_call& v) {
  const openblas& blas = openblas::loaded();
  const openblas::call one_call;
  const auto *xf = static_cast<const float*>(v.x), *yf = static_cast<const float*>(v.y);
  const auto *xd = static_cast<const double*>(v.x), *yd = static_cast<const double*>(v.y);
  const auto store = [&](auto value) { std::memcpy(v.result, &value, sizeof value); };
  switch (v.operation) {
    case TSR_BLAS_AXPY:
      if (v.n == 0) break;
      if (v.type == TSR_F32)
        blas.saxpy(v.n, value_of<float>(v.alpha), xf, v.incx, static_cast<float*>(v.y), v.incy);
      else if (v.type == TSR_F64)
        blas.daxpy(v.n, value_of<double>(v.alpha), xd, v.incx, static_cast<double*>(v.y), v.incy);
      else if (v.type == TSR_C64)
        blas.caxpy(v.n, v.alpha.bytes, v.x, v.incx, v.y, v.incy);
      else
        blas.zaxpy(v.n, v.alpha.bytes, v.x, v.incx, v.y, v.incy);
      break;
    case TSR_BLAS_SCAL:
      if (v.n == 0) break;
      if (v.type == TSR_F32)
        blas.sscal(v.n, value_of<float>(v.alpha), static_cast<float*>(v.x), v.incx);
      else if (v.type == TSR_F64)
        blas.dscal(v.n, value_of<double>(v.alpha), static_cast<double*>(v.x), v.incx);
      else if (v.type == TSR_C64)
        blas.cscal(v.n, v.alpha.bytes, v.x, v.incx);
      else
        blas.zscal(v.n, v.alpha.bytes, v.x, v.incx);
      break;
    case TSR_BLAS_DOT:
      if (v.type == TSR_F32)
        store(v.n == 0 ? 0.0f : blas.sdot(v.n, xf, v.incx, yf, v.incy));
      else if (v.type == TSR_F64)
        store(v.n == 0 ? 0.0 : blas.ddot(v.n, xd, v.incx, yd, v.incy));
      else if (v.type == TSR_C64) {
        std::complex<float> value = 0;
        if (v.incx != 1 || v.incy != 1)
          value = strided_dot<float>(v);
        else if (v.n > 0)
          blas.cdotc_sub(v.n, v.x, v.incx, v.y, v.incy, &value);
        store(value);
      } else {
        std::complex<double> value = 0;
        if (v.incx != 1 || v.incy != 1)
          value = strided_dot<double>(v);
        else if (v.n > 0)
          blas.zdotc_sub(v.n, v.x, v.incx, v.y, v.incy, &value);
        store(value);
      }
      break;
    default:  // nrm2 writes one element of the type: complex ones have no imaginary part
      if (v.type == TSR_F32)
        store(v.n == 0 ? 0.0f : blas.snrm2(v.n, xf, v.incx));
      else if (v.type == TSR_F64)
        store(v.n == 0 ? 0.0 : blas.dnrm2(v.n, xd, v.incx));
      else if (v.type == TSR_C64)
        store(std::complex<float>(v.n == 0 ? 0.0f : blas.scnrm2(v.n, v.x, v.incx)));
      else
        store(std::complex<double>(v.n == 0 ? 0.0 : blas.dznrm2(v.n, v.x, v.incx)));
      break;
  }
  return TSR_OK;
}

tsr_status run(const syrk_call& s) {
  if (s.n == 0) return TSR_OK;
  const openblas& blas = openblas::loaded();
  const openblas::call one_call;
  const auto triangle = word_of_triangle(s.triangle);
  const auto transpose = s.transpose == TSR_NO_TRANSPOSE ? CblasNoTrans : CblasTrans;
  const auto *alpha = s.alpha.bytes, *beta = s.beta.bytes;
  switch (s.type) {
    case TSR_F32:
      blas.ssyrk(CblasColMajor, triangle, transpose, s.n, s.k, value_of<float>(s.alpha), static_cast<float*>(s.a),
                 s.lda, value_of<float>(s.beta), static_cast<float*>(s.c), s.ldc);
      break;
    case TSR_F64:
      blas.dsyrk(CblasColMajor, triangle, transpose, s.n, s.k, value_of<double>(s.alpha), static_cast<double*>(s.a),
                 s.lda, value_of<double>(s.beta), static_cast<double*>(s.c), s.ldc);
      break;
    case TSR_C64:
      blas.csyrk(CblasColMajor, triangle, transpose, s.n, s.k, alpha, s.a, s.lda, beta, s.c, s.ldc);
      break;
    default:
      blas.zsyrk(CblasColMajor, triangle, transpose, s.n, s.k, alpha, s.a, s.lda, beta, s.c, s.ldc);
      break;
  }
  return TSR_OK;
}

tsr_status run(const trsm_call& t) {
  if (t.m == 0 || t.n == 0) return TSR_OK;
  const openblas& blas = openblas::loaded();
  const openblas::call one_call;
  const auto side = t.side == TSR_LEFT ? CblasLeft : CblasRight;
  const auto triangle = word_of_triangle(t.triangle);
  const auto transpose = word(t.transpose);
  const auto diagonal = t.unit_diagonal ? CblasUnit : CblasNonUnit;
  const auto* alpha = t.alpha.bytes;
  switch (t.type) {
    case TSR_F32:
      blas.strsm(CblasColMajor, side, triangle, transpose, diagonal, t.m, t.n, value_of<float>(t.alpha),
                 static_cast<float*>(t.a), t.lda, static_cast<float*>(t.b), t.ldb);
      break;
    case TSR_F64:
      blas.dtrsm(CblasColMajor, side, triangle, transpose, diagonal, t.m, t.n, value_of<double>(t.alpha),
                 static_cast<double*>(t.a), t.lda, static_cast<double*>(t.b), t.ldb);
      break;
    case TSR_C64:
      blas.ctrsm(CblasColMajor, side, triangle, transpose, diagonal, t.m, t.n, alpha, t.a, t.lda, t.b, t.ldb);
      break;
    default:
      blas.ztrsm(CblasColMajor, side, triangle, transpose, diagonal, t.m, t.n, alpha, t.a, t.lda, t.b, t.ldb);
      break;
  }
  return TSR_OK;
}

tsr_status run(const potrf_call& p) {
  const char triangle = p.triangle == TSR_LOWER ? 'L' : 'U';
  int info = 0, bad = 0;
  if (p.n > 0) {
    const openblas& blas = openblas::loaded();
    const openblas::call one_call;
    switch (p.type) {
      case TSR_F32:
        blas.spotrf(&triangle, &p.n, static_cast<float*>(p.a), &p.lda, &info, 1);
        bad = first_bad_pivot<float>(p.a, p.n, p.lda);
        break;
      case TSR_F64:
        blas.dpotrf(&triangle, &p.n, static_cast<double*>(p.a), &p.lda, &info, 1);
        bad = first_bad_pivot<double>(p.a, p.n, p.lda);
        break;
      case TSR_C64:
        blas.cpotrf(&triangle, &p.n, p.a, &p.lda, &info, 1);
        bad = first_bad_pivot<std::complex<float>>(p.a, p.n, p.lda);
        break;
      default:
        blas.zpotrf(&triangle, &p.n, p.a, &p.lda, &info, 1);
        bad = first_bad_pivot<std::complex<double>>(p.a, p.n, p.lda);
        break;
    }
  }
  const std::int32_t result = info != 0 ? info : bad;
  std::memcpy(p.info, &result, sizeof result);
  return TSR_OK;
}

std::string blas_library() {
  std::string version;  // the configuration begins "OpenBLAS 0.3.21 DYNAMIC_ARCH …"
  if (const char* text = openblas::loaded().get_config()) {
    const char* end = std::strchr(text, ' ');
    if (end != nullptr) end = std::strchr(end + 1, ' ');
    version = end != nullptr ? std::string(text, end) : text;
  }
  const char* core = openblas::loaded().get_corename();
  return version + " (" + (core != nullptr ? core : "unknown") + ")";
}

std::string advice_on_kernels(std::string_view core, bool has_avx2, bool has_avx512, const char* chosen) {
  constexpr std::array old{"Prescott", "Core2", "Nehalem", "Barcelona", "Generic", "Unknown"};
  if (!has_avx2 || (chosen != nullptr && *chosen != '\0') || std::ranges::find(old, core) == old.end()) return {};
  return "OpenBLAS does not know this processor and uses its kernels for '" + std::string(core) +
         "', several times slower than it could be: set OPENBLAS_CORETYPE=" + (has_avx512 ? "SkylakeX" : "Haswell") +
         " in the environment, or install a newer OpenBLAS";
}

namespace {

std::string advice_here(const openblas& blas) {
#if defined(__x86_64__)
  const char* const core = blas.get_corename();
  return advice_on_kernels(core != nullptr ? core : "", __builtin_cpu_supports("avx2") != 0,
                           __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
                               __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0,
                           ::secure_getenv("OPENBLAS_CORETYPE"));
#else
  static_cast<void>(blas);
  return {};
#endif
}

}  // namespace

tsr_status start_blas(const reporter& report, int threads) {
  try {
    const openblas& blas = openblas::loaded();
    const bool untouched = blas.get_num_threads() > 1 && blas.get_num_threads() == blas.get_num_procs();
    if (threads > 0)
      blas.set_num_threads(threads);
    else if (untouched)
      blas.set_num_threads(1);
    if (const std::string advice = advice_here(blas); !advice.empty()) report.log(1, "%s", advice.c_str());
    return TSR_OK;
  } catch (const std::runtime_error& failure) {
    return report.fail_with(TSR_UNAVAILABLE, failure.what());
  }
}

}  // namespace tessera::kit
