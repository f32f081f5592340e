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

/// What the square around the disk has beside it.
inline constexpr std::array<std::array<std::int64_t, 2>, 12> filter_corners = {
    {{-4, -4}, {-4, -3}, {-4, 3}, {-4, 4}, {-3, -4}, {-3, 4}, {3, -4}, {3, 4}, {4, -4}, {4, -3}, {4, 3}, {4, 4}}};

/// filter_likelihood from the sum of the pixels under the disk, which has no rounding errors in any order:
/// (I - 100)^2 - (I - 228)^2 = 256 I - 41984.
inline double filter_likelihood_of_sum(const std::int32_t* pixels, std::int64_t n, double row, double column) {
  constexpr std::int64_t reach = filter_radius - 1, count = filter_points.count;
  const auto i = static_cast<std::int64_t>(row), j = static_cast<std::int64_t>(column);
  std::int64_t sum = 0;
  if (i >= reach && i < n - reach && j >= reach && j < n - reach) {
    std::array<std::int32_t, 2 * reach> columns{};  // of the square around the disk, but the last one
    for (std::int64_t down = -reach; down <= reach; ++down) {
      const std::int32_t* const first = pixels + (i + down) * n + j - reach;
      for (std::size_t k = 0; k < columns.size(); ++k) columns[k] += first[k];
      sum += first[2 * reach];
    }
    for (const std::int32_t of_column : columns) sum += of_column;
    for (const auto& [down, right] : filter_corners) sum -= pixels[(i + down) * n + j + right];
  } else {
    for (std::int64_t k = 0; k < count; ++k) {
      const auto& [down, right] = filter_points.points[static_cast<std::size_t>(k)];
      const bool inside = i + down >= 0 && i + down < n && j + right >= 0 && j + right < n;
      sum += pixels[inside ? (i + down) * n + j + right : 0];
    }
  }
  return static_cast<double>(256 * sum - 41984 * count) / (50.0 * count);
}

/// How many random numbers of a particle come before those for the step to a frame >= 1.
constexpr std::uint64_t filter_skipped(std::int64_t frame) { return static_cast<std::uint64_t>(10 + 4 * (frame - 1)); }
/// The random numbers of a particle.
inline random_stream filter_stream(std::int64_t particle) {
  return random_stream(static_cast<std::uint64_t>(1 + 7919 * (particle + 1) % 2147483646));
}
/// Those for the step to a frame >= 1.
inline random_stream filter_stream(std::int64_t particle, std::int64_t frame) {
  random_stream from = filter_stream(particle);
  from.skip(filter_skipped(frame));
  return from;
}

/// Of each frame but the first, per particle: `move` changes its place and writes a likelihood (40 bytes; 13
/// operations, for the pixels are integers, and a logarithm and a cosine for each of two normal numbers), `largest`
/// reads that, `weigh` makes a weight of it, `estimate` reads weights and places and writes sums, `resample` reads
/// these, places, and writes places. Pixels, a few of each frame, are left out.
workload filter_workload(std::int64_t frames, std::int64_t particles);

}  // namespace tessera::apps::rodinia
