#pragma once
// Arguments of built-in instructions, checked.
#include <tessera/sial.h>

#include <cstdint>
#include <span>
#include <string>

#include "languages/sial/instructions/instruction.hpp"

namespace tessera::sial {

/// "a[1,2]", a whole array "a", "3.5" for a literal.
std::string shown(const sial_argument& argument);

/// "2 x 3", "a scalar".
std::string extents_of(const sial_argument& argument);

/// Ends the instruction with a message.
[[noreturn]] void refuse(const std::string& message);

/// The number behind a scalar, or behind a block of one element.
double& scalar(const sial_argument& argument);

/// All elements.
inline std::span<double> elements(const sial_argument& argument) {
  return {argument.data, static_cast<std::size_t>(argument.elements)};
}

/// Rows of a square matrix: two equal extents, 1 beyond them. Refuses others, and what LAPACK cannot count.
int order_of_square(const sial_argument& argument);

/// Refuses blocks of different extents.
void expect_same_extents(const sial_argument& one, const sial_argument& other);

/// Refuses ranks other than these two.
void expect_rank(const sial_argument& argument, int rank, int or_rank);

/// Calls `visit(element, number)` for all elements in the order of storage; `number[d]` is the element's absolute
/// number in dimension d.
template <typename visitor>
void for_each_element(const sial_argument& argument, visitor&& visit) {
  std::int64_t number[SIAL_MAX_RANK], end[SIAL_MAX_RANK];
  for (int d = 0; d < argument.rank; ++d) {
    number[d] = argument.offsets[d];
    end[d] = argument.offsets[d] + argument.extents[d];
  }
  for (std::int64_t k = 0; k < argument.elements; ++k) {
    visit(k, static_cast<const std::int64_t*>(number));
    for (int d = 0; d < argument.rank; ++d) {
      if (++number[d] < end[d]) break;
      number[d] = argument.offsets[d];
    }
  }
}

}  // namespace tessera::sial
