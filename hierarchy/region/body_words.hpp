#pragma once
// The words of bodies in C++: tokens, types of numbers, functions, and what is refused. Pure.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/detail/body.hpp"

namespace tessera::hierarchy {

using detail::body_number;

/// A token.
struct token {
  enum class kind {
    word,
    number,
    sign,
    literal,  ///< of characters
    end
  };
  kind is = kind::end;
  std::string_view text{};
  std::size_t at = 0;  ///< in the text
};
/// Those of a text, and the end.
std::vector<token> tokens_of(std::string_view text);

template <class List>
bool is_one_of(std::string_view text, const List& list) {
  return std::ranges::find(list, text) != std::end(list);
}

/// A parameter or a capture.
struct body_parameter {
  std::string name;  ///< "": it has none
  std::string type;  ///< the rest of it, with blanks: "const auto &"
};
/// Those of a list: "(auto i, double& s)".
std::vector<body_parameter> parameters_in(std::string_view list);

/// The name of a type in tessera-c, where truth values are of type int.
std::string_view c_name(body_number type) noexcept;
/// float or double.
bool is_floating(body_number type) noexcept;
/// As numbers are before arithmetic.
body_number promoted(body_number type) noexcept;
/// The type of arithmetic on two numbers.
body_number arithmetic_type(body_number a, body_number b) noexcept;
/// The type of a name, without std::, that is one word: "double", "int64_t".
std::optional<body_number> type_named(std::string_view name) noexcept;
/// Of names of several words: "unsigned", "long".
bool is_part_of_type(std::string_view word) noexcept;

/// A function that bodies may call, by its name in C++.
struct device_function {
  std::string_view name;  ///< without std::
  unsigned arguments;     ///< how many
  /// What it is for devices.
  enum class kind {
    floating,   ///< a function of the same name, of double and float
    truth,      ///< the same, which returns a truth value
    exponent,   ///< ldexp: its second argument is an int
    absolute,   ///< abs, of all types
    minimum,    ///< min, of all types
    maximum,    ///< max
    restricted  ///< clamp
  } is;
};
/// Null: there is none of this name.
const device_function* find_body_function(std::string_view name) noexcept;

/// What to write instead of a word of C++ that bodies have no use for; "": it is none.
std::string_view instead_of(std::string_view word) noexcept;

std::string functions_in_words();         ///< all of them, for hints
extern const char* const types_in_words;  ///< likewise

}  // namespace tessera::hierarchy
