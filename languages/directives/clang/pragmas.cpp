#include "languages/directives/clang/pragmas.hpp"

#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Pragma.h>
#include <clang/Lex/Preprocessor.h>
#include <fmt/format.h>

#include <cctype>
#include <memory>

#include "core/base/suggest.hpp"
#include "languages/directives/text/comments.hpp"

namespace tessera::directive {
namespace {

const std::vector<std::string> families = {"gecko", "pointerchain"};

/// Clang calls it for each pragma of a family; it removes itself with the preprocessor.
class handler : public clang::PragmaHandler {
 public:
  handler(llvm::StringRef family, std::vector<found_directive>& to, report& messages)
      : PragmaHandler(family), m_to(to), m_messages(messages) {}

  void HandlePragma(clang::Preprocessor& in, clang::PragmaIntroducer introducer, clang::Token& first) override {
    const clang::SourceManager& files = in.getSourceManager();
    const clang::SourceLocation at = first.getLocation();
    in.DiscardUntilEndOfDirective();
    if (files.isInSystemHeader(at)) return;
    if (at.isMacroID() || introducer.Kind != clang::PIK_HashPragma) {
      m_messages.error(at, "a directive in _Pragma or in a macro is not translated", "write it as #pragma");
      return;
    }
    if (!files.isWrittenInMainFile(at)) {
      m_messages.error(at, "a directive in a header is not translated", "directives stand in the translated source");
      return;
    }
    const source text(files, in.getLangOpts());
    found_directive found;
    found.text_at = text.offset(at);
    const directive_line line = line_of_directive(text.text(), found.text_at);
    found.where = {text.offset(introducer.Loc), line.end};
    try {
      found.what = parse_directive(line.text);
      m_to.push_back(std::move(found));
    } catch (const syntax_error& e) {
      m_messages.error(text.location(found.text_at + e.at()), e.what(), e.hint());
    }
  }

 private:
  std::vector<found_directive>& m_to;
  report& m_messages;
};

/// Warns of pragmas whose family is misspelt: Clang and GCC skip what they do not know, and the loop would run
/// serially.
class misspelt : public clang::PPCallbacks {
 public:
  misspelt(const clang::Preprocessor& in, report& messages) : m_in(in), m_messages(messages) {}

  void PragmaDirective(clang::SourceLocation at, clang::PragmaIntroducerKind kind) override {
    const clang::SourceManager& files = m_in.getSourceManager();
    if (kind != clang::PIK_HashPragma || at.isMacroID() || !files.isWrittenInMainFile(at)) return;
    const source text(files, m_in.getLangOpts());
    const std::string_view all = text.text();
    constexpr std::string_view spaces = " \t", word = "pragma";
    std::size_t begin = all.find(word, text.offset(at));
    if (begin == all.npos || (begin = all.find_first_not_of(spaces, begin + word.size())) == all.npos) return;
    std::size_t end = begin;
    while (end < all.size() && (std::isalnum(static_cast<unsigned char>(all[end])) != 0 || all[end] == '_')) ++end;
    const std::string family(all.substr(begin, end - begin));
    std::string small = family;
    for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const std::string near = suggest(small, families);
    if (!near.empty() && near != family)
      m_messages.warning(text.location(begin),
                         fmt::format("unknown pragma '{}', which is skipped: did you mean '{}'?", family, near));
  }

 private:
  const clang::Preprocessor& m_in;
  report& m_messages;
};

}  // namespace

void find_directives(clang::Preprocessor& in, std::vector<found_directive>& to, report& messages) {
  for (const std::string& family : families)
    in.AddPragmaHandler(new handler(family, to, messages));  // the preprocessor owns it
  in.addPPCallbacks(std::make_unique<misspelt>(in, messages));
}

}  // namespace tessera::directive
