#pragma once
// Functions given by samples, with cubic polynomials between them.
#include <cstdint>
#include <vector>

namespace tessera::apps::comd {

/// A function at 0, step, 2 step, ...
struct samples {
  double step = 0;             ///< above 0
  std::vector<double> values;  ///< at least five
};

/// For each interval between two samples four coefficients c of c0 + d (c1 + d (c2 + d c3)), d from 0 to 1. The
/// polynomials meet with the same slope, that of the polynomial through five samples around (four at the second one
/// and the last but one: central difference). So the slope of the interpolated function is known exactly.
std::vector<double> cubic_coefficients(const samples& of);

/// The interpolated function. Beyond the samples, the polynomial of the last interval goes on. Plain data over memory
/// of others. @tparam T  double or float
template <class T>
struct cubic_table {
  const T* coefficients = nullptr;  ///< four per interval
  T per_step = 0;                   ///< 1 / step
  std::int32_t last = 0;            ///< the last interval

  T value(T at) const {
    const interval i = find(at);
    return i.c[0] + i.d * (i.c[1] + i.d * (i.c[2] + i.d * i.c[3]));
  }
  T slope(T at) const {
    const interval i = find(at);
    return (i.c[1] + i.d * (2 * i.c[2] + 3 * i.d * i.c[3])) * per_step;
  }

 private:
  struct interval {
    const T* c;
    T d;
  };
  interval find(T at) const {
    const T t = at * per_step, most = static_cast<T>(last);
    T inside = t < most ? t : most;  // also where it is not a number
    inside = inside > 0 ? inside : 0;
    const auto k = static_cast<std::int32_t>(inside);
    return {coefficients + 4 * std::int64_t{k}, t - static_cast<T>(k)};
  }
};

/// The table over coefficients of samples that are `step` apart.
template <class T>
cubic_table<T> table_over(const T* coefficients, std::int64_t intervals, double step) {
  return {coefficients, static_cast<T>(1 / step), static_cast<std::int32_t>(intervals - 1)};
}

}  // namespace tessera::apps::comd
