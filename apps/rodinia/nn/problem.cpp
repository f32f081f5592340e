#include "apps/rodinia/nn/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "apps/common/text_input.hpp"
#include "apps/rodinia/common/random_stream.hpp"

namespace tessera::apps::rodinia {
namespace {

std::string_view nn_trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

float nn_column(const text_input& in, std::string_view line, std::size_t from, const char* what) {
  const std::string_view text = nn_trimmed(line.substr(from, 5));
  float value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    in.refuse(fmt::format("'{}' in columns {} to {} is no {}", text, from, from + 4, what));
  return value;
}

}  // namespace

void read_nn_records(const std::filesystem::path& file, nn_records& to) {
  text_input in(file);
  if (in.at_end()) in.refuse("the file has no records");
  text_input lines(file);
  while (true) {
    const std::string_view line = lines.line();
    if (line.empty()) break;
    if (line.size() < 38)
      lines.refuse(fmt::format("the record has {} characters, and should have 48: its longitude ends in column 37",
                               line.size()));
    to.latitudes.push_back(nn_column(lines, line, 28, "latitude"));
    to.longitudes.push_back(nn_column(lines, line, 33, "longitude"));
    to.names.push_back(fmt::format("{} {}", line.substr(0, 4), nn_trimmed(line.substr(17, 11))));
  }
}

nn_records make_nn_records(std::int64_t count, std::uint64_t seed) {
  nn_records made;
  random_stream from(seed);
  for (std::int64_t k = 0; k < count; ++k) {
    made.latitudes.push_back(static_cast<float>(from.draw() % 900) / 10);
    made.longitudes.push_back(static_cast<float>(from.draw() % 3600) / 10);
  }
  return made;
}

namespace {

/// Nearer, or as near and an earlier record.
bool nn_before(const nn_neighbour& a, const nn_neighbour& b) {
  return a.distance != b.distance ? a.distance < b.distance : a.record < b.record;
}

}  // namespace

std::vector<nn_neighbour> nn_nearest(std::span<const float> distances, std::int64_t k) {
  constexpr std::size_t block = 64;
  const std::size_t count = distances.size(), wanted = std::min(count, static_cast<std::size_t>(k));
  std::vector<nn_neighbour> nearest;  // so far: a heap, the farthest of them at its front
  for (std::size_t i = 0; i < wanted; ++i)
    nearest.push_back({static_cast<std::int64_t>(i), static_cast<double>(distances[i])});
  if (wanted == 0) return nearest;
  std::ranges::make_heap(nearest, nn_before);
  auto farthest = static_cast<float>(nearest.front().distance);
  // Soon hardly any record is nearer than that: a block without one costs a few comparisons of vectors.
  for (std::size_t first = wanted; first < count; first += block) {
    const std::size_t last = std::min(first + block, count);
    std::int32_t nearer = 0;
    for (std::size_t i = first; i < last; ++i) nearer += distances[i] < farthest;
    for (std::size_t i = first; nearer > 0 && i < last; ++i) {
      if (!(distances[i] < farthest)) continue;
      std::ranges::pop_heap(nearest, nn_before);
      nearest.back() = {static_cast<std::int64_t>(i), static_cast<double>(distances[i])};
      std::ranges::push_heap(nearest, nn_before);
      farthest = static_cast<float>(nearest.front().distance);
    }
  }
  std::ranges::sort_heap(nearest, nn_before);
  return nearest;
}

std::vector<nn_neighbour> nn_nearest_serial(const nn_records& records, double latitude, double longitude,
                                            std::int64_t k) {
  std::vector<nn_neighbour> all;
  for (std::size_t i = 0; i < records.latitudes.size(); ++i)
    all.push_back({static_cast<std::int64_t>(i), std::hypot(static_cast<double>(records.latitudes[i]) - latitude,
                                                            static_cast<double>(records.longitudes[i]) - longitude)});
  std::ranges::sort(all, nn_before);
  all.resize(std::min(all.size(), static_cast<std::size_t>(k)));
  return all;
}

workload nn_workload(std::int64_t records) {
  const auto n = static_cast<double>(records);
  return {3 * sizeof(float) * n,
          {{"distances", 3 * sizeof(float) * n, 6 * n, 0}, {"selection", sizeof(float) * n, 0, 0}}};
}

}  // namespace tessera::apps::rodinia
