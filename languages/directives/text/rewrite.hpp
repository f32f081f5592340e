#pragma once
// A source with some of its parts replaced, in which compilers still find the lines of the source. Pure.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::directive {

/// Characters [begin, end) of a source become `text`.
struct edit {
  std::size_t begin = 0, end = 0;
  std::string text;
  bool own_lines = false;  ///< the text stands on lines of its own, which count as the line of `begin`; what follows it
                           ///< keeps its line and column
};

/// The source with all edits, which do not overlap, behind a `prologue` that is not counted. `file` names the source in
/// the #line directives.
std::string rewritten(std::string_view source, std::string_view file, std::string_view prologue,
                      std::vector<edit> edits);

}  // namespace tessera::directive
