// Holds what libraries/ believes of cuBLAS and cuSOLVER against their headers. Nothing of it runs.
#include <cublas_v2.h>
#include <cusolverDn.h>

#include <type_traits>

#include "plugins/gpu_common/libraries/dense_functions.hpp"

namespace tessera::gpu {
namespace {

/// Whether arguments of one type can be passed as the other: data by address, numbers and choices of one size.
template <class Ours, class Theirs>
constexpr bool passes_as =
    std::is_pointer_v<Ours> ? std::is_pointer_v<Theirs> : !std::is_pointer_v<Theirs> && sizeof(Ours) == sizeof(Theirs);

template <class Ours, class Theirs>
struct calls;
template <class... Ours, class Status, class... Theirs>
struct calls<int (*)(Ours...), Status (*)(Theirs...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(Ours) == sizeof...(Theirs))
      return sizeof(Status) == sizeof(int) && (passes_as<Ours, Theirs> && ...);
    else
      return false;
  }();
};
template <class Ours, class Theirs>
constexpr bool calls_v = calls<Ours, Theirs>::value;

static_assert(calls_v<create_function, decltype(&cublasCreate_v2)> &&
              calls_v<create_function, decltype(&cusolverDnCreate)>);
static_assert(calls_v<set_stream_function, decltype(&cublasSetStream_v2)>);
static_assert(calls_v<set_stream_function, decltype(&cusolverDnSetStream)>);
static_assert(calls_v<gemm_function, decltype(&cublasSgemm_v2)> && calls_v<gemm_function, decltype(&cublasZgemm_v2)>);
static_assert(calls_v<gemm_strided_function, decltype(&cublasDgemmStridedBatched)>);
static_assert(calls_v<gemm_strided_function, decltype(&cublasCgemmStridedBatched)>);
static_assert(calls_v<syrk_function, decltype(&cublasDsyrk_v2)> && calls_v<syrk_function, decltype(&cublasCsyrk_v2)>);
static_assert(calls_v<trsm_function, decltype(&cublasStrsm_v2)> && calls_v<trsm_function, decltype(&cublasZtrsm_v2)>);
static_assert(calls_v<potrf_size_function, decltype(&cusolverDnDpotrf_bufferSize)>);
static_assert(calls_v<potrf_with_workspace, decltype(&cusolverDnSpotrf)> &&
              calls_v<potrf_with_workspace, decltype(&cusolverDnZpotrf)>);
static_assert(!calls_v<gemm_function, decltype(&cublasDsyrk_v2)>, "the comparison compares");

// The numbers in dialects.cpp.
static_assert(CUBLAS_OP_N == 0 && CUBLAS_OP_T == 1 && CUBLAS_OP_C == 2);
static_assert(CUBLAS_FILL_MODE_LOWER == 0 && CUBLAS_FILL_MODE_UPPER == 1 && CUBLAS_SIDE_LEFT == 0 &&
              CUBLAS_SIDE_RIGHT == 1);
static_assert(CUBLAS_DIAG_NON_UNIT == 0 && CUBLAS_DIAG_UNIT == 1 && CUBLAS_STATUS_SUCCESS == 0 &&
              CUSOLVER_STATUS_SUCCESS == 0);

}  // namespace
}  // namespace tessera::gpu
