#pragma once
// Particles in boxes as a region over boxes.
#include <algorithm>
#include <cstdint>

#include "apps/rodinia/common/random_stream.hpp"
#include "apps/rodinia/lavamd/problem.hpp"
#include "tessera/region.hpp"

namespace tessera::apps::rodinia {

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
    m_model.region("fill", m_how, iterate(0, boxes), out(m_places), out(m_charges),
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
    m_model.region("boxes", m_how, iterate(0, m_b * m_b * m_b), in(m_places, near), in(m_charges, near), out(results),
                   with_kernel(
                       [b = m_b](auto box, auto places, auto charges, auto to) {
                         double* const mine = &to(box);
                         std::fill_n(mine, 4 * lavamd_particles, 0.0);
                         lavamd_neighbours(box, b, [&](std::int64_t other) {
                           lavamd_pair(&places(box), &places(other), &charges(other), mine);
                         });
                       },
                       inner(lavamd_particles), particle, m_b, lavamd_particles));
  }

  region_array<double> results;

 private:
  /// What a box and its neighbours do to one particle of it: lavamd_neighbours and lavamd_pair.
  static constexpr const char* particle = R"((box, p, places, charges, to, b, particles) {
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
          const double w = charges(other, q) * exp(-0.5 * distance);
          sum += w;
          sx += 2 * w * (x - ox), sy += 2 * w * (y - oy), sz += 2 * w * (z - oz);
        }
        all += sum, all_x += sx, all_y += sy, all_z += sz;
      }
  to(box, p, 0) = all, to(box, p, 1) = all_x, to(box, p, 2) = all_y, to(box, p, 3) = all_z;
})";

  region_array<double> m_places, m_charges;
  location_model& m_model;
  region_options m_how;
  std::int64_t m_b;
};

}  // namespace tessera::apps::rodinia
