#pragma once
// BLAS and LAPACK calls on host pointers: checked when they are enqueued, run later, through OpenBLAS.
#include <tessera/plugin.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/kit/abi/operand.hpp"
#include "plugins/kit/abi/report.hpp"

namespace tessera::kit {

/// Each call type is a plain copy of a request with resolved pointers: prepare() checks the request and fills it
/// (errors INVALID_ARGUMENT, OUT_OF_RANGE, UNIMPLEMENTED, with records), run() does it, flops() says what it costs.
/// Dimensions are those of the ABI's structs; OpenBLAS counts in 32 bits, so larger ones are OUT_OF_RANGE.
struct gemm_call {
  tsr_type type;
  tsr_transpose transpose_a, transpose_b;
  int m, n, k, lda, ldb, ldc;
  scalar alpha, beta;
  void *a, *b, *c;
  std::int64_t batch, stride_a, stride_b, stride_c;  ///< bytes
  struct triple {
    void *a, *b, *c;
  };
  std::vector<triple> pointers;  ///< pointer batches; empty otherwise
};
enum class gemm_form : std::uint8_t {
  single,
  strided,
  batched
};
tsr_status prepare(const reporter& report, operand_resolver& operands, const tsr_gemm* arguments, gemm_form form,
                   gemm_call& out);
tsr_status run(const gemm_call& call);
double flops(const gemm_call& call);

struct vector_call {
  tsr_blas_operation operation;  ///< AXPY, SCAL, DOT, NRM2
  tsr_type type;
  int n, incx, incy;
  scalar alpha;
  void *x, *y, *result;
};
tsr_status prepare(const reporter& report, operand_resolver& operands, const tsr_vector_operation* arguments,
                   tsr_blas_operation operation, vector_call& out);
tsr_status run(const vector_call& call);
double flops(const vector_call& call);

struct syrk_call {
  tsr_type type;
  tsr_triangle triangle;
  tsr_transpose transpose;
  int n, k, lda, ldc;
  scalar alpha, beta;
  void *a, *c;
};
tsr_status prepare(const reporter& report, operand_resolver& operands, const tsr_syrk* arguments, syrk_call& out);
tsr_status run(const syrk_call& call);
double flops(const syrk_call& call);

struct trsm_call {
  tsr_type type;
  tsr_side side;
  tsr_triangle triangle;
  tsr_transpose transpose;
  bool unit_diagonal;
  int m, n, lda, ldb;
  scalar alpha;
  void *a, *b;
};
tsr_status prepare(const reporter& report, operand_resolver& operands, const tsr_trsm* arguments, trsm_call& out);
tsr_status run(const trsm_call& call);
double flops(const trsm_call& call);

struct potrf_call {
  tsr_type type;
  tsr_triangle triangle;
  int n, lda;
  void* a;
  void* info;
};
tsr_status prepare(const reporter& report, operand_resolver& operands, const tsr_potrf* arguments, potrf_call& out);
/// Writes *info also for a pivot that is not a number, which LAPACK itself lets pass.
tsr_status run(const potrf_call& call);
double flops(const potrf_call& call);

/// All operations for F32, F64, C64, C128.
bool blas_supports(tsr_blas_operation operation, tsr_type type) noexcept;

/// Loads OpenBLAS, before anything else here computes, and sets the threads of one call; 0: one, unless the program has
/// chosen a number. OpenBLAS has one such number per process, shared by every plugin and by the program: whoever sets
/// it last decides. Fails: UNAVAILABLE, with what is missing.
tsr_status start_blas(const reporter& report, int threads);

/// "OpenBLAS 0.3.21 (Zen)": name, version and kernel set in use.
std::string blas_library();
/// What to tell a user whose OpenBLAS has chosen kernels for a processor much older than this one: versions do not know
/// processors that are younger than they are. "" where all is well.
/// @param core  the kernel set (openblas_get_corename)
/// @param has_avx512  with the parts of it that Skylake has (VL, BW, DQ)
/// @param chosen  the environment's OPENBLAS_CORETYPE: the user's choice; null or "": none
std::string advice_on_kernels(std::string_view core, bool has_avx2, bool has_avx512, const char* chosen);

}  // namespace tessera::kit
