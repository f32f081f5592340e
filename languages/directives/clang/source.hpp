#pragma once
// The main file as text, and where the parts of the tree stand in it.
#include <clang/AST/Expr.h>
#include <clang/Basic/LangOptions.h>
#include <clang/Basic/SourceManager.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "languages/directives/text/rewrite.hpp"

namespace tessera::directive {

/// Characters [begin, end) of the main file.
struct extent {
  std::size_t begin = 0, end = 0;
  bool holds(std::size_t at) const noexcept { return begin <= at && at < end; }
  bool holds(const extent& other) const noexcept { return begin <= other.begin && other.end <= end; }
};

/// The main file, and the small edits that are made in it: what is taken from it as text has them.
class source {
 public:
  /// @param manager, language  must outlive it
  source(const clang::SourceManager& manager, const clang::LangOptions& language);

  std::string_view text() const noexcept { return m_text; }
  const clang::SourceManager& manager() const noexcept { return m_manager; }
  clang::SourceLocation location(std::size_t at) const;
  /// Where a token begins; of a macro, where it is used. npos: in another file.
  std::size_t offset(clang::SourceLocation at) const;
  /// From the first to behind the last token. Nothing for what is in another file, or in a part of a macro.
  std::optional<extent> of(clang::SourceRange tokens) const;
  /// The characters, with the edits among them.
  std::string text_of(const extent& of) const;
  /// The same of an expression, without blanks at its ends; empty where it is not in the file.
  std::string text_of(const clang::Expr& e) const;
  /// A name that begins so and stands nowhere in the file.
  std::string fresh(std::string name) const;
  unsigned line(std::size_t at) const { return m_manager.getLineNumber(m_manager.getMainFileID(), unsigned(at)); }

  void change(const extent& of, std::string to) { m_edits.push_back({of.begin, of.end, std::move(to), false}); }
  const std::vector<edit>& edits() const noexcept { return m_edits; }

 private:
  const clang::SourceManager& m_manager;
  const clang::LangOptions& m_language;
  std::string_view m_text;
  std::vector<edit> m_edits;
};

/// A text without any white space: how expressions are compared.
std::string without_spaces(std::string_view text);

}  // namespace tessera::directive
