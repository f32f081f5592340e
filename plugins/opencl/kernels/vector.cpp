// Vectors: axpy, scal, dot, nrm2, sums of several arrays.
#include "plugins/gpu_common/api/scalars.hpp"
#include "plugins/opencl/launch.hpp"

namespace tessera::gpu {
namespace {

using namespace opencl;

constexpr std::size_t vector_threads = 256;
constexpr std::size_t partial_sums = 256;  // what reduction_scratch holds

/// The element that BLAS counts as the first.
const void* first(tsr_type type, const void* x, std::int64_t n, std::int64_t inc) {
  if (inc >= 0 || n <= 0) return x;
  return static_cast<const char*>(x) + (1 - n) * inc * static_cast<std::int64_t>(kit::element_bytes(type));
}

error_t reduce(cl_int norm, tsr_type type, std::int64_t n, const void* x, std::int64_t incx, const void* y,
               std::int64_t incy, const void* result, const void* scratch, stream_t stream) {
  const std::size_t groups = scratch == nullptr ? 1 : groups_for(n, 4 * vector_threads, partial_sums);
  error_t error = launch(stream, {"vector", element_of(type), "sum_up"}, {groups}, vector_threads, norm, n,
                         first(type, x, n, incx), incx, first(type, y, n, incy), incy, scratch, result);
  if (kind_of(error) != error_kind::none || groups == 1) return error;
  return launch(stream, {"vector", element_of(type), "join_sums"}, {1}, vector_threads, norm,
                static_cast<cl_uint>(groups), scratch, result);
}

}  // namespace

error_t axpy(tsr_type type, std::int64_t n, const void* alpha, const void* x, std::int64_t incx, void* y,
             std::int64_t incy, stream_t stream) {
  if (n <= 0 || is_zero(type, alpha)) return {};
  return launch(stream, {"vector", element_of(type), "add_scaled"}, {groups_for(n, vector_threads)}, vector_threads, n,
                one_element(type, alpha), first(type, x, n, incx), incx, first(type, y, n, incy), incy);
}

error_t scal(tsr_type type, std::int64_t n, const void* alpha, void* x, std::int64_t incx, stream_t stream) {
  if (n <= 0) return {};
  return launch(stream, {"vector", element_of(type), "scale"}, {groups_for(n, vector_threads)}, vector_threads, n,
                one_element(type, alpha), first(type, x, n, incx), incx);
}

error_t dot(tsr_type type, std::int64_t n, const void* x, std::int64_t incx, const void* y, std::int64_t incy,
            void* result, void* scratch, stream_t stream) {
  return reduce(0, type, n, x, incx, y, incy, result, scratch, stream);
}

error_t nrm2(tsr_type type, std::int64_t n, const void* x, std::int64_t incx, void* result, void* scratch,
             stream_t stream) {
  return reduce(1, type, n, x, incx, x, incx, result, scratch, stream);
}

error_t reduce_add(tsr_type type, std::int64_t count, void* to, void* const* sources, std::size_t source_count,
                   stream_t stream) {
  if (count <= 0) return {};
  constexpr std::size_t most = 4;  // what one launch takes
  for (std::size_t begin = 0; begin < source_count; begin += most) {
    const std::size_t some = source_count - begin < most ? source_count - begin : most;
    const void* from[most];
    for (std::size_t s = 0; s < most; ++s) from[s] = sources[begin + (s < some ? s : 0)];
    const error_t error =
        launch(stream, {"vector", element_of(type), "add_all"}, {groups_for(count, vector_threads)}, vector_threads,
               count, static_cast<const void*>(to), static_cast<cl_uint>(some), from[0], from[1], from[2], from[3]);
    if (kind_of(error) != error_kind::none) return error;
  }
  return {};
}

}  // namespace tessera::gpu
