// cuSPARSE's generic functions for matrices in CSR that are not transposed, with the numbers of cusparse.h. What else
// it is asked is an invalid value.
#include <tessera/plugin.h>

#include "tests/vendor/sparse.hpp"

using namespace tessera;
using namespace tessera::test::vendor;

namespace {

constexpr int invalid = 3, as_is = 0, index_32 = 2, row_major = 2, csr_alg2 = 3, csr_alg3 = 12;
std::atomic<int> version{12006};

/// TSR_F32 to TSR_C128, or 0.
tsr_type type_of(int number) {
  return number == 0 ? TSR_F32 : number == 1 ? TSR_F64 : number == 4 ? TSR_C64 : number == 5 ? TSR_C128 : 0;
}
std::size_t wanted(const sparse_matrix& a) { return 64 + static_cast<std::size_t>(a.rows) * 4; }

int check(const sparse_matrix& a, const dense_matrix& x, const dense_matrix& y, int transpose, int type) {
  return transpose == as_is && type_of(type) == a.type && fits(a, x, y) ? 0 : invalid;
}

}  // namespace

extern "C" {
TSR_EXPORT void tessera_version(int major, int minor) { version = major * 1000 + minor; }
TSR_EXPORT int tessera_live_descriptors() { return live_descriptors(); }

TSR_EXPORT int cusparseGetProperty(int which, int* out) {
  *out = which == 0 ? version / 1000 : which == 1 ? version % 1000 : 0;
  return 0;
}
TSR_EXPORT int cusparseCreateCsr(void** out, std::int64_t rows, std::int64_t columns, std::int64_t nonzeros,
                                 void* starts, void* indices, void* values, int starts_type, int indices_type, int base,
                                 int type) {
  if (starts_type != index_32 || indices_type != index_32 || base != 0 || type_of(type) == 0) return invalid;
  return describe(out, "cusparseCreateCsr",
                  sparse_matrix{rows, columns, nonzeros, 1, static_cast<const std::int32_t*>(starts),
                                static_cast<const std::int32_t*>(indices), values, type_of(type)});
}
TSR_EXPORT int cusparseCreateDnMat(void** out, std::int64_t rows, std::int64_t columns, std::int64_t ld, void* values,
                                   int type, int order) {
  if (order != row_major || type_of(type) == 0) return invalid;
  return describe(out, "cusparseCreateDnMat", dense_matrix{rows, columns, ld, values, type_of(type)});
}
TSR_EXPORT int cusparseCreateDnVec(void** out, std::int64_t size, void* values, int type) {
  return type_of(type) == 0 ? invalid
                            : describe(out, "cusparseCreateDnVec", dense_matrix{size, 1, 1, values, type_of(type)});
}
TSR_EXPORT int cusparseDestroySpMat(void* one) { return drop<sparse_matrix>(one, "cusparseDestroySpMat"); }
TSR_EXPORT int cusparseDestroyDnMat(void* one) { return drop<dense_matrix>(one, "cusparseDestroyDnMat"); }
TSR_EXPORT int cusparseDestroyDnVec(void* one) { return drop<dense_matrix>(one, "cusparseDestroyDnVec"); }

TSR_EXPORT int cusparseSpMV_bufferSize(void*, int transpose, const void*, void* a, void* x, const void*, void* y,
                                       int type, int algorithm, std::size_t* bytes) {
  const auto& of = *static_cast<sparse_matrix*>(a);
  *bytes = wanted(of);
  if (check(of, *static_cast<dense_matrix*>(x), *static_cast<dense_matrix*>(y), transpose, type) != 0 ||
      algorithm != csr_alg2)
    return invalid;
  return note("cusparseSpMV_bufferSize");
}
TSR_EXPORT int cusparseSpMV(void* one, int transpose, const void* alpha, void* a, void* x, const void* beta, void* y,
                            int type, int algorithm, void* buffer) {
  const auto& of = *static_cast<sparse_matrix*>(a);
  const auto &from = *static_cast<dense_matrix*>(x), &to = *static_cast<dense_matrix*>(y);
  if (check(of, from, to, transpose, type) != 0 || algorithm != csr_alg2 || buffer == nullptr) return invalid;
  if (const int wrong = note("cusparseSpMV")) return wrong;
  multiply(one, of, from, to, alpha, beta, buffer, wanted(of));
  return 0;
}
TSR_EXPORT int cusparseSpMM_bufferSize(void*, int ta, int tx, const void*, void* a, void* x, const void*, void* y,
                                       int type, int algorithm, std::size_t* bytes) {
  const auto& of = *static_cast<sparse_matrix*>(a);
  *bytes = wanted(of);
  if (check(of, *static_cast<dense_matrix*>(x), *static_cast<dense_matrix*>(y), ta, type) != 0 || tx != as_is ||
      algorithm != csr_alg3)
    return invalid;
  return note("cusparseSpMM_bufferSize");
}
TSR_EXPORT int cusparseSpMM(void* one, int ta, int tx, const void* alpha, void* a, void* x, const void* beta, void* y,
                            int type, int algorithm, void* buffer) {
  const auto& of = *static_cast<sparse_matrix*>(a);
  const auto &from = *static_cast<dense_matrix*>(x), &to = *static_cast<dense_matrix*>(y);
  if (check(of, from, to, ta, type) != 0 || tx != as_is || algorithm != csr_alg3 || buffer == nullptr) return invalid;
  if (const int wrong = note("cusparseSpMM")) return wrong;
  multiply(one, of, from, to, alpha, beta, buffer, wanted(of));
  return 0;
}
}
