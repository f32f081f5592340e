#pragma once
// A disk that moves through a noisy video, and the model of the filter that tracks it.
#include <array>
#include <cmath>
#include <cstdint>

#include "apps/common/workload.hpp"
#include "apps/rodinia/common/random_stream.hpp"

namespace tessera::apps::rodinia {

inline constexpr std::int32_t filter_background = 100, filter_object = 228;
inline constexpr std::int64_t filter_radius = 5;

/// Row and column of the object's centre in a frame of n x n pixels. It moves from the third frame on.
constexpr std::array<std::int64_t, 2> filter_centre(std::int64_t n, std::int64_t frame) noexcept {
  const std::int64_t moves = frame > 0 ? frame - 1 : 0;
  return {n / 2 - 2 * moves, n / 2 + moves};
}
/// Writes the pixels of a frame: background, object, noise of the stream 12345. @param to  n x n, row by row
void make_filter_frame(std::int64_t n, std::int64_t frame, std::int32_t* to);

/// Offsets of the disk's points.
struct filter_disk {
  std::array<std::array<std::int64_t, 2>, 81> points{};
  std::int64_t count = 0;
  constexpr filter_disk() {
    for (std::int64_t i = 1 - filter_radius; i < filter_radius; ++i)
      for (std::int64_t j = 1 - filter_radius; j < filter_radius; ++j)
        if (i * i + j * j < filter_radius * filter_radius) points[static_cast<std::size_t>(count++)] = {i, j};
  }
};
inline constexpr filter_disk filter_points{};

/// How well a place fits a frame: the mean over the disk of ((I - 100)^2 - (I - 228)^2) / 50. A point outside counts as
/// the frame's first pixel.
inline double filter_likelihood(const std::int32_t* pixels, std::int64_t n, double row, double column) {
  double sum = 0;
  for (std::int64_t k = 0; k < filter_points.count; ++k) {
    const auto& point = filter_points.points[static_cast<std::size_t>(k)];
    const std::int64_t i = static_cast<std::int64_t>(row) + point[0], j = static_cast<std::int64_t>(column) + point[1];
    const bool inside = i >= 0 && i < n && j >= 0 && j < n;
    const double v = pixels[inside ? i * n + j : 0], a = v - filter_background, b = v - filter_object;
    sum += (a * a - b * b) / 50;
  }
  return sum / static_cast<double>(filter_points.count);
}

/// The random numbers of a particle for the step to a frame >= 1.
inline random_stream filter_stream(std::int64_t particle, std::int64_t frame) {
  const auto seed = static_cast<std::uint64_t>(1 + 7919 * (particle + 1) % 2147483646);
  return {seed, static_cast<std::uint64_t>(10 + 4 * (frame - 1))};
}

/// The first place in a list that does not decrease whose value is at least u; the last one where there is none.
inline std::int64_t filter_place(const double* sums, std::int64_t count, double u) {
  std::int64_t low = 0, high = count - 1;
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (sums[middle] >= u)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/// Of each frame but the first, per particle: `move` changes its place and writes a likelihood (40 bytes; 7 operations
/// per point of the disk and 12 more, and a logarithm and a cosine for each of two normal numbers), `largest` reads
/// that, `weigh` makes a weight of it, `estimate` reads weights and places and writes sums, `resample` reads these,
/// places, and writes places. Pixels, a few of each frame, are left out.
workload filter_workload(std::int64_t frames, std::int64_t particles);

}  // namespace tessera::apps::rodinia
