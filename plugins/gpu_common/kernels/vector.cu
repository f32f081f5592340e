// Vectors: axpy, scal, dot, nrm2, sums of several arrays.
#include <cmath>
#include <cstdint>

#include "plugins/gpu_common/kernels/kernels.hpp"
#include "plugins/gpu_common/kernels/numbers.hpp"

namespace tessera::gpu {
namespace {

constexpr unsigned threads = 256;
constexpr unsigned partial_sums = 256;  // what reduction_scratch holds

template <class T>
__global__ void add_scaled(std::int64_t n, T alpha, const T* x, std::int64_t incx, T* y, std::int64_t incy) {
  for (std::int64_t i = global_thread(); i < n; i += global_threads()) y[i * incy] = y[i * incy] + alpha * x[i * incx];
}

template <class T>
__global__ void scale(std::int64_t n, T alpha, T* x, std::int64_t incx) {
  for (std::int64_t i = global_thread(); i < n; i += global_threads()) x[i * incx] = alpha * x[i * incx];
}

/// As many sources as one launch takes.
struct sources {
  static constexpr std::size_t most = 16;
  const void* at[most];
};

template <class T>
__global__ void add_all(std::int64_t n, T* to, sources from, unsigned count) {
  for (std::int64_t i = global_thread(); i < n; i += global_threads()) {
    T sum = to[i];
    for (unsigned s = 0; s < count; ++s) sum = sum + static_cast<const T*>(from.at[s])[i];
    to[i] = sum;
  }
}

/// What a dot product adds up.
template <class T>
struct dot_sum {
  typename traits<T>::wide value;
  __device__ void clear() { value = widen(from_real<T>(0)); }
  __device__ void add(T x, T y) { value = value + conjugate(widen(x)) * widen(y); }
  __device__ void join(const dot_sum& other) { value = value + other.value; }
  __device__ T result() const { return narrow<T>(value); }
};

/// A sum of squares as scale^2 * sum, so that no square overflows or vanishes; what LAPACK's lassq does.
template <class T>
struct norm_sum {
  double scale, sum;
  __device__ void clear() { scale = 0, sum = 1; }
  __device__ void add_part(double part) {
    const double size = part < 0 ? -part : part;
    if (size == 0) return;
    if (scale < size) {
      const double ratio = scale / size;
      sum = 1 + sum * ratio * ratio;
      scale = size;
    } else {
      const double ratio = size / scale;
      sum = sum + ratio * ratio;
    }
  }
  __device__ void add(T x, T) {
    if constexpr (traits<T>::is_complex) {
      add_part(x.re);
      add_part(x.im);
    } else {
      add_part(x);
    }
  }
  __device__ void join(const norm_sum& other) {
    if (other.scale == 0) return;
    if (scale < other.scale) {
      const double ratio = scale / other.scale;
      sum = other.sum + (scale == 0 ? 0 : sum * ratio * ratio);
      scale = other.scale;
    } else {
      const double ratio = other.scale / scale;
      sum = sum + other.sum * ratio * ratio;
    }
  }
  __device__ T result() const { return from_real<T>(static_cast<typename traits<T>::real>(scale == 0 ? 0 : scale * sqrt(sum))); }
};

/// Joins the sums of a block's threads; thread 0 has the whole.
template <class Sum>
__device__ Sum join_block(Sum own) {
  Sum* const all = shared_memory<Sum>();
  all[thread_x()] = own;
  for (unsigned half = threads / 2; half > 0; half /= 2) {
    barrier();
    if (thread_x() < half) all[thread_x()].join(all[thread_x() + half]);
  }
  return thread_x() == 0 ? all[0] : own;
}

/// Each block sums its part; one block alone writes the result, several write their sums.
template <class Sum, class T>
__global__ void sum_up(std::int64_t n, const T* x, std::int64_t incx, const T* y, std::int64_t incy, Sum* partial, T* result) {
  Sum own;
  own.clear();
  for (std::int64_t i = global_thread(); i < n; i += global_threads()) own.add(x[i * incx], y[i * incy]);
  const Sum all = join_block(own);
  if (thread_x() != 0) return;
  if (blocks_x() == 1)
    *result = all.result();
  else
    partial[block_x()] = all;
}

template <class Sum, class T>
__global__ void join_sums(const Sum* partial, unsigned count, T* result) {
  Sum own;
  own.clear();
  if (thread_x() < count) own = partial[thread_x()];
  const Sum all = join_block(own);
  if (thread_x() == 0) *result = all.result();
}

template <class Sum, class T>
error_t reduce(std::int64_t n, const T* x, std::int64_t incx, const T* y, std::int64_t incy, T* result, void* scratch,
               stream_t stream) {
  static_assert(sizeof(Sum) <= 16, "reduction_scratch holds 16 bytes a sum");
  const unsigned blocks = scratch == nullptr ? 1 : blocks_for(n, 4 * threads, partial_sums);
  auto* const partial = static_cast<Sum*>(scratch);
  const auto error = launch(&sum_up<Sum, T>, {blocks}, {threads}, threads * sizeof(Sum), stream, n, x, incx, y, incy, partial, result);
  if (kind_of(error) != error_kind::none || blocks == 1) return error;
  return launch(&join_sums<Sum, T>, {1}, {threads}, threads * sizeof(Sum), stream, partial, blocks, result);
}

/// The element that BLAS counts as the first.
template <class T>
T* first(const void* x, std::int64_t n, std::int64_t inc) {
  auto* const begin = static_cast<T*>(const_cast<void*>(x));
  return inc < 0 && n > 0 ? begin + (1 - n) * inc : begin;
}

}  // namespace

error_t axpy(tsr_type type, std::int64_t n, const void* alpha, const void* x, std::int64_t incx, void* y, std::int64_t incy,
             stream_t stream) {
  if (n <= 0) return error_t{};
  return with_number(type, [&](auto zero) {
    using T = decltype(zero);
    const T factor = element<T>(alpha);
    if (is_zero(factor)) return error_t{};
    return launch(&add_scaled<T>, {blocks_for(n, threads)}, {threads}, 0, stream, n, factor, first<const T>(x, n, incx), incx,
                  first<T>(y, n, incy), incy);
  });
}

error_t scal(tsr_type type, std::int64_t n, const void* alpha, void* x, std::int64_t incx, stream_t stream) {
  if (n <= 0) return error_t{};
  return with_number(type, [&](auto zero) {
    using T = decltype(zero);
    return launch(&scale<T>, {blocks_for(n, threads)}, {threads}, 0, stream, n, element<T>(alpha), first<T>(x, n, incx), incx);
  });
}

error_t dot(tsr_type type, std::int64_t n, const void* x, std::int64_t incx, const void* y, std::int64_t incy, void* result,
            void* scratch, stream_t stream) {
  return with_number(type, [&](auto zero) {
    using T = decltype(zero);
    return reduce<dot_sum<T>>(n, first<const T>(x, n, incx), incx, first<const T>(y, n, incy), incy, static_cast<T*>(result), scratch,
                              stream);
  });
}

error_t nrm2(tsr_type type, std::int64_t n, const void* x, std::int64_t incx, void* result, void* scratch, stream_t stream) {
  return with_number(type, [&](auto zero) {
    using T = decltype(zero);
    const T* const begin = first<const T>(x, n, incx);
    return reduce<norm_sum<T>>(n, begin, incx, begin, incx, static_cast<T*>(result), scratch, stream);
  });
}

error_t reduce_add(tsr_type type, std::int64_t count, void* to, void* const* from, std::size_t source_count, stream_t stream) {
  if (count <= 0) return error_t{};
  return with_any(type, [&](auto zero) {
    using T = decltype(zero);
    for (std::size_t begin = 0; begin < source_count; begin += sources::most) {
      const std::size_t some = source_count - begin < sources::most ? source_count - begin : sources::most;
      sources given = {};
      for (std::size_t s = 0; s < some; ++s) given.at[s] = from[begin + s];
      const auto error = launch(&add_all<T>, {blocks_for(count, threads)}, {threads}, 0, stream, count, static_cast<T*>(to), given,
                                static_cast<unsigned>(some));
      if (kind_of(error) != error_kind::none) return error;
    }
    return error_t{};
  });
}

}  // namespace tessera::gpu
