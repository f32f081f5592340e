#pragma once
// Transient heat on a chip as regions: a stencil of five points between two arrays.
#include <array>
#include <cstdint>
#include <span>

#include "apps/rodinia/common/cache_lines.hpp"
#include "apps/rodinia/common/random_stream.hpp"
#include "apps/rodinia/hotspot/problem.hpp"
#include "tessera/region.hpp"

namespace tessera::apps::rodinia {

/// One row. A neighbour that is missing is the cell itself: `up` or `down` is `mid` there. The long loop begins where a
/// line of the cache does: of the accesses of a vector only those to the left and to the right then touch two lines.
/// Beginning behind the first cell, all of them would, which takes 1.2 times as long where the arrays are in a cache.
template <class T>
void hotspot_row(const T* up, const T* mid, const T* down, const T* power, T* __restrict to, std::int64_t n,
                 const hotspot_factors<T>& f) {
  const auto cell = [&](std::int64_t j, T left, T right) {
    const T here = mid[j];
    to[j] = here + f.rate * (power[j] + (left + right - 2 * here) * f.x + (up[j] + down[j] - 2 * here) * f.y +
                             (f.ambient - here) * f.z);
  };
  cell(0, mid[0], mid[n > 1 ? 1 : 0]);
  const std::int64_t aligned = first_of_line(to, 1, n - 1);
  for (std::int64_t j = 1; j < aligned; ++j) cell(j, mid[j - 1], mid[j + 1]);
  for (std::int64_t j = aligned; j < n - 1; ++j) cell(j, mid[j - 1], mid[j + 1]);
  if (n > 1) cell(n - 1, mid[n - 2], mid[n - 1]);
}

/// n x n cells; rows are shared at the borders of parts.
/// @tparam T  double or float
template <class T>
class hotspot_kernel {
 public:
  hotspot_kernel(location_model& model, const region_options& how, std::int64_t n, const hotspot_factors<double>& f)
      : powers(model.make_array<T>("powers", {n, n}, {.at = how.at})),
        m_temperatures{model.make_array<T>("temperatures", {n, n}, {.at = how.at}),
                       model.make_array<T>("next temperatures", {n, n}, {.at = how.at})},
        m_model(model),
        m_how(how),
        m_factors(as<T>(f)),
        m_n(n) {}

  /// The synthetic input of make_hotspot_input.
  void generate(std::uint64_t seed) {
    m_model.region("fill", m_how, iterate(0, m_n), write(temperatures()), write(powers),
                   [seed, n = m_n](auto i, auto t, auto p) {
                     const auto row = static_cast<std::uint64_t>(i * n), all = static_cast<std::uint64_t>(n * n);
                     random_stream first(seed, row), second(seed, all + row);
                     for (std::int64_t j = 0; j < n; ++j) {
                       t(i, j) = static_cast<T>(320 + 10 * first.unit());
                       p(i, j) = static_cast<T>(0.001 * second.unit());
                     }
                   });
  }

  void step() {
    const hotspot_factors<T>& f = m_factors;
    m_model.region("heat", m_how, iterate(0, m_n), read(temperatures(), halo(m_n > 1 ? 1 : 0)), read(powers),
                   write(m_temperatures[1 - m_now]),
                   with_kernel(
                       [f, n = m_n](auto i, auto t, auto p, auto to) {
                         hotspot_row<T>(&t(i > 0 ? i - 1 : i, 0), &t(i, 0), &t(i + 1 < n ? i + 1 : i, 0), &p(i, 0),
                                        &to(i, 0), n, f);
                       },
                       inner(m_n), cell, m_n, f.rate, f.x, f.y, f.z, f.ambient));
    m_now = 1 - m_now;
  }

  const array<T, 2>& temperatures() const { return m_temperatures[m_now]; }

  array<T, 2> powers;

 private:
  /// What hotspot_row does to one element.
  static constexpr const char* cell = R"((i, j, t, p, to, n, rate, x, y, z, ambient) {
  const t_element here = t(i, j), left = j > 0 ? t(i, j - 1) : here, right = j + 1 < n ? t(i, j + 1) : here;
  const t_element up = i > 0 ? t(i - 1, j) : here, down = i + 1 < n ? t(i + 1, j) : here;
  to(i, j) = here + rate * (p(i, j) + (left + right - 2 * here) * x + (up + down - 2 * here) * y +
                            (ambient - here) * z);
})";

  std::array<array<T, 2>, 2> m_temperatures;
  std::size_t m_now = 0;
  location_model& m_model;
  region_options m_how;
  hotspot_factors<T> m_factors;
  std::int64_t m_n;
};

}  // namespace tessera::apps::rodinia
