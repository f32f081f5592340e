#include "apps/rodinia/gaussian/problem.hpp"

#include <algorithm>
#include <cmath>

#include "apps/common/text_input.hpp"

namespace tessera::apps::rodinia {
namespace {

constexpr double gaussian_decay = 0.01;  // rho = exp(-decay)

}  // namespace

gaussian_input read_gaussian_input(const std::filesystem::path& file) {
  text_input in(file);
  gaussian_input read;
  read.n = in.integer("the number of equations", 1, 32768);
  const auto n = static_cast<std::size_t>(read.n);
  for (std::size_t k = 0; k < n * n; ++k) read.a.push_back(in.number("an element of the matrix"));
  for (std::size_t k = 0; k < n; ++k) read.b.push_back(in.number("an element of the right side"));
  if (!in.at_end())
    for (std::size_t k = 0; k < n; ++k) read.solution.push_back(in.number("an element of the solution"));
  in.expect_end();
  return read;
}

double gaussian_element(std::int64_t i, std::int64_t j) {
  return 10 * std::exp(-gaussian_decay * static_cast<double>(std::abs(i - j)));
}

double gaussian_eliminated(std::int64_t i, std::int64_t j) {
  return (i == 0 ? 1 : -std::expm1(-2 * gaussian_decay)) * gaussian_element(i, j);
}

double gaussian_solution(std::int64_t n, std::int64_t i) {
  const double rho = std::exp(-gaussian_decay), end = n == 1 ? 0.1 : 1 / (10 * (1 + rho));
  return i == 0 || i == n - 1 ? end : -std::expm1(-gaussian_decay) * end;
}

workload gaussian_workload(std::int64_t n, std::int64_t columns, std::size_t element) {
  const auto order = static_cast<double>(n), size = static_cast<double>(element);
  region_work pivot{.region = "pivot"}, below{.region = "eliminate"};
  for (std::int64_t t = 0; t + 1 < n; t += columns) {
    const std::int64_t c = std::min(columns, n - t);
    const auto rows = static_cast<double>(n - t - c), width = static_cast<double>(n - t),
               block = static_cast<double>(c);
    pivot.bytes += 2 * block * (width + 1) * size;
    below.bytes += (rows * (2 * width + 2) + 2 * block * (width + 1)) * size;
    for (std::int64_t s = t; s < t + c; ++s) {
      const double of_row = 1 + 2 * (order - static_cast<double>(s));
      pivot.flops += static_cast<double>(t + c - 1 - s) * of_row;
      below.flops += rows * of_row;
    }
  }
  return {(2 * order * order + order) * size, {pivot, below}};
}

}  // namespace tessera::apps::rodinia
