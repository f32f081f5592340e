#include "languages/directives/text/shield.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace tessera::directive {
namespace {

constexpr char begins = '\x01', ends = '\x02';
constexpr std::string_view raw = "R\"kernel(", raw_end = ")kernel\"";

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c < 0 || c == '$'; }

/// Calls `of` with each part of a text between marks, and whether it is the program's.
template <class Function>
void each_part(std::string_view text, const Function& of) {
  int depth = 0;
  std::size_t from = 0;
  for (std::size_t k = 0; k <= text.size(); ++k) {
    const bool mark = k == text.size() || text[k] == begins || text[k] == ends;
    if (!mark) continue;
    if (k > from) of(text.substr(from, k - from), depth > 0);
    from = k + 1;
    if (k < text.size()) depth += text[k] == begins ? 1 : -1;
  }
}

/// Behind a literal that begins at a quote.
std::size_t behind_literal(std::string_view text, std::size_t quote) {
  std::size_t k = quote + 1;
  while (k < text.size() && text[k] != text[quote]) k += text[k] == '\\' ? 2 : 1;
  return std::min(k + 1, text.size());
}

}  // namespace

std::string as_written(std::string_view text) { return begins + std::string(text) + ends; }

std::set<std::string> own_names(std::string_view text) {
  std::set<std::string> names;
  each_part(text, [&](std::string_view part, bool written) {
    for (std::size_t k = 0; !written && k < part.size();) {
      if (part.substr(k).starts_with(raw)) {
        const std::size_t end = part.find(raw_end, k);
        k = end == std::string_view::npos ? part.size() : end + raw_end.size();
      } else if (part[k] == '"' || part[k] == '\'') {
        k = behind_literal(part, k);
      } else if (in_name(part[k])) {
        const std::size_t begin = k;
        while (k < part.size() && in_name(part[k])) ++k;
        if (std::isdigit(static_cast<unsigned char>(part[begin])) == 0) names.emplace(part.substr(begin, k - begin));
      } else {
        ++k;
      }
    }
  });
  return names;
}

std::string shielded(std::string_view text, const std::function<bool(const std::string& name)>& is_macro) {
  std::string hide, show;
  for (const std::string& name : own_names(text)) {
    if (!is_macro(name)) continue;
    hide += fmt::format("#pragma push_macro(\"{0}\")\n#undef {0}\n", name);
    show += fmt::format("#pragma pop_macro(\"{}\")\n", name);
  }
  std::string made;
  each_part(text, [&](std::string_view part, bool written) {
    if (written || hide.empty())
      made += part;
    else
      made += fmt::format("\n{}{}{}\n{}{}", hide, same_line, part, show, same_line);
  });
  return made;
}

}  // namespace tessera::directive
