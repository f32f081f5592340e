#pragma once
// Speckle-reducing diffusion as regions: a statistic of one corner, and two stencils.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "apps/rodinia/common/random_stream.hpp"
#include "apps/rodinia/srad/problem.hpp"
#include "tessera/region.hpp"

namespace tessera::apps::rodinia {

/// The coefficients of a row. A neighbour that is missing is the cell itself.
template <class T>
void srad_coefficient_row(const T* up, const T* mid, const T* down, T* __restrict to, std::int64_t n, T q0) {
  const auto cell = [&](std::int64_t j, T left, T right) {
    const T here = mid[j], a = up[j] - here, b = down[j] - here, c = left - here, d = right - here;
    to[j] = srad_coefficient<T>(here, a * a + b * b + c * c + d * d, a + b + c + d, q0);
  };
  if (q0 == 0) {  // a constant image
    std::fill_n(to, n, T(1));
    return;
  }
  cell(0, mid[0], mid[n > 1 ? 1 : 0]);
  for (std::int64_t j = 1; j < n - 1; ++j) cell(j, mid[j - 1], mid[j + 1]);
  if (n > 1) cell(n - 1, mid[n - 2], mid[n - 1]);
}

/// The next values of a row. @param south  the coefficients of the row below
template <class T>
void srad_update_row(const T* up, const T* mid, const T* down, const T* coefficients, const T* south, T* __restrict to,
                     std::int64_t n) {
  const auto cell = [&](std::int64_t j, T left, T right, T east) {
    const T here = mid[j], c = coefficients[j];
    to[j] = here + T(0.25 * srad_lambda) *
                       (c * (up[j] - here) + south[j] * (down[j] - here) + c * (left - here) + east * (right - here));
  };
  cell(0, mid[0], mid[n > 1 ? 1 : 0], coefficients[n > 1 ? 1 : 0]);
  for (std::int64_t j = 1; j < n - 1; ++j) cell(j, mid[j - 1], mid[j + 1], coefficients[j + 1]);
  if (n > 1) cell(n - 1, mid[n - 2], mid[n - 1], T(0));
}

/// An image of n x n cells.
/// @tparam T  double or float
template <class T>
class srad_kernel {
 public:
  srad_kernel(location_model& model, const region_options& how, std::int64_t n)
      : m_images{model.make_array<T>("image", {n, n}, {.at = how.at}),
                 model.make_array<T>("next image", {n, n}, {.at = how.at})},
        m_coefficients(model.make_array<T>("coefficients", {n, n}, {.at = how.at})),
        m_sums(model.make_array<double>("sums of the corner", {n, 2}, {.at = how.at})),
        m_speckle(model.make_array<double>("speckle", {1}, {.at = how.at})),
        m_model(model),
        m_how(how),
        m_n(n) {}

  /// The image of make_srad_image.
  void generate(std::uint64_t seed) {
    m_model.region("fill", m_how, iterate(0, m_n), write(image()), [seed, n = m_n](auto i, auto to) {
      random_stream from(seed, static_cast<std::uint64_t>(i * n));
      for (std::int64_t j = 0; j < n; ++j) to(i, j) = static_cast<T>(std::exp(from.unit()));
    });
  }
  /// A constant image.
  void fill(T value) {
    m_model.region("constant", m_how, iterate({0, m_n}, {0, m_n}), write(image()),
                   [value](auto i, auto j, auto to) { to(i, j) = value; });
  }

