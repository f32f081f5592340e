#include "libraries/chemistry/molecule/read_element.hpp"

#include <fmt/format.h>

#include <charconv>

#include "libraries/chemistry/molecule/element.hpp"

namespace tessera::chemistry {

int element_in(const text_reader& from, std::string_view word) {
  if (const int number = find_element(word)) return number;
  if (word.find_first_not_of("0123456789") != word.npos)
    from.fail(fmt::format("no element has the symbol {}", in_quotes(word)), hint_for_element(word));
  int number = 0;
  const auto status = std::from_chars(word.data(), word.data() + word.size(), number).ec;
  if (status != std::errc{} || number < 1 || number > last_element)
    from.fail(fmt::format("no element has the number {}", in_quotes(word)),
              fmt::format("elements have numbers from 1 to {}", last_element));
  return number;
}

}  // namespace tessera::chemistry
