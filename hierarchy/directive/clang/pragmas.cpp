#include "hierarchy/directive/clang/pragmas.hpp"

#include <clang/Lex/Pragma.h>

namespace tessera::directive {
namespace {

/// The end of the line that holds `at`; a backslash joins lines.
std::size_t end_of_line(std::string_view text, std::size_t at) {
  for (; at < text.size() && text[at] != '\n'; ++at)
    if (text[at] == '\\' && at + 1 < text.size() && text[at + 1] == '\n') ++at;
  return at;
}

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
    found.where = {text.offset(introducer.Loc), end_of_line(text.text(), found.text_at)};
    try {
      found.what = parse_directive(text.text().substr(found.text_at, found.where.end - found.text_at));
      m_to.push_back(std::move(found));
    } catch (const syntax_error& e) {
      m_messages.error(text.location(found.text_at + e.at()), e.what(), e.hint());
    }
  }

 private:
  std::vector<found_directive>& m_to;
  report& m_messages;
};

}  // namespace

void find_directives(clang::Preprocessor& in, std::vector<found_directive>& to, report& messages) {
  for (const char* family : {"gecko", "pointerchain"})
    in.AddPragmaHandler(new handler(family, to, messages));  // the preprocessor owns it
}

}  // namespace tessera::directive
