// Holds what libraries/ believes of cuBLAS, cuSOLVER and cuSPARSE against their headers. Nothing of it runs.
#include <cublas_v2.h>
#include <cusolverDn.h>
#include <cusparse.h>

#include "plugins/gpu_common/api/native/abi_compatible.hpp"
#include "plugins/gpu_common/libraries/dense_functions.hpp"
#include "plugins/gpu_common/libraries/sparse_functions.hpp"

namespace tessera::gpu {
namespace {

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

static_assert(calls_v<create_function, decltype(&cusparseCreate)> &&
              calls_v<set_stream_function, decltype(&cusparseSetStream)>);
static_assert(calls_v<property_function, decltype(&cusparseGetProperty)>);
static_assert(calls_v<make_csr_function, decltype(&cusparseCreateCsr)> &&
              calls_v<make_matrix_function, decltype(&cusparseCreateDnMat)> &&
              calls_v<make_vector_function, decltype(&cusparseCreateDnVec)>);
static_assert(calls_v<drop_function, decltype(&cusparseDestroySpMat)> &&
              calls_v<drop_function, decltype(&cusparseDestroyDnMat)> &&
              calls_v<drop_function, decltype(&cusparseDestroyDnVec)>);
static_assert(calls_v<spmv_size_function, decltype(&cusparseSpMV_bufferSize)> &&
              calls_v<spmv_function, decltype(&cusparseSpMV)>);
static_assert(calls_v<spmm_size_function, decltype(&cusparseSpMM_bufferSize)> &&
              calls_v<spmm_function, decltype(&cusparseSpMM)>);
static_assert(CUDA_R_32F == 0 && CUDA_R_64F == 1 && CUDA_C_32F == 4 && CUDA_C_64F == 5 && CUSPARSE_INDEX_32I == 2 &&
              CUSPARSE_INDEX_BASE_ZERO == 0 && CUSPARSE_ORDER_ROW == 2 && CUSPARSE_OPERATION_NON_TRANSPOSE == 0);
static_assert(CUSPARSE_SPMV_CSR_ALG2 == 3 && CUSPARSE_SPMM_CSR_ALG3 == 12 && CUSPARSE_STATUS_SUCCESS == 0 &&
              CUSPARSE_STATUS_NOT_SUPPORTED == 10 && MAJOR_VERSION == 0 && MINOR_VERSION == 1);

}  // namespace
}  // namespace tessera::gpu
