#include "languages/directives/text/comments.hpp"

#include <algorithm>

namespace tessera::directive {
namespace {

/// How many characters join two lines: a backslash and the end of a line, also that of other systems. 0: none here.
std::size_t join(std::string_view rest) {
  if (rest.starts_with("\\\n")) return 2;
  return rest.starts_with("\\\r\n") ? 3 : 0;
}

}  // namespace

directive_line line_of_directive(std::string_view source, std::size_t at) {
  directive_line line;
  char quote = 0;
  bool comment = false;  // to the end of the line
  std::size_t k = at;
  const auto blank = [&](std::size_t count) {
    line.text.append(count, ' ');
    k += count;
  };
  while (k < source.size() && source[k] != '\n') {
    const std::string_view rest = source.substr(k);
    if (const std::size_t joined = join(rest); joined != 0) {
      blank(joined);
    } else if (comment) {
      blank(1);
    } else if (quote != 0) {
      const bool escaped = rest[0] == '\\' && rest.size() > 1;
      if (rest[0] == quote) quote = 0;
      line.text += rest.substr(0, escaped ? 2 : 1);
      k += escaped ? 2 : 1;
    } else if (rest.starts_with("//")) {
      comment = true;
    } else if (rest.starts_with("/*")) {
      const std::size_t end = rest.find("*/", 2);
      blank(end == std::string_view::npos ? rest.size() : end + 2);
    } else {
      if (rest[0] == '"' || rest[0] == '\'') quote = rest[0];
      line.text += rest[0];
      ++k;
    }
  }
  line.end = k;
  return line;
}

}  // namespace tessera::directive
