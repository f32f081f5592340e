#include "languages/directives/clang/source.hpp"

#include <clang/Lex/Lexer.h>

#include <algorithm>
#include <cctype>

namespace tessera::directive {

source::source(const clang::SourceManager& manager, const clang::LangOptions& language)
    : m_manager(manager), m_language(language), m_text(manager.getBufferData(manager.getMainFileID())) {}

clang::SourceLocation source::location(std::size_t at) const {
  return m_manager.getLocForStartOfFile(m_manager.getMainFileID()).getLocWithOffset(static_cast<int>(at));
}

std::size_t source::offset(clang::SourceLocation at) const {
  const auto [file, position] = m_manager.getDecomposedLoc(m_manager.getExpansionLoc(at));
  return file == m_manager.getMainFileID() ? position : std::string_view::npos;
}

std::optional<extent> source::of(clang::SourceRange tokens) const {
  const clang::CharSourceRange range =
      clang::Lexer::makeFileCharRange(clang::CharSourceRange::getTokenRange(tokens), m_manager, m_language);
  if (range.isInvalid()) return std::nullopt;
  const extent found{offset(range.getBegin()), offset(range.getEnd())};
  if (found.begin == std::string_view::npos || found.end == std::string_view::npos) return std::nullopt;
  return found;
}

std::string source::text_of(const extent& of) const {
  std::vector<const edit*> inside;
  for (const edit& e : m_edits)
    if (of.holds(extent{e.begin, e.end})) inside.push_back(&e);
  std::ranges::stable_sort(inside, {}, &edit::begin);
  std::string made;
  std::size_t at = of.begin;
  for (const edit* e : inside) {
    made.append(m_text.substr(at, e->begin - at)).append(e->text);
    at = e->end;
  }
  return made.append(m_text.substr(at, of.end - at));
}

std::string source::text_of(const clang::Expr& e) const {
  const auto found = of(e.getSourceRange());
  return found ? text_of(*found) : std::string();
}

std::string source::fresh(std::string name) const {
  while (m_text.find(name) != std::string_view::npos) name += '_';
  return name;
}

std::string without_spaces(std::string_view text) {
  std::string made(text);
  std::erase_if(made, [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; });
  return made;
}

}  // namespace tessera::directive
