#pragma once
// Elements in files.
#include <string_view>

#include "libraries/chemistry/molecule/text_reader.hpp"

namespace tessera::chemistry {

/// The number of an element that is written as its symbol or its number. `word` is the last word of `from`, or begins
/// it. Throws tessera::error of kind input, with its place, when there is no such element.
int element_in(const text_reader& from, std::string_view word);

}  // namespace tessera::chemistry
