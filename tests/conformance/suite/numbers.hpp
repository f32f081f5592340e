#pragma once
// Element types, random numbers and comparisons for the checks of BLAS and TENSOR.
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/conformance/suite/rig.hpp"

namespace tessera::conformance {

/// How many random shapes are tried of `all`: a third where the thread sanitizer looks for races, which do not depend
/// on shapes, and where kernels on emulated devices are slow. All of them are tried without it.
inline int rounds_of(int all) {
#if defined(__SANITIZE_THREAD__)
  return (all + 2) / 3;
#else
  return all;
#endif
}

template <class T>
struct number;
template <>
struct number<float> {
  using real = float;
  static constexpr tsr_type type = TSR_F32;
  static constexpr const char* name = "float32";
};
template <>
struct number<double> {
  using real = double;
  static constexpr tsr_type type = TSR_F64;
  static constexpr const char* name = "float64";
};
template <>
struct number<std::complex<float>> {
  using real = float;
  static constexpr tsr_type type = TSR_C64;
  static constexpr const char* name = "complex64";
};
template <>
struct number<std::complex<double>> {
  using real = double;
  static constexpr tsr_type type = TSR_C128;
  static constexpr const char* name = "complex128";
};

template <class T>
constexpr bool is_complex = !std::is_same_v<T, typename number<T>::real>;
template <class T>
constexpr double epsilon = static_cast<double>(std::numeric_limits<typename number<T>::real>::epsilon());

/// The complex conjugate; the number itself where it is real.
template <class T>
T conjugate(T value) {
  if constexpr (is_complex<T>)
    return std::conj(value);
  else
    return value;
}

/// Uniform in [-1, 1], both parts.
template <class T>
T random_number(random_source& random) {
  std::uniform_real_distribution<typename number<T>::real> part(-1, 1);
  if constexpr (is_complex<T>) {
    const auto re = part(random), im = part(random);
    return T(re, im);
  } else {
    return part(random);
  }
}

template <class T>
std::vector<T> random_numbers(random_source& random, std::size_t count) {
  std::vector<T> values(count);
  for (T& value : values) value = random_number<T>(random);
  return values;
}

template <class T>
T not_a_number() {
  return T(std::numeric_limits<typename number<T>::real>::quiet_NaN());
}

/// alpha and beta: 0, 1 and something between.
template <class T>
T random_scalar(random_source& random) {
  if (random.general) return random_number<T>(random);
  switch (random() % 3) {
    case 0:
      return T(0);
    case 1:
      return T(1);
    default:
      return random_number<T>(random);
  }
}

/// Both the same not-a-number or nearer than `tolerance`.
template <class T>
bool near(T a, T b, double tolerance) {
  const bool a_is_number = !(std::abs(a) != std::abs(a)), b_is_number = !(std::abs(b) != std::abs(b));
  if (!a_is_number || !b_is_number) return a_is_number == b_is_number;
  return static_cast<double>(std::abs(a - b)) <= tolerance;
}

template <class T>
void expect_near(const std::vector<T>& got, const std::vector<T>& wanted, double tolerance, const std::string& call) {
  for (std::size_t i = 0; i < wanted.size(); ++i)
    expect(near(got[i], wanted[i], tolerance), "{}: element {} is {}{:+}i, expected {}{:+}i (tolerance {:.2g})", call,
           i, std::real(got[i]), std::imag(got[i]), std::real(wanted[i]), std::imag(wanted[i]), tolerance);
}

/// 0, 1, and sizes around and beyond those of vectors and tiles.
inline std::int64_t random_size(random_source& random, std::int64_t largest = 70) {
  if (random.general) return 2 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(largest - 1));
  switch (random() % 6) {
    case 0:
      return 0;
    case 1:
      return 1;
    default:
      return 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(largest));
  }
}

/// A distance between neighbours: 1 to 3.
inline std::int64_t random_increment(random_source& random) {
  return random.general ? 2 + static_cast<std::int64_t>(random() % 2) : 1 + static_cast<std::int64_t>(random() % 3);
}

/// Runs one(random) some rounds of `all`; the first one with a general shape. A failure tells how it is had again;
/// `type`: of what elements.
template <class One>
void in_rounds(const subject& what, const std::string& type, int all, One&& one) {
  random_source random = what.generator();
  for (int i = 0; i < rounds_of(all); ++i) {
    random.general = i == 0;
    try {
      one(random);
    } catch (const beyond_limits& limit) {
      left_out = limit.what();  // other shapes are smaller
    } catch (const check_failed& failure) {
      throw check_failed(fmt::format("{} (seed {}, round {}): {}", type, what.seed, i, failure.what()));
    }
  }
}

/// Calls function(T{}) for each of the four types.
template <class F>
void for_each_number(F&& function) {
  function(float{});
  function(double{});
  function(std::complex<float>{});
  function(std::complex<double>{});
}

/// A scratch buffer as a table's `workspace` asks for; null where it asks for none.
template <class Ask>
std::optional<buffer> scratch(const device& device, tsr_workspace& into, Ask&& ask) {
  std::uint64_t bytes = 0;
  expect_ok(ask(&bytes), "workspace");
  into = {};
  if (bytes == 0) return std::nullopt;
  std::optional<buffer> memory(std::in_place, device, compute_space(device), bytes);
  into = {memory->at(0), bytes};
  return memory;
}

}  // namespace tessera::conformance
