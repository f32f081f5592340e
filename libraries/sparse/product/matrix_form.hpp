#pragma once
// How the entries of a matrix lie in memory for products with blocks of vectors.
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tessera::sparse {

/// Products have the same bits in all forms: each adds up a row's entries in the order of its columns.
enum class matrix_form : std::uint8_t {
  csr,   ///< compressed rows: the matrix as it is, no copy
  sell,  ///< SELL-8-64: eight rows side by side, sorted by length among 64; for one vector
  bcsr   ///< dense blocks of 3 x 3; zeros fill up blocks
};

inline constexpr std::array matrix_forms = {matrix_form::csr, matrix_form::sell, matrix_form::bcsr};  ///< all

/// "csr", "sell", "bcsr".
std::string_view name_of(matrix_form form) noexcept;

/// The form of that name; none for another word.
std::optional<matrix_form> form_named(std::string_view name) noexcept;

}  // namespace tessera::sparse
