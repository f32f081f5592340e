#include "apps/rodinia/srad/problem.hpp"

#include <algorithm>
#include <cmath>

#include "apps/rodinia/common/random_stream.hpp"

namespace tessera::apps::rodinia {

std::vector<double> make_srad_image(std::int64_t n, std::uint64_t seed) {
  std::vector<double> image(static_cast<std::size_t>(n * n));
  random_stream from(seed);
  for (double& v : image) v = std::exp(from.unit());
  return image;
}

namespace {

double srad_speckle(const std::vector<double>& image, std::int64_t n) {
  const std::int64_t size = std::min(n, srad_region_of_interest);
  double sum = 0, squares = 0;
  for (std::int64_t i = 0; i < size; ++i)
    for (std::int64_t j = 0; j < size; ++j) {
      const double v = image[static_cast<std::size_t>(i * n + j)];
      sum += v, squares += v * v;
    }
  const double cells = static_cast<double>(size * size), mean = sum / cells;
  return std::max(squares / cells - mean * mean, 0.0) / (mean * mean);
}

}  // namespace

void srad_serial(std::vector<double>& image, std::int64_t n, std::int64_t iterations) {
  std::vector<double> c(image.size()), next(image.size());
  const auto cell = [&](std::int64_t i, std::int64_t j) {
    return static_cast<std::size_t>(std::clamp<std::int64_t>(i, 0, n - 1) * n + std::clamp<std::int64_t>(j, 0, n - 1));
  };
  for (; iterations > 0; --iterations) {
    const double q0 = srad_speckle(image, n);
    const auto difference = [&](std::int64_t i, std::int64_t j, std::int64_t di, std::int64_t dj) {
      return image[cell(i + di, j + dj)] - image[cell(i, j)];
    };
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        const double a = difference(i, j, -1, 0), b = difference(i, j, 1, 0), d = difference(i, j, 0, -1),
                     e = difference(i, j, 0, 1);
        c[cell(i, j)] =
            q0 == 0 ? 1 : srad_coefficient<double>(image[cell(i, j)], a * a + b * b + d * d + e * e, a + b + d + e, q0);
      }
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        next[cell(i, j)] =
            image[cell(i, j)] +
            0.25 * srad_lambda *
                (c[cell(i, j)] * (difference(i, j, -1, 0) + difference(i, j, 0, -1)) +
                 c[cell(i + 1, j)] * difference(i, j, 1, 0) + c[cell(i, j + 1)] * difference(i, j, 0, 1));
    image.swap(next);
  }
}

workload srad_workload(std::int64_t n, std::int64_t iterations, std::size_t element) {
  const auto side = static_cast<double>(n), times = static_cast<double>(iterations),
             size = static_cast<double>(element), corner = static_cast<double>(std::min(n, srad_region_of_interest));
  const double cells = times * side * side, in_corner = times * corner * corner;
  return {3 * side * side * size,
          {{"corner", in_corner * size, 3 * in_corner, 0},
           {"coefficients", 2 * cells * size, 31 * cells, 0},
           {"update", 3 * cells * size, 13 * cells, 0}}};
}

}  // namespace tessera::apps::rodinia
