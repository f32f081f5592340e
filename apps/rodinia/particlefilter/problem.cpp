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

}  // namespace tessera::apps::rodinia
