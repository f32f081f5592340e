#pragma once
// The line of a directive as a compiler sees it.
#include <cstddef>
#include <string>
#include <string_view>

namespace tessera::directive {

/// A directive's line, with its comments and its joined lines as spaces: positions stay.
struct directive_line {
  std::string text;
  std::size_t end = 0;  ///< of the line in the source: behind comments and joins that go over several
};
/// @param at  where it begins in the source
directive_line line_of_directive(std::string_view source, std::size_t at);

}  // namespace tessera::directive
