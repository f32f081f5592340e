// Holds what libraries/ believes of rocSPARSE against their headers, where they are (Debian: librocsparse-dev). Nothing
// of it runs.
#include <rocsparse/rocsparse.h>

#include "plugins/gpu_common/api/native/abi_compatible.hpp"
#include "plugins/gpu_common/libraries/sparse_functions.hpp"

namespace tessera::gpu {
namespace {

static_assert(calls_v<make_csr_function, decltype(&rocsparse_create_csr_descr)> &&
              calls_v<make_bsr_function, decltype(&rocsparse_create_bsr_descr)> &&
              calls_v<make_matrix_function, decltype(&rocsparse_create_dnmat_descr)>);
static_assert(calls_v<drop_function, decltype(&rocsparse_destroy_spmat_descr)> &&
              calls_v<drop_function, decltype(&rocsparse_destroy_dnmat_descr)> &&
              calls_v<drop_function, decltype(&rocsparse_destroy_mat_descr)>);
static_assert(calls_v<make_description_function, decltype(&rocsparse_create_mat_descr)>);
static_assert(calls_v<csrmv_function, decltype(&rocsparse_scsrmv)> &&
              calls_v<csrmv_function, decltype(&rocsparse_zcsrmv)>);
static_assert(calls_v<staged_spmm_function, decltype(&rocsparse_spmm)>);

// The numbers in dialects.cpp and sparse.cpp.
static_assert(rocsparse_datatype_f32_r == 151 && rocsparse_datatype_f64_r == 152 && rocsparse_datatype_f32_c == 154 &&
              rocsparse_datatype_f64_c == 155 && rocsparse_indextype_i32 == 2 && rocsparse_index_base_zero == 0);
static_assert(rocsparse_operation_none == 111 && rocsparse_order_row == 0 && rocsparse_direction_column == 1 &&
              rocsparse_spmm_alg_csr == 1 && rocsparse_spmm_alg_bsr == 8);
static_assert(rocsparse_spmm_stage_buffer_size == 1 && rocsparse_spmm_stage_preprocess == 2 &&
              rocsparse_spmm_stage_compute == 3 && rocsparse_status_success == 0 &&
              rocsparse_status_not_implemented == 2);

}  // namespace
}  // namespace tessera::gpu
