#pragma once
// Transient heat on a chip: the input, its constants, and one cell's update.
#include <cstdint>
#include <filesystem>
#include <vector>

#include "apps/common/workload.hpp"

namespace tessera::apps::rodinia {

/// T' = T + rate (P + (left + right - 2 T) x + (up + down - 2 T) y + (ambient - T) z).
template <class T>
struct hotspot_factors {
  T rate, x, y, z, ambient;
};

/// Of a chip of 16 mm and n x n cells. @param divisor  of the time step
hotspot_factors<double> hotspot_factors_of(std::int64_t n, double divisor);

template <class T>
hotspot_factors<T> as(const hotspot_factors<double>& f) {
  return {static_cast<T>(f.rate), static_cast<T>(f.x), static_cast<T>(f.y), static_cast<T>(f.z),
          static_cast<T>(f.ambient)};
}

/// Temperatures and powers of n x n cells, row by row.
struct hotspot_input {
  std::int64_t n = 0;
  std::vector<double> temperatures, powers;
};

/// The synthetic input: 320 to 330 degrees, up to a milliwatt.
hotspot_input make_hotspot_input(std::int64_t n, std::uint64_t seed);

/// Reads two files of m x m numbers, and replicates each cell until there are n x n; n = 0: as in the files. Throws
/// tessera::error: input (no square, files that do not match), usage (n is no multiple of m).
hotspot_input read_hotspot_input(const std::filesystem::path& temperatures, const std::filesystem::path& powers,
                                 std::int64_t n);

/// Replaces the temperatures by those after so many steps, one cell after the other.
template <class T>
void hotspot_serial(std::vector<T>& t, const std::vector<T>& p, std::int64_t n, const hotspot_factors<T>& f,
                    std::int64_t steps) {
  std::vector<T> next(t.size());
  const auto at = [&](std::int64_t i, std::int64_t j) { return t[static_cast<std::size_t>(i * n + j)]; };
  for (; steps > 0; --steps) {
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        const T here = at(i, j), left = j > 0 ? at(i, j - 1) : here, right = j + 1 < n ? at(i, j + 1) : here,
                up = i > 0 ? at(i - 1, j) : here, down = i + 1 < n ? at(i + 1, j) : here;
        const auto cell = static_cast<std::size_t>(i * n + j);
        next[cell] = here + f.rate * (p[cell] + (left + right - 2 * here) * f.x + (up + down - 2 * here) * f.y +
                                      (f.ambient - here) * f.z);
      }
    t.swap(next);
  }
}

/// Steps read temperatures and powers and write temperatures, n x n of each, with 15 operations per cell: 4 sums and
/// differences and 2 products with neighbours, 2 doublings, 2 for the ambient, 5 that join them.
/// @param element  bytes of a number
workload hotspot_workload(std::int64_t n, std::int64_t steps, std::size_t element);

}  // namespace tessera::apps::rodinia
