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
                   [b = m_b](auto box, auto places, auto charges, auto to) {
                     double* const mine = &to(box);
                     std::fill_n(mine, 4 * lavamd_particles, 0.0);
                     lavamd_neighbours(box, b, [&](std::int64_t other) {
                       lavamd_pair(&places(box), &places(other), &charges(other), mine);
                     });
                   });
  }

  region_array<double> results;

 private:
  region_array<double> m_places, m_charges;
  location_model& m_model;
  region_options m_how;
  std::int64_t m_b;
};

}  // namespace tessera::apps::rodinia
