#include "apps/rodinia/nn/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

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

template <class Distance>
std::vector<nn_neighbour> nn_first(std::vector<std::int64_t> order, std::int64_t k, bool all, const Distance& of) {
  const auto before = [&](std::int64_t a, std::int64_t b) { return of(a) != of(b) ? of(a) < of(b) : a < b; };
  const auto wanted = order.begin() + std::min(k, static_cast<std::int64_t>(order.size()));
  if (all)
    std::sort(order.begin(), order.end(), before);
  else
    std::partial_sort(order.begin(), wanted, order.end(), before);
  std::vector<nn_neighbour> nearest;
  for (auto at = order.begin(); at != wanted; ++at) nearest.push_back({*at, static_cast<double>(of(*at))});
  return nearest;
}

}  // namespace

std::vector<nn_neighbour> nn_nearest(std::span<const float> distances, std::int64_t k) {
  // Those that may be among the nearest: not farther than the k-th of the first records.
  const auto first = distances.subspan(0, std::min(distances.size(), static_cast<std::size_t>(k) * 64));
  std::vector<float> sample(first.begin(), first.end());
  const auto last = std::min(sample.size(), static_cast<std::size_t>(k)) - 1;
  std::nth_element(sample.begin(), sample.begin() + static_cast<std::ptrdiff_t>(last), sample.end());
  const float bound = sample[last];
  std::vector<std::int64_t> candidates;
  for (std::size_t i = 0; i < distances.size(); ++i)
    if (distances[i] <= bound) candidates.push_back(static_cast<std::int64_t>(i));
  return nn_first(std::move(candidates), k, false,
                  [&](std::int64_t i) { return distances[static_cast<std::size_t>(i)]; });
}

std::vector<nn_neighbour> nn_nearest_serial(const nn_records& records, double latitude, double longitude,
                                            std::int64_t k) {
  std::vector<double> distances(records.latitudes.size());
  for (std::size_t i = 0; i < distances.size(); ++i)
    distances[i] = std::hypot(static_cast<double>(records.latitudes[i]) - latitude,
                              static_cast<double>(records.longitudes[i]) - longitude);
  std::vector<std::int64_t> all(distances.size());
  std::iota(all.begin(), all.end(), std::int64_t{0});
  return nn_first(std::move(all), k, true, [&](std::int64_t i) { return distances[static_cast<std::size_t>(i)]; });
}

workload nn_workload(std::int64_t records) {
  const auto n = static_cast<double>(records);
  return {3 * sizeof(float) * n,
          {{"distances", 3 * sizeof(float) * n, 6 * n, 0}, {"selection", sizeof(float) * n, 0, 0}}};
}

}  // namespace tessera::apps::rodinia
