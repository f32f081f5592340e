#pragma once
// The right sides of a linear system, each divided by a power of two, so that squares of its numbers are doubles.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tessera::sparse {

/// Columns of a row-major block, each times a power of two of its own.
class right_side {
 public:
  /// Throws tessera::error: usage where b is no block of so many rows, input for numbers that are not finite. `name` is
  /// of the operator.
  right_side(std::span<const double> b, std::int64_t rows, const std::string& name);
  std::int64_t columns() const noexcept { return static_cast<std::int64_t>(m_exponents.size()); }
  const std::vector<double>& numbers() const noexcept { return m_numbers; }  ///< largest ones from 1 to 2, or 0
  const std::vector<double>& norms() const noexcept { return m_norms; }      ///< 2-norms of the columns as given
  /// Other numbers of this shape as they are beside `numbers`.
  std::vector<double> scaled(std::span<const double> given) const;
  /// Numbers, a row or some of the block, as they are beside the right side as given.
  void unscale(std::span<double> numbers) const noexcept;

 private:
  std::vector<int> m_exponents;
  std::vector<double> m_numbers, m_norms;
};

/// Throws tessera::error (input) where one is not finite. @param what  "the guess"
void require_finite(std::span<const double> numbers, const char* what, const std::string& name);

}  // namespace tessera::sparse
