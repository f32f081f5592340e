#pragma once
// Particles in boxes: input, one pair of boxes, reference.
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "apps/common/workload.hpp"

namespace tessera::apps::rodinia {

inline constexpr std::int64_t lavamd_particles = 100;  ///< of a box

/// b^3 boxes: v, x, y, z of each particle, and its charge.
struct lavamd_input {
  std::int64_t boxes_per_side = 0;
  std::vector<double> places, charges;
};
/// The synthetic input: tenths, 0.1 to 1.
lavamd_input make_lavamd_input(std::int64_t boxes_per_side, std::uint64_t seed);

/// Adds what the particles of one box do to those of another. @param from, to  v, x, y, z of each  @param out  V, X, Y,
/// Z of each
inline void lavamd_pair(const double* to, const double* from, const double* charges, double* out) {
  for (std::int64_t i = 0; i < lavamd_particles; ++i) {
    const double *me = to + 4 * i, v = me[0], x = me[1], y = me[2], z = me[3];
    double sum = 0, sx = 0, sy = 0, sz = 0;
    for (std::int64_t j = 0; j < lavamd_particles; ++j) {
      const double* other = from + 4 * j;
      const double distance = v + other[0] - (x * other[1] + y * other[2] + z * other[3]);
      const double w = charges[j] * std::exp(-0.5 * distance);  // 2 alpha^2 = 0.5
      sum += w;
      sx += 2 * w * (x - other[1]), sy += 2 * w * (y - other[2]), sz += 2 * w * (z - other[3]);
    }
    double* const mine = out + 4 * i;
    mine[0] += sum, mine[1] += sx, mine[2] += sy, mine[3] += sz;
  }
}

/// Calls `use(box)` for a box and each of its neighbours, which are up to 26, in the order of their numbers.
template <class Use>
void lavamd_neighbours(std::int64_t box, std::int64_t b, const Use& use) {
  const std::int64_t x = box % b, y = box / b % b, z = box / (b * b);
  for (std::int64_t k = z > 0 ? z - 1 : 0; k <= (z + 1 < b ? z + 1 : z); ++k)
    for (std::int64_t j = y > 0 ? y - 1 : 0; j <= (y + 1 < b ? y + 1 : y); ++j)
      for (std::int64_t i = x > 0 ? x - 1 : 0; i <= (x + 1 < b ? x + 1 : x); ++i) use((k * b + j) * b + i);
}

/// V, X, Y, Z of each particle, box by box.
std::vector<double> lavamd_serial(const lavamd_input& in);

/// Sums over all particles: V, X, Y, Z, |X| + |Y| + |Z|.
std::array<double, 5> lavamd_sums(const double* results, std::int64_t particles);

/// The particles and their charges are read, and the results written. A pair of boxes has 100^2 pairs of particles, of
/// 22 operations and 34 of the exponential each; there are 3 b - 2 pairs of neighbours along an axis of b boxes, so (3
/// b - 2)^3.
workload lavamd_workload(std::int64_t boxes_per_side);

}  // namespace tessera::apps::rodinia
