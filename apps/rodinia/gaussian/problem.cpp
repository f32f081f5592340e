#include "apps/rodinia/gaussian/problem.hpp"

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

}  // namespace tessera::apps::rodinia
