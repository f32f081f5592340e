#pragma once
// The element types of kernels. C++17, read by compilers for GPUs.
#include <tessera/plugin.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "plugins/gpu_common/kernels/device_code.hpp"

namespace tessera::gpu {

/// Ours, because the standard's and the vendors' complex numbers are not the same in host and device code.
template <class Real>
struct complex {
  Real re, im;
};

template <class T>
struct traits {
  using real = T;
  using wide = T;  ///< what sums of it are kept in
  static constexpr bool is_complex = false;
};
template <>
struct traits<float> {
  using real = float;
  using wide = double;
  static constexpr bool is_complex = false;
};
template <class Real>
struct traits<complex<Real>> {
  using real = Real;
  using wide = complex<double>;
  static constexpr bool is_complex = true;
};

template <class R>
__host__ __device__ inline complex<R> operator+(complex<R> a, complex<R> b) {
  return {a.re + b.re, a.im + b.im};
}
template <class R>
__host__ __device__ inline complex<R> operator-(complex<R> a, complex<R> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class R>
__host__ __device__ inline complex<R> operator*(complex<R> a, complex<R> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class R>
__host__ __device__ inline complex<R> operator/(complex<R> a, complex<R> b) {
  // Smith: the larger part of b divides first, so that its square cannot overflow.
  if ((b.re < 0 ? -b.re : b.re) >= (b.im < 0 ? -b.im : b.im)) {
    const R ratio = b.im / b.re, whole = b.re + b.im * ratio;
    return {(a.re + a.im * ratio) / whole, (a.im - a.re * ratio) / whole};
  }
  const R ratio = b.re / b.im, whole = b.re * ratio + b.im;
  return {(a.re * ratio + a.im) / whole, (a.im * ratio - a.re) / whole};
}

template <class T>
__host__ __device__ inline T from_real(typename traits<T>::real value) {
  if constexpr (traits<T>::is_complex)
    return {value, 0};
  else
    return value;
}
template <class T>
__host__ __device__ inline typename traits<T>::real real_part(T value) {
  if constexpr (traits<T>::is_complex)
    return value.re;
  else
    return value;
}
template <class T>
__host__ __device__ inline T conjugate(T value) {
  if constexpr (traits<T>::is_complex)
    return {value.re, -value.im};
  else
    return value;
}
/// To the type of sums and back.
template <class T>
__host__ __device__ inline typename traits<T>::wide widen(T value) {
  if constexpr (traits<T>::is_complex)
    return {value.re, value.im};
  else
    return value;
}
template <class T>
__host__ __device__ inline T narrow(typename traits<T>::wide value) {
  using R = typename traits<T>::real;
  if constexpr (traits<T>::is_complex)
    return {static_cast<R>(value.re), static_cast<R>(value.im)};
  else
    return static_cast<T>(value);
}
template <class T>
__host__ __device__ inline bool is_zero(T value) {
  if constexpr (traits<T>::is_complex)
    return value.re == 0 && value.im == 0;
  else
    return value == 0;
}

/// One element out of a caller's bytes.
template <class T>
T element(const void* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

/// Calls function(T{}) with the floating-point type that `type` names; it returns an error_t.
template <class Function>
error_t with_number(tsr_type type, Function&& function) {
  switch (type) {
    case TSR_F32:
      return function(float{});
    case TSR_F64:
      return function(double{});
    case TSR_C64:
      return function(complex<float>{});
    default:
      return function(complex<double>{});
  }
}
/// The same with integers, unsigned, since theirs wrap around.
template <class Function>
error_t with_any(tsr_type type, Function&& function) {
  switch (type) {
    case TSR_I32:
      return function(std::uint32_t{});
    case TSR_I64:
      return function(std::uint64_t{});
    default:
      return with_number(type, function);
  }
}

}  // namespace tessera::gpu
