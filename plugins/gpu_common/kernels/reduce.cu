// Reductions of the rows or the columns of a matrix: threads share a result, and join what they have in shared memory.
#include <cmath>
#include <type_traits>

#include "plugins/gpu_common/kernels/numbers.hpp"
#include "plugins/gpu_common/kernels/sparse_kernels.hpp"

namespace tessera::gpu {
namespace {

constexpr unsigned threads = 256;

/// What magnitudes are kept in. Integers are unsigned here.
template <class T>
using size_of = std::conditional_t<std::is_integral_v<T>, T, double>;

template <class T>
__device__ T number_of(size_of<T> size) {
  if constexpr (std::is_integral_v<T>)
    return size;
  else
    return from_real<T>(static_cast<typename traits<T>::real>(size));
}

template <class T>
__device__ size_of<T> magnitude(T value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::make_signed_t<T>>(value) < 0 ? T{0} - value : value;
  } else if constexpr (!traits<T>::is_complex) {
    return value < 0 ? -static_cast<double>(value) : static_cast<double>(value);
  } else {
    const double re = value.re < 0 ? -value.re : value.re, im = value.im < 0 ? -value.im : value.im;
    if (re != re || im != im) return re + im;
    const double larger = re < im ? im : re, smaller = re < im ? re : im;
    if (smaller == 0 || larger - larger != 0) return larger;  // 0, or infinite
    const double ratio = smaller / larger;
    return larger * sqrt(1 + ratio * ratio);
  }
}

// What is kept of the elements seen so far.
template <class T>
struct sum_of {
  typename traits<T>::wide value;
  __device__ void clear(T) { value = widen(from_real<T>(0)); }
  __device__ void add(T one) { value = value + widen(one); }
  __device__ void join(const sum_of& other) { value = value + other.value; }
  __device__ T result() const { return narrow<T>(value); }
};
template <class T>
struct squares_of {
  size_of<T> value;
  __device__ void clear(T) { value = 0; }
  __device__ void add(T one) {
    if constexpr (traits<T>::is_complex) {
      const double re = one.re, im = one.im;
      value += re * re + im * im;
    } else {
      value += static_cast<size_of<T>>(one) * static_cast<size_of<T>>(one);
    }
  }
  __device__ void join(const squares_of& other) { value += other.value; }
  __device__ T result() const { return number_of<T>(value); }
};
/// The largest magnitude, or what is no number.
template <class T>
struct largest_magnitude_of {
  size_of<T> value;
  __device__ void clear(T) { value = 0; }
  __device__ void take(size_of<T> size) {
    if (size > value || size != size) value = size;
  }
  __device__ void add(T one) { take(magnitude(one)); }
  __device__ void join(const largest_magnitude_of& other) { take(other.value); }
  __device__ T result() const { return number_of<T>(value); }
};
template <class T, bool Largest>
struct extreme_of {
  T value;
  __device__ static bool is_before(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      using S = std::make_signed_t<T>;
      return Largest ? static_cast<S>(a) > static_cast<S>(b) : static_cast<S>(a) < static_cast<S>(b);
    } else {
      return Largest ? a > b : a < b;
    }
  }
  __device__ void clear(T nothing) { value = nothing; }
  __device__ void add(T one) {
    if (is_before(one, value) || one != one) value = one;
  }
  __device__ void join(const extreme_of& other) { add(other.value); }
  __device__ T result() const { return value; }
};

template <class T>
struct lines {
  std::int64_t results, length, result_step, step;
  const T* from;
  T* to;
  T nothing;
  unsigned wide;
};

template <class Kept, class T>
__global__ void __launch_bounds__(threads) reduce_each(lines<T> g) {
  Kept* const all = shared_memory<Kept>();
  const unsigned wide = g.wide, deep = threads / wide;
  const bool along = g.step == 1;  // neighbours read neighbouring elements
  const unsigned mine = along ? thread_x() / deep : thread_x() % wide, lane = along ? thread_x() % deep : thread_x() / wide;
  Kept* const own = all + lane * wide + mine;
  for (std::int64_t first = std::int64_t{block_x()} * wide; first < g.results; first += std::int64_t{blocks_x()} * wide) {
    const std::int64_t i = first + mine;
    Kept kept;
    kept.clear(g.nothing);
    if (i < g.results)
      for (std::int64_t k = lane; k < g.length; k += deep) kept.add(g.from[i * g.result_step + k * g.step]);
    *own = kept;
    for (unsigned half = deep / 2; half > 0; half /= 2) {
      barrier();
      if (lane < half) own->join(own[half * wide]);
    }
    if (lane == 0 && i < g.results) g.to[i] = own->result();
    barrier();  // before the next are written
  }
}

template <class Kept, class T>
error_t reduce_typed(const line_reduction& r, stream_t stream) {
  const unsigned wide = results_at_once(r, threads);
  const lines<T> g{r.results, r.length, r.result_step, r.step, static_cast<const T*>(r.from), static_cast<T*>(r.to),
                   element<T>(r.nothing), wide};
  return launch(&reduce_each<Kept, T>, {blocks_for(r.results, wide)}, {threads}, threads * sizeof(Kept), stream, g);
}

}  // namespace

error_t reduce_lines(const line_reduction& r, stream_t stream) {
  if (r.results <= 0) return error_t{};
  return with_any(r.type, [&](auto zero) {
    using T = decltype(zero);
    switch (r.operation) {
      case TSR_REDUCTION_SUM: return reduce_typed<sum_of<T>, T>(r, stream);
      case TSR_REDUCTION_SUM_OF_SQUARES: return reduce_typed<squares_of<T>, T>(r, stream);
      case TSR_REDUCTION_MAX_MAGNITUDE: return reduce_typed<largest_magnitude_of<T>, T>(r, stream);
      default: break;
    }
    if constexpr (traits<T>::is_complex)
      return error_t{};  // refused before
    else
      return r.operation == TSR_REDUCTION_MIN ? reduce_typed<extreme_of<T, false>, T>(r, stream)
                                         : reduce_typed<extreme_of<T, true>, T>(r, stream);
  });
}

}  // namespace tessera::gpu
