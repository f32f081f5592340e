#include "apps/stream/triad.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "apps/stream/kernels.hpp"
#include "tessera/tessera.hpp"

namespace tessera::apps {

double triad_bandwidth(std::uint32_t workers) {
  constexpr std::int64_t elements = std::int64_t{1} << 24;
  constexpr int timed = 10;
  runtime rt({.workers = workers});
  location_model model(rt);
  stream_kernels<double> loops(model, elements, {});
  loops.start();
  double best = std::numeric_limits<double>::infinity();
  for (int round = 0; round <= timed; ++round) {
    const auto began = std::chrono::steady_clock::now();
    loops.triad();
    model.pause();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    if (round > 0) best = std::min(best, took.count());
  }
  return 3.0 * static_cast<double>(elements) * sizeof(double) / best;
}

}  // namespace tessera::apps
