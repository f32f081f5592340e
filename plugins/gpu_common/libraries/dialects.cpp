// Names and numbers of cuBLAS, cuSOLVER, cuSPARSE, rocBLAS, rocSOLVER and rocSPARSE. Files: of the major versions that
// have these functions.
#include "plugins/gpu_common/libraries/dense.hpp"
#include "plugins/gpu_common/libraries/sparse.hpp"

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

// The algorithms: CUSPARSE_SPMV_CSR_ALG2 and CUSPARSE_SPMM_CSR_ALG3 are those that NVIDIA documents as giving the same
// bits in each run. Its only algorithm for tiles wants them row-major, ours are column-major.
const sparse_dialect nvidia_sparse = {
    .title = "cuSPARSE",
    .files = {"libcusparse.so.12"},  // of CUDA 12 and 13
    .create = "cusparseCreate",
    .destroy = "cusparseDestroy",
    .set_stream = "cusparseSetStream",
    .property = "cusparseGetProperty",
    .oldest = 12000,
    .sign = nullptr,
    .make_csr = "cusparseCreateCsr",
    .make_matrix = "cusparseCreateDnMat",
    .drop_sparse = "cusparseDestroySpMat",
    .drop_matrix = "cusparseDestroyDnMat",
    .make_bsr = nullptr,
    .make_vector = "cusparseCreateDnVec",
    .drop_vector = "cusparseDestroyDnVec",
    .spmv = "cusparseSpMV",
    .spmv_size = "cusparseSpMV_bufferSize",
    .make_description = nullptr,
    .drop_description = nullptr,
    .spmm = "cusparseSpMM",
    .spmm_size = "cusparseSpMM_bufferSize",
    .letters = "SDCZ",
    .types = {0, 1, 4, 5},
    .as_is = 0,
    .index_32 = 2,
    .by_rows = 2,
    .by_columns = 1,
    .spmv_algorithm = 3,
    .spmm_algorithm = 12,
    .tiles_algorithm = 0,
    .unsupported = 10,
};

// csrmv without an analysis gives each row to one group of threads; the generic rocsparse_spmv has other arguments in
// each major version.
const sparse_dialect amd_sparse = {
    .title = "rocSPARSE",
    .files = {"librocsparse.so.1", "librocsparse.so.0"},
    .create = "rocsparse_create_handle",
    .destroy = "rocsparse_destroy_handle",
    .set_stream = "rocsparse_set_stream",
    .property = nullptr,
    .oldest = 0,
    .sign = "rocsparse_create_bsr_descr",  // younger than the arguments of rocsparse_spmm
    .make_csr = "rocsparse_create_csr_descr",
    .make_matrix = "rocsparse_create_dnmat_descr",
    .drop_sparse = "rocsparse_destroy_spmat_descr",
    .drop_matrix = "rocsparse_destroy_dnmat_descr",
    .make_bsr = "rocsparse_create_const_bsr_descr",  // of ROCm 6; from then on X and Y of tiles may be row-major
    .make_vector = nullptr,
    .drop_vector = nullptr,
    .spmv = "rocsparse_?csrmv",
    .spmv_size = nullptr,
    .make_description = "rocsparse_create_mat_descr",
    .drop_description = "rocsparse_destroy_mat_descr",
    .spmm = "rocsparse_spmm",
    .spmm_size = nullptr,
    .letters = "sdcz",
    .types = {151, 152, 154, 155},
    .as_is = 111,
    .index_32 = 2,
    .by_rows = 0,
    .by_columns = 1,
    .spmv_algorithm = 0,
    .spmm_algorithm = 1,
    .tiles_algorithm = 8,
    .unsupported = 2,
};

}  // namespace tessera::gpu
