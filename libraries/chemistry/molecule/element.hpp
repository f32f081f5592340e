#pragma once
// Symbols and numbers of the elements.
#include <string>
#include <string_view>

namespace tessera::chemistry {

inline constexpr int last_element = 118;

/// "He" is 2, as are "he" and "HE". Throws tessera::error of kind input for a symbol that no element has; the hint has
/// the nearest one.
int element_number(std::string_view symbol);

/// The same, and 0 for a symbol that no element has.
int find_element(std::string_view symbol) noexcept;

/// "He" for 2. Throws tessera::error of kind usage for a number outside of 1 to 118.
std::string_view symbol_of(int number);

/// What to do about a symbol that no element has, with the nearest one where one is near; for messages.
std::string hint_for_element(std::string_view symbol);

}  // namespace tessera::chemistry
