#include "apps/rodinia/particlefilter/problem.hpp"

namespace tessera::apps::rodinia {

void make_filter_frame(std::int64_t n, std::int64_t frame, std::int32_t* to) {
  const auto [row, column] = filter_centre(n, frame);
  random_stream noise(12345, static_cast<std::uint64_t>(2 * frame * n * n));
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      const bool object = (i - row) * (i - row) + (j - column) * (j - column) < filter_radius * filter_radius;
      to[i * n + j] = (object ? filter_object : filter_background) + static_cast<std::int32_t>(5 * noise.normal());
    }
}

workload filter_workload(std::int64_t frames, std::int64_t particles) {
  const double all = static_cast<double>(frames - 1) * static_cast<double>(particles), number = sizeof(double);
  return {8 * number * static_cast<double>(particles),
          {{"move", 5 * number * all, 13 * all, 4 * all},
           {"largest", number * all, 0, 0},
           {"weigh", 2 * number * all, 2 * all, all},
           {"estimate", 4 * number * all, 7 * all, 0},
           {"resample", 5 * number * all, 2 * all, 0}}};
}

}  // namespace tessera::apps::rodinia
