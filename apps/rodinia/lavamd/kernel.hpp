#pragma once
// Particles in boxes as a region over boxes.
#include <array>
#include <cstdint>

#include "apps/rodinia/common/exponential.hpp"
#include "apps/rodinia/common/random_stream.hpp"
#include "apps/rodinia/lavamd/problem.hpp"
#include "tessera/region.hpp"

namespace tessera::apps::rodinia {

/// What other boxes do to the particles of one: as lavamd_pair, for all of these particles at once.
class lavamd_box {
 public:
  /// @param places  v, x, y, z of each particle of this box
  explicit lavamd_box(const double* places) noexcept {
    for (std::size_t i = 0; i < count; ++i, places += 4)
      m_v[i] = places[0], m_x[i] = places[1], m_y[i] = places[2], m_z[i] = places[3];
  }
  /// Adds what a box does.
  void add(const double* places, const double* charges) noexcept {
    numbers v{}, x{}, y{}, z{};
    for (std::size_t j = 0; j < count; ++j, places += 4) {
      const double ov = places[0], ox = places[1], oy = places[2], oz = places[3], charge = charges[j];
      for (std::size_t i = 0; i < count; ++i) {
        const double distance = m_v[i] + ov - (m_x[i] * ox + m_y[i] * oy + m_z[i] * oz);
        const double w = charge * exponential(-0.5 * distance);  // 2 alpha^2 = 0.5
        v[i] += w;
        x[i] += 2 * w * (m_x[i] - ox), y[i] += 2 * w * (m_y[i] - oy), z[i] += 2 * w * (m_z[i] - oz);
      }
    }
    for (std::size_t i = 0; i < count; ++i)
      m_sums[0][i] += v[i], m_sums[1][i] += x[i], m_sums[2][i] += y[i], m_sums[3][i] += z[i];
  }
  /// @param to  V, X, Y, Z of each particle
  void write(double* to) const noexcept {
    for (std::size_t i = 0; i < count; ++i)
      for (const numbers& sums : m_sums) *to++ = sums[i];
  }

 private:
  static constexpr std::size_t count = lavamd_particles;
  using numbers = std::array<double, count>;  // one of each particle
  numbers m_v, m_x, m_y, m_z;
  std::array<numbers, 4> m_sums{};
};

/// b^3 boxes. Neighbours are at most b^2 + b + 1 boxes away in the order of their numbers.
class lavamd_kernel {
 public:
  lavamd_kernel(location_model& model, const region_options& how, std::int64_t b)
      : results(model.make_array<double>("results", {b * b * b, lavamd_particles, 4}, {.at = how.at})),
        m_places(model.make_array<double>("places", {b * b * b, lavamd_particles, 4}, {.at = how.at})),
        m_charges(model.make_array<double>("charges", {b * b * b, lavamd_particles}, {.at = how.at})),
        m_model(model),
        m_how(how),
        m_b(b) {}

  /// The input of make_lavamd_input. @param charge  of all particles, where it is not 0
  void generate(std::uint64_t seed, double charge = 0) {
    const std::int64_t boxes = m_b * m_b * m_b;
    m_model.region("fill", m_how, iterate(0, boxes), write(m_places), write(m_charges),
                   [seed, charge, boxes](auto box, auto places, auto charges) {
                     constexpr std::int64_t numbers = 4 * lavamd_particles;
                     random_stream first(seed, static_cast<std::uint64_t>(box * numbers)),
                         second(seed, static_cast<std::uint64_t>(boxes * numbers + box * lavamd_particles));
                     for (std::int64_t k = 0; k < numbers; ++k) places[box * numbers + k] = (first.digit() + 1) / 10.0;
                     for (std::int64_t k = 0; k < lavamd_particles; ++k)
                       charges(box, k) = charge != 0 ? charge : (second.digit() + 1) / 10.0;
                   });
  }
  void run() {
    const access_pattern near = m_b > 1 ? halo(m_b * m_b + m_b + 1) : whole;
    m_model.region(
        "boxes", m_how, iterate(0, m_b * m_b * m_b), read(m_places, near), read(m_charges, near), write(results),
        with_kernel(
            [b = m_b](auto box, auto places, auto charges, auto to) {
              lavamd_box home(&places(box, 0, 0));
              lavamd_neighbours(box, b,
                                [&](std::int64_t other) { home.add(&places(other, 0, 0), &charges(other, 0)); });
              home.write(&to(box, 0, 0));
            },
            inner(lavamd_particles), particle, m_b, lavamd_particles, exponential_ln2, exponential_ln2_rest));
  }

  array<double, 3> results;

 private:
  /// What a box and its neighbours do to one particle of it: lavamd_neighbours, lavamd_box and exponential.
  static constexpr const char* particle = R"((box, p, places, charges, to, b, particles, ln2, ln2_rest) {
  const double v = places(box, p, 0), x = places(box, p, 1), y = places(box, p, 2), z = places(box, p, 3);
  const long bx = box % b, by = box / b % b, bz = box / (b * b);
  double all = 0, all_x = 0, all_y = 0, all_z = 0;
  for (long k = bz > 0 ? bz - 1 : 0; k <= (bz + 1 < b ? bz + 1 : bz); ++k)
    for (long j = by > 0 ? by - 1 : 0; j <= (by + 1 < b ? by + 1 : by); ++j)
      for (long i = bx > 0 ? bx - 1 : 0; i <= (bx + 1 < b ? bx + 1 : bx); ++i) {
        const long other = (k * b + j) * b + i;
        double sum = 0, sx = 0, sy = 0, sz = 0;
        for (long q = 0; q < particles; ++q) {
          const double ox = places(other, q, 1), oy = places(other, q, 2), oz = places(other, q, 3);
          const double distance = v + places(other, q, 0) - (x * ox + y * oy + z * oz);
          const double t = -0.5 * distance, n = rint(t * 1.4426950408889634);
          const double r = t - n * ln2 - n * ln2_rest;
          const double e =
              1 + r * (1 + r * (1 / 2.0 + r * (1 / 6.0 + r * (1 / 24.0 + r * (1 / 120.0 + r * (1 / 720.0 + r *
              (1 / 5040.0 + r * (1 / 40320.0 + r * (1 / 362880.0 + r * (1 / 3628800.0 + r * (1 / 39916800.0 + r *
              (1 / 479001600.0 + r * (1 / 6227020800.0)))))))))))));
          const double w = charges(other, q) * ldexp(e, (int)n);
          sum += w;
          sx += 2 * w * (x - ox), sy += 2 * w * (y - oy), sz += 2 * w * (z - oz);
        }
        all += sum, all_x += sx, all_y += sy, all_z += sz;
      }
  to(box, p, 0) = all, to(box, p, 1) = all_x, to(box, p, 2) = all_y, to(box, p, 3) = all_z;
})";

  array<double, 3> m_places;
  array<double, 2> m_charges;
  location_model& m_model;
  region_options m_how;
  std::int64_t m_b;
};

}  // namespace tessera::apps::rodinia
