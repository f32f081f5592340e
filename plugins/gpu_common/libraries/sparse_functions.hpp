#pragma once
// The functions of cuSPARSE and rocSPARSE that are called, as C sees them: handles, descriptors and data are pointers,
// choices and statuses are ints with both vendors. native/nvidia_functions.cpp holds them against NVIDIA's header,
// native/amd_functions.cpp against AMD's.
#include <cstddef>
#include <cstdint>

namespace tessera::gpu {

using make_csr_function = int (*)(void** out, std::int64_t rows, std::int64_t columns, std::int64_t nonzeros,
                                  void* starts, void* column_indices, void* values, int starts_type, int indices_type,
                                  int base, int type);
using make_bsr_function = int (*)(void** out, std::int64_t rows_of_tiles, std::int64_t columns_of_tiles,
                                  std::int64_t tiles, int direction, std::int64_t side, void* starts,
                                  void* column_indices, void* values, int starts_type, int indices_type, int base,
                                  int type);
using make_vector_function = int (*)(void** out, std::int64_t size, void* values, int type);
using make_matrix_function = int (*)(void** out, std::int64_t rows, std::int64_t columns, std::int64_t ld, void* values,
                                     int type, int order);
using drop_function = int (*)(void*);

// cuSPARSE: what a call wants is asked by a function of its own.
using property_function = int (*)(int which, int* out);
using spmv_size_function = int (*)(void*, int transpose, const void* alpha, void* a, void* x, const void* beta, void* y,
                                   int type, int algorithm, std::size_t* out_bytes);
using spmv_function = int (*)(void*, int transpose, const void* alpha, void* a, void* x, const void* beta, void* y,
                              int type, int algorithm, void* buffer);
using spmm_size_function = int (*)(void*, int transpose_a, int transpose_x, const void* alpha, void* a, void* x,
                                   const void* beta, void* y, int type, int algorithm, std::size_t* out_bytes);
using spmm_function = int (*)(void*, int transpose_a, int transpose_x, const void* alpha, void* a, void* x,
                              const void* beta, void* y, int type, int algorithm, void* buffer);

// rocSPARSE: a product of matrices is called once per stage; that with a vector is of one type, and has no buffer.
using make_description_function = int (*)(void** out);
using csrmv_function = int (*)(void*, int transpose, int rows, int columns, int nonzeros, const void* alpha,
                               void* description, const void* values, const std::int32_t* starts,
                               const std::int32_t* column_indices, void* analysis, const void* x, const void* beta,
                               void* y);
using staged_spmm_function = int (*)(void*, int transpose_a, int transpose_x, const void* alpha, void* a, void* x,
                                     const void* beta, void* y, int type, int algorithm, int stage, std::size_t* bytes,
                                     void* buffer);

}  // namespace tessera::gpu