  void iteration() {
    const std::int64_t n = m_n, corner = std::min(n, srad_region_of_interest);
    const access_pattern neighbours = halo(n > 1 ? 1 : 0);
    // Each row of the corner is summed where it is, so that sums come home and no image.
    region_options in_place = m_how;
    in_place.split_over = {0, n};
    m_model.region("corner", in_place, iterate(0, corner), read(image()), write(m_sums),
                   TESSERA_BODY((corner), (auto i, auto from, auto to), {
                     double sum = 0, squares = 0;
                     for (std::int64_t j = 0; j < corner; ++j) {
                       const auto v = static_cast<double>(from(i, j));
                       sum += v, squares += v * v;
                     }
                     to(i, 0) = sum, to(i, 1) = squares;
                   }));
    m_model.region("speckle", {.policy = policy::any, .at = m_how.at}, iterate(0, 1), read(m_sums, rows(0, corner)),
                   write(m_speckle), [corner](auto, auto from, auto to) {
                     double sum = 0, squares = 0;
                     for (std::int64_t i = 0; i < corner; ++i) sum += from(i, 0), squares += from(i, 1);
                     const double cells = static_cast<double>(corner * corner), mean = sum / cells;
                     to[0] = std::max(squares / cells - mean * mean, 0.0) / (mean * mean);
                   });
    m_model.region("coefficients", m_how, iterate(0, n), read(image(), neighbours), read(m_speckle, rows(0, 1)),
                   write(m_coefficients),
                   with_kernel(
                       [n](auto i, auto from, auto speckle, auto to) {
                         srad_coefficient_row<T>(&from(i > 0 ? i - 1 : i, 0), &from(i, 0),
                                                 &from(i + 1 < n ? i + 1 : i, 0), &to(i, 0), n,
                                                 static_cast<T>(speckle[0]));
                       },
                       inner(n), coefficient, n));
    m_model.region("update", m_how, iterate(0, n), read(image(), neighbours), read(m_coefficients, neighbours),
                   write(m_images[1 - m_now]),
                   with_kernel(
                       [n](auto i, auto from, auto c, auto to) {
                         const std::int64_t down = i + 1 < n ? i + 1 : i;
                         srad_update_row<T>(&from(i > 0 ? i - 1 : i, 0), &from(i, 0), &from(down, 0), &c(i, 0),
                                            &c(down, 0), &to(i, 0), n);
                       },
                       inner(n), update, n, static_cast<T>(0.25 * srad_lambda)));
    m_now = 1 - m_now;
  }

  const array<T, 2>& image() const { return m_images[m_now]; }

 private:
  /// What srad_coefficient_row does to one element.
  static constexpr const char* coefficient = R"((i, j, from, speckle, to, n) {
  const from_element q0 = (from_element)speckle[0];
  if (q0 == 0) {
    to(i, j) = 1;
  } else {
    const from_element here = from(i, j);
    const from_element a = (i > 0 ? from(i - 1, j) : here) - here, b = (i + 1 < n ? from(i + 1, j) : here) - here;
    const from_element c = (j > 0 ? from(i, j - 1) : here) - here, d = (j + 1 < n ? from(i, j + 1) : here) - here;
    const from_element g = (a * a + b * b + c * c + d * d) / (here * here), l = (a + b + c + d) / here, e = 1 + l / 4;
    const from_element q = (g / 2 - l * l / 16) / (e * e), k = 1 / (1 + (q - q0) / (q0 * (1 + q0)));
    to(i, j) = k < 0 ? 0 : k > 1 ? 1 : k;
  }
})";
  /// What srad_update_row does to one element.
  static constexpr const char* update = R"((i, j, from, c, to, n, rate) {
  const from_element here = from(i, j), k = c(i, j), south = c(i + 1 < n ? i + 1 : i, j);
  const from_element east = j + 1 < n ? c(i, j + 1) : 0;
  const from_element up = i > 0 ? from(i - 1, j) : here, down = i + 1 < n ? from(i + 1, j) : here;
  const from_element left = j > 0 ? from(i, j - 1) : here, right = j + 1 < n ? from(i, j + 1) : here;
  to(i, j) = here + rate * (k * (up - here) + south * (down - here) + k * (left - here) + east * (right - here));
})";

  std::array<array<T, 2>, 2> m_images;
  std::size_t m_now = 0;
  array<T, 2> m_coefficients;
  array<double, 2> m_sums;
  array<double> m_speckle;
  location_model& m_model;
  region_options m_how;
  std::int64_t m_n;
};

}  // namespace tessera::apps::rodinia
