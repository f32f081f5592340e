#include "apps/rodinia/lavamd/problem.hpp"

#include "apps/rodinia/common/random_stream.hpp"

namespace tessera::apps::rodinia {

lavamd_input make_lavamd_input(std::int64_t boxes_per_side, std::uint64_t seed) {
  const std::int64_t all = boxes_per_side * boxes_per_side * boxes_per_side * lavamd_particles;
  lavamd_input made{boxes_per_side, std::vector<double>(static_cast<std::size_t>(4 * all)),
                    std::vector<double>(static_cast<std::size_t>(all))};
  random_stream from(seed);
  for (double& v : made.places) v = (from.digit() + 1) / 10.0;
  for (double& q : made.charges) q = (from.digit() + 1) / 10.0;
  return made;
}

std::vector<double> lavamd_serial(const lavamd_input& in) {
  const std::int64_t b = in.boxes_per_side;
  std::vector<double> results(in.places.size());
  for (std::int64_t box = 0; box < b * b * b; ++box)
    lavamd_neighbours(box, b, [&](std::int64_t other) {
      lavamd_pair(&in.places[static_cast<std::size_t>(4 * lavamd_particles * box)],
                  &in.places[static_cast<std::size_t>(4 * lavamd_particles * other)],
                  &in.charges[static_cast<std::size_t>(lavamd_particles * other)],
                  &results[static_cast<std::size_t>(4 * lavamd_particles * box)]);
    });
  return results;
}

std::array<double, 5> lavamd_sums(const double* results, std::int64_t particles) {
  std::array<double, 5> sums{};
  for (std::int64_t k = 0; k < particles; ++k) {
    for (std::size_t c = 0; c < 4; ++c) sums[c] += results[4 * k + static_cast<std::int64_t>(c)];
    for (std::int64_t c = 1; c < 4; ++c) sums[4] += std::abs(results[4 * k + c]);
  }
  return sums;
}

workload lavamd_workload(std::int64_t boxes_per_side) {
  const auto b = static_cast<double>(boxes_per_side), in_box = static_cast<double>(lavamd_particles);
  const double pairs = std::pow(3 * b - 2, 3) * in_box * in_box, bytes = 9 * sizeof(double) * b * b * b * in_box;
  return {bytes, {{"boxes", bytes, (22 + 34) * pairs, 0}}};
}

}  // namespace tessera::apps::rodinia
