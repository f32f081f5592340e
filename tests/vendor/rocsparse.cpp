// rocSPARSE's generic functions for matrices in CSR and of square tiles that are not transposed, with the numbers of
// rocsparse-types.h. What else it is asked is an invalid value.
#include <tessera/plugin.h>

#include "tests/vendor/sparse.hpp"

using namespace tessera;
using namespace tessera::test::vendor;

namespace {

constexpr int invalid = 7, as_is = 111, index_32 = 2, row_major = 0, by_columns = 1, of_csr = 1, of_tiles = 8;
constexpr std::size_t wanted = 4;

/// TSR_F32 to TSR_C128, or 0.
tsr_type type_of(int number) {
  return number == 151 ? TSR_F32 : number == 152 ? TSR_F64 : number == 154 ? TSR_C64 : number == 155 ? TSR_C128 : 0;
}
struct description {};

}  // namespace

extern "C" {
TSR_EXPORT int tessera_live_descriptors() { return live_descriptors(); }

TSR_EXPORT int rocsparse_create_mat_descr(void** out) {
  return describe(out, "rocsparse_create_mat_descr", description{});
}
TSR_EXPORT int rocsparse_destroy_mat_descr(void* one) { return drop<description>(one, "rocsparse_destroy_mat_descr"); }

TSR_EXPORT int rocsparse_create_csr_descr(void** out, std::int64_t rows, std::int64_t columns, std::int64_t nonzeros,
                                          void* starts, void* indices, void* values, int starts_type, int indices_type,
                                          int base, int type) {
  if (starts_type != index_32 || indices_type != index_32 || base != 0 || type_of(type) == 0) return invalid;
  return describe(out, "rocsparse_create_csr_descr",
                  sparse_matrix{rows, columns, nonzeros, 1, static_cast<const std::int32_t*>(starts),
                                static_cast<const std::int32_t*>(indices), values, type_of(type)});
}
/// Only a sign of a version.
TSR_EXPORT int rocsparse_create_bsr_descr() { return invalid; }
TSR_EXPORT int rocsparse_create_const_bsr_descr(void** out, std::int64_t lines, std::int64_t across, std::int64_t tiles,
                                                int direction, std::int64_t side, const void* starts,
                                                const void* indices, const void* values, int starts_type,
                                                int indices_type, int base, int type) {
  if (direction != by_columns || starts_type != index_32 || indices_type != index_32 || base != 0 || type_of(type) == 0)
    return invalid;
  return describe(out, "rocsparse_create_const_bsr_descr",
                  sparse_matrix{lines * side, across * side, tiles, side, static_cast<const std::int32_t*>(starts),
                                static_cast<const std::int32_t*>(indices), values, type_of(type)});
}
TSR_EXPORT int rocsparse_create_dnmat_descr(void** out, std::int64_t rows, std::int64_t columns, std::int64_t ld,
                                            void* values, int type, int order) {
  if (order != row_major || type_of(type) == 0) return invalid;
  return describe(out, "rocsparse_create_dnmat_descr", dense_matrix{rows, columns, ld, values, type_of(type)});
}
TSR_EXPORT int rocsparse_destroy_spmat_descr(void* one) {
  return drop<sparse_matrix>(one, "rocsparse_destroy_spmat_descr");
}
TSR_EXPORT int rocsparse_destroy_dnmat_descr(void* one) {
  return drop<dense_matrix>(one, "rocsparse_destroy_dnmat_descr");
}

/// Stages: 1 the buffer's size, 2 preparation, 3 the product.
TSR_EXPORT int rocsparse_spmm(void* one, int ta, int tx, const void* alpha, void* a, void* x, const void* beta, void* y,
                              int type, int algorithm, int stage, std::size_t* bytes, void* buffer) {
  const auto& of = *static_cast<sparse_matrix*>(a);
  const auto &from = *static_cast<dense_matrix*>(x), &to = *static_cast<dense_matrix*>(y);
  if (ta != as_is || tx != as_is || type_of(type) != of.type || !fits(of, from, to) ||
      algorithm != (of.side == 1 ? of_csr : of_tiles))
    return invalid;
  if (stage == 1) {
    *bytes = wanted;
    return note("rocsparse_spmm: size");
  }
  if (*bytes != wanted || buffer == nullptr || (stage != 2 && stage != 3)) return invalid;
  if (stage == 2) return note("rocsparse_spmm: preparation");
  if (const int wrong = note("rocsparse_spmm")) return wrong;
  multiply(one, of, from, to, alpha, beta, buffer, wanted);
  return 0;
}
}
