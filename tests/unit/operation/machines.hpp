#pragma once
// The two places where built-in operations are tried: the host, and a device with memory of its own.
#include <gtest/gtest.h>

#include <complex>
#include <random>
#include <type_traits>
#include <vector>

#include "tests/integration/runtime/machines.hpp"

namespace tessera::testing {

/// A runtime in which every task of `here` runs on the host, or on a simulated device, and nowhere else.
struct place {
  explicit place(bool device)
      : rt(device ? with_sims(1, "16 MiB", false, 2, "placement = \"pinned\"\n") : host_only(2)),
        here(device ? task_options{.at = rt.at("sim0")} : task_options{}) {}
  runtime rt;
  task_options here;
};

template <class T>
struct real_part_of {
  using type = T;
};
template <class T>
struct real_part_of<std::complex<T>> {
  using type = T;
};
template <class T>
inline constexpr bool is_complex = !std::is_same_v<T, typename real_part_of<T>::type>;

/// The widest type of the kind of T, in which references are computed.
template <class T>
using wide = std::conditional_t<is_complex<T>, std::complex<double>, double>;

template <class T>
T random_value(std::mt19937_64& random) {
  std::uniform_real_distribution<double> d(-1, 1);
  using real = typename real_part_of<T>::type;
  if constexpr (is_complex<T>)
    return {static_cast<real>(d(random)), static_cast<real>(d(random))};
  else
    return static_cast<T>(d(random));
}

/// A column-major matrix on the side of the test.
template <class T>
struct dense_matrix {
  std::int64_t rows, columns;
  std::vector<T> values;
  dense_matrix(std::int64_t m, std::int64_t n) : rows(m), columns(n), values(static_cast<std::size_t>(m * n)) {}
  static dense_matrix random(std::int64_t m, std::int64_t n, std::mt19937_64& random) {
    dense_matrix result(m, n);
    for (T& v : result.values) v = random_value<T>(random);
    return result;
  }
  T& operator()(std::int64_t i, std::int64_t j) { return values[static_cast<std::size_t>(i + j * rows)]; }
  const T& operator()(std::int64_t i, std::int64_t j) const { return values[static_cast<std::size_t>(i + j * rows)]; }
};

/// An array of one block with the contents given.
template <class T>
array<T, any_rank, column_major> array_of(runtime& rt, const std::string& name, std::vector<std::int64_t> extents,
                                          const std::vector<T>& contents) {
  auto a = rt.make_array<T, column_major>(name, extents, extents);
  auto v = a.block(0).write();
  std::copy(contents.begin(), contents.end(), v.begin());
  return a;
}
template <class T>
tiled_matrix<T> array_of(runtime& rt, const std::string& name, const dense_matrix<T>& m) {
  auto a = rt.make_matrix<T>(name, {m.rows, m.columns}, {m.rows, m.columns});
  auto v = a(0, 0).write();
  std::copy(m.values.begin(), m.values.end(), v.begin());
  return a;
}

template <class T>
double tolerance(double scale) {
  return scale * 16 * static_cast<double>(std::numeric_limits<typename real_part_of<T>::type>::epsilon());
}

}  // namespace tessera::testing
