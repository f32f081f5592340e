#include "libraries/sparse/linear/right_side.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"

namespace tessera::sparse {

void require_finite(std::span<const double> numbers, const char* what, const std::string& name) {
  for (std::size_t k = 0; k < numbers.size(); ++k)
    if (!std::isfinite(numbers[k]))
      throw error(error_kind::input, fmt::format("number {} of {} is {}", k + 1, what, numbers[k]), name,
                  "finite numbers");
}

right_side::right_side(std::span<const double> b, std::int64_t rows, const std::string& name) {
  const auto n = static_cast<std::size_t>(rows);
  if (rows < 1 || b.empty() || b.size() % n != 0)
    throw error(error_kind::usage,
                fmt::format("the right side has {} numbers, and the operator {} rows", b.size(), rows), name,
                "rows times columns, row by row: at least one column");
  require_finite(b, "the right side", name);
  const std::size_t width = b.size() / n;
  std::vector<double> largest(width, 0.0), squares(width, 0.0);
  for (std::size_t k = 0; k < b.size(); ++k) largest[k % width] = std::max(largest[k % width], std::abs(b[k]));
  for (const double most : largest) m_exponents.push_back(most > 0 ? std::ilogb(most) : 0);
  m_numbers = scaled(b);
  for (std::size_t k = 0; k < b.size(); ++k) squares[k % width] += m_numbers[k] * m_numbers[k];
  for (const double square : squares) m_norms.push_back(std::sqrt(square));
  unscale(m_norms);
}

std::vector<double> right_side::scaled(std::span<const double> given) const {
  std::vector<double> made(given.begin(), given.end());
  for (std::size_t k = 0; k < made.size(); ++k) made[k] = std::ldexp(made[k], -m_exponents[k % m_exponents.size()]);
  return made;
}

void right_side::unscale(std::span<double> numbers) const noexcept {
  for (std::size_t k = 0; k < numbers.size(); ++k)
    numbers[k] = std::ldexp(numbers[k], m_exponents[k % m_exponents.size()]);
}

}  // namespace tessera::sparse
