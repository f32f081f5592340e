#pragma once
// Speckle-reducing diffusion of an image: input and reference.
#include <cstdint>
#include <vector>

#include "apps/common/workload.hpp"

namespace tessera::apps::rodinia {

inline constexpr std::int64_t srad_region_of_interest = 128;  ///< rows and columns of it, from the first one
inline constexpr double srad_lambda = 0.5;

/// How much diffuses from a cell with the value `here`, whose differences to its neighbours have the sum of squares and
/// the sum given. q0: the speckle of the region of interest.
template <class T>
T srad_coefficient(T here, T squares, T sum, T q0) {
  const T g = squares / (here * here), l = sum / here, e = 1 + l / 4;
  const T q = (g / 2 - l * l / 16) / (e * e);
  const T c = 1 / (1 + (q - q0) / (q0 * (1 + q0)));
  return c < 0 ? T(0) : c > 1 ? T(1) : c;
}

/// The synthetic image: exp of uniform numbers.
std::vector<double> make_srad_image(std::int64_t n, std::uint64_t seed);

/// Replaces the image of n x n cells by that after so many iterations.
void srad_serial(std::vector<double>& image, std::int64_t n, std::int64_t iterations);

/// An iteration sums numbers and squares over the corner (3 operations per cell), makes coefficients of the image (31
/// per cell: 4 differences, 10 for their sums, 17 for the coefficient) and the next image of both (13 per cell).
/// @param element  bytes of a cell
workload srad_workload(std::int64_t n, std::int64_t iterations, std::size_t element);

}  // namespace tessera::apps::rodinia
