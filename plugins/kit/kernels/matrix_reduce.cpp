#include "plugins/kit/kernels/matrix_reduce.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

namespace tessera::kit {
namespace {

using i64 = std::int64_t;

template <class T>
constexpr bool is_complex_number = !std::is_arithmetic_v<T>;
/// What sums are kept in. Integers are unsigned, since theirs wrap around.
template <class T>
struct wide_type {
  using type = std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<double>>::type;
};
template <class Real>
struct wide_type<std::complex<Real>> {
  using type = std::complex<double>;
};
template <class T>
using wide_of = typename wide_type<T>::type;
/// What magnitudes are kept in.
template <class T>
using magnitude_of = std::conditional_t<is_complex_number<T>, double, wide_of<T>>;

template <class T>
magnitude_of<T> magnitude(T value) {
  if constexpr (std::is_integral_v<T>)
    return value < 0 ? -static_cast<wide_of<T>>(value) : static_cast<wide_of<T>>(value);
  else if constexpr (!is_complex_number<T>)
    return std::abs(static_cast<double>(value));
  else
    return value == value ? std::hypot(static_cast<double>(value.real()), static_cast<double>(value.imag()))
                          : std::numeric_limits<double>::quiet_NaN();
}

// What is kept of the elements seen so far: clear, add, join with another's, result.
template <class T>
struct sum_of {
  wide_of<T> value{};
  void add(T one) { value += static_cast<wide_of<T>>(one); }
  void join(const sum_of& other) { value += other.value; }
  T result() const { return static_cast<T>(value); }
};
template <class T>
struct squares_of {
  magnitude_of<T> value{};
  void add(T one) {
    if constexpr (is_complex_number<T>) {
      const double re = one.real(), im = one.imag();
      value += re * re + im * im;
    } else {
      value += static_cast<wide_of<T>>(one) * static_cast<wide_of<T>>(one);
    }
  }
  void join(const squares_of& other) { value += other.value; }
  T result() const {
    if constexpr (is_complex_number<T>)
      return T(static_cast<typename T::value_type>(value));
    else
      return static_cast<T>(value);
  }
};
/// The largest magnitude, or what is no number.
template <class T>
struct largest_magnitude_of {
  magnitude_of<T> value{};
  void take(magnitude_of<T> size) {
    if (size > value || size != size) value = size;
  }
  void add(T one) { take(magnitude(one)); }
  void join(const largest_magnitude_of& other) { take(other.value); }
  T result() const { return squares_of<T>{value}.result(); }
};
template <class T, bool Largest>
struct extreme_of {
  using limits = std::numeric_limits<T>;
  T value = Largest ? (limits::has_infinity ? -limits::infinity() : limits::lowest())
                    : (limits::has_infinity ? limits::infinity() : limits::max());
  void add(T one) {
    if ((Largest ? one > value : one < value) || one != one) value = one;
  }
  void join(const extreme_of& other) { add(other.value); }
  T result() const { return value; }
};

/// Elements one behind the other: in lanes, so that additions need not wait for each other.
template <class Kept, class T>
T of_vector(const T* x, i64 count) {
  constexpr i64 lanes = 8;
  Kept kept[lanes];
  i64 k = 0;
  for (; k + lanes <= count; k += lanes)
    for (i64 lane = 0; lane < lanes; ++lane) kept[lane].add(x[k + lane]);
  for (; k < count; ++k) kept[k % lanes].add(x[k]);
  for (i64 lane = 1; lane < lanes; ++lane) kept[0].join(kept[lane]);
  return kept[0].result();
}

/// Results beside each other, some at a time, so that memory is read in its order.
template <class Kept, class T>
void beside(const matrix_reduce_call& call, const T* x, T* to) {
  constexpr i64 some = 128;
  for (i64 begin = 0; begin < call.results; begin += some) {
    const i64 count = std::min(some, call.results - begin);
    Kept kept[some];
    for (i64 k = 0; k < call.length; ++k)
      for (i64 i = 0; i < count; ++i) kept[i].add(x[begin + i + k * call.step]);
    for (i64 i = 0; i < count; ++i) to[begin + i] = kept[i].result();
  }
}

template <class Kept, class T>
void reduce(const matrix_reduce_call& call) {
  const auto* x = static_cast<const T*>(call.source);
  auto* to = static_cast<T*>(call.destination);
  if (call.step != 1) return beside<Kept>(call, x, to);
  for (i64 i = 0; i < call.results; ++i) to[i] = of_vector<Kept>(x + i * call.result_step, call.length);
}

template <class T>
void run_typed(const matrix_reduce_call& call) {
  switch (call.reduction) {
    case TSR_REDUCTION_SUM:
      return reduce<sum_of<T>, T>(call);
    case TSR_REDUCTION_SUM_OF_SQUARES:
      return reduce<squares_of<T>, T>(call);
    case TSR_REDUCTION_MAX_MAGNITUDE:
      return reduce<largest_magnitude_of<T>, T>(call);
    default:
      break;
  }
  if constexpr (!is_complex_number<T>) {
    if (call.reduction == TSR_REDUCTION_MIN) return reduce<extreme_of<T, false>, T>(call);
    return reduce<extreme_of<T, true>, T>(call);
  }
}

}  // namespace

bool reduce_supports(tsr_type type) noexcept { return type >= TSR_F32 && type <= TSR_I64; }

tsr_status prepare(const reporter& report, operand_resolver& operands, const tsr_reduce* arguments,
                   matrix_reduce_call& out) {
  if (!TSR_HAS(tsr_reduce, arguments, workspace))
    return report.fail(TSR_INVALID_ARGUMENT, "reduce: NULL arguments or a struct_size that is not set");
  const auto& r = *arguments;
  const auto shown = [](i64 value) { return static_cast<long long>(value); };
  if (!reduce_supports(r.type))
    return report.fail(TSR_UNIMPLEMENTED, "reduce: no kernel for element type %u; ask supports first", r.type);
  if (r.reduction < TSR_REDUCTION_SUM || r.reduction > TSR_REDUCTION_MAX_MAGNITUDE)
    return report.fail(TSR_INVALID_ARGUMENT, "reduce: reduction %u", r.reduction);
  if ((r.reduction == TSR_REDUCTION_MIN || r.reduction == TSR_REDUCTION_MAX) &&
      (r.type == TSR_C64 || r.type == TSR_C128))
    return report.fail(TSR_INVALID_ARGUMENT, "reduce: complex numbers have no least and no largest");
  if (r.direction > TSR_REDUCTION_PER_COLUMN)
    return report.fail(TSR_INVALID_ARGUMENT, "reduce: direction %u", r.direction);
  if (r.m < 0 || r.n < 0)
    return report.fail(TSR_INVALID_ARGUMENT, "reduce: a matrix of %lld x %lld", shown(r.m), shown(r.n));
  if (r.ld < std::max<i64>(1, r.m))
    return report.fail(TSR_INVALID_ARGUMENT, "reduce: the leading dimension %lld is less than the %lld rows",
                       shown(r.ld), shown(r.m));
  const bool per_row = r.direction == TSR_REDUCTION_PER_ROW;
  out.type = r.type;
  out.reduction = r.reduction;
  out.results = per_row ? r.m : r.n;
  out.length = per_row ? r.n : r.m;
  out.result_step = per_row ? 1 : r.ld;
  out.step = per_row ? r.ld : 1;
  const std::uint64_t each = element_bytes(r.type);
  std::uint64_t bytes = 0, bytes_out = 0;
  if (r.m > 0 && r.n > 0 &&
      (__builtin_mul_overflow(static_cast<std::uint64_t>(r.n - 1), static_cast<std::uint64_t>(r.ld), &bytes) ||
       __builtin_add_overflow(bytes, static_cast<std::uint64_t>(r.m), &bytes) ||
       __builtin_mul_overflow(bytes, each, &bytes)))
    return report.fail(TSR_OUT_OF_RANGE, "reduce: the matrix exceeds 64 bits of bytes");
  if (__builtin_mul_overflow(static_cast<std::uint64_t>(out.results), each, &bytes_out))
    return report.fail(TSR_OUT_OF_RANGE, "reduce: the results exceed 64 bits of bytes");
  void* source = nullptr;
  if (const auto status = operands.resolve("the source", r.source, bytes, &source)) return status;
  if (const auto status = operands.resolve("the destination", r.destination, bytes_out, &out.destination))
    return status;
  out.source = source;
  const auto from = reinterpret_cast<std::uintptr_t>(source), to = reinterpret_cast<std::uintptr_t>(out.destination);
  if (bytes > 0 && bytes_out > 0 && (from < to ? to - from < bytes : from - to < bytes_out))
    return report.fail(TSR_INVALID_ARGUMENT, "reduce: source and destination overlap");
  return TSR_OK;
}

tsr_status run(const matrix_reduce_call& call) {
  switch (call.type) {
    case TSR_F32:
      run_typed<float>(call);
      break;
    case TSR_F64:
      run_typed<double>(call);
      break;
    case TSR_C64:
      run_typed<std::complex<float>>(call);
      break;
    case TSR_C128:
      run_typed<std::complex<double>>(call);
      break;
    case TSR_I32:
      run_typed<std::int32_t>(call);
      break;
    default:
      run_typed<std::int64_t>(call);
      break;
  }
  return TSR_OK;
}

double bytes_moved(const matrix_reduce_call& call) {
  return static_cast<double>(call.results) * static_cast<double>(call.length + 1) *
         static_cast<double>(element_bytes(call.type));
}

}  // namespace tessera::kit
