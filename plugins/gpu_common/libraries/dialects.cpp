// Names and numbers of cuBLAS, cuSOLVER, rocBLAS and rocSOLVER. Files: of the major versions that have these functions.
#include "plugins/gpu_common/libraries/dense.hpp"

namespace tessera::gpu {

const dense_dialect nvidia_dense = {
    .blas = {"cuBLAS", {"libcublas.so.13", "libcublas.so.12"}},
    .solver = {"cuSOLVER", {"libcusolver.so.12", "libcusolver.so.11"}},  // those of CUDA 13 and 12
    .letters = "SDCZ",
    .create = "cublasCreate_v2",
    .destroy = "cublasDestroy_v2",
    .set_stream = "cublasSetStream_v2",
    .gemm = "cublas?gemm_v2",
    .gemm_strided = "cublas?gemmStridedBatched",
    .syrk = "cublas?syrk_v2",
    .trsm = "cublas?trsm_v2",
    .transposes = {0, 1, 2},
    .triangles = {0, 1},
    .sides = {0, 1},
    .diagonals = {0, 1},
    .solver_create = "cusolverDnCreate",
    .solver_destroy = "cusolverDnDestroy",
    .solver_set_stream = "cusolverDnSetStream",
    .potrf = "cusolverDn?potrf",
    .potrf_size = "cusolverDn?potrf_bufferSize",
};

const dense_dialect amd_dense = {
    .blas = {"rocBLAS", {"librocblas.so.5", "librocblas.so.4", "librocblas.so.3", "librocblas.so.0"}},
    .solver = {"rocSOLVER", {"librocsolver.so.0"}},
    .letters = "sdcz",
    .create = "rocblas_create_handle",
    .destroy = "rocblas_destroy_handle",
    .set_stream = "rocblas_set_stream",
    .gemm = "rocblas_?gemm",
    .gemm_strided = "rocblas_?gemm_strided_batched",
    .syrk = "rocblas_?syrk",
    .trsm = "rocblas_?trsm",
    .transposes = {111, 112, 113},
    .triangles = {122, 121},
    .sides = {141, 142},
    .diagonals = {131, 132},
    .solver_create = nullptr,
    .solver_destroy = nullptr,
    .solver_set_stream = nullptr,
    .potrf = "rocsolver_?potrf",
    .potrf_size = nullptr,
};

}  // namespace tessera::gpu
