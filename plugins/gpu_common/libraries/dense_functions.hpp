#pragma once
// The functions of cuBLAS, cuSOLVER, rocBLAS and rocSOLVER that are called, as C sees them: handles and data are
// pointers, choices and statuses are ints with every vendor. native/nvidia_functions.cpp holds them against NVIDIA's
// own headers.
#include "plugins/gpu_common/api/runtime.hpp"

namespace tessera::gpu {

using create_function = int (*)(void** out_handle);
using set_stream_function = int (*)(void* handle, stream_t stream);
using gemm_function = int (*)(void*, int transpose_a, int transpose_b, int m, int n, int k, const void* alpha,
                              const void* a, int lda, const void* b, int ldb, const void* beta, void* c, int ldc);
using gemm_strided_function = int (*)(void*, int transpose_a, int transpose_b, int m, int n, int k, const void* alpha,
                                      const void* a, int lda, long long stride_a, const void* b, int ldb,
                                      long long stride_b, const void* beta, void* c, int ldc, long long stride_c,
                                      int batch);
using syrk_function = int (*)(void*, int triangle, int transpose, int n, int k, const void* alpha, const void* a,
                              int lda, const void* beta, void* c, int ldc);
using trsm_function = int (*)(void*, int side, int triangle, int transpose, int diagonal, int m, int n,
                              const void* alpha, const void* a, int lda, void* b, int ldb);
using potrf_size_function = int (*)(void*, int triangle, int n, void* a, int lda, int* out_elements);
using potrf_with_workspace = int (*)(void*, int triangle, int n, void* a, int lda, void* workspace, int elements,
                                     void* info);
using potrf_function = int (*)(void*, int triangle, int n, void* a, int lda, void* info);

}  // namespace tessera::gpu
