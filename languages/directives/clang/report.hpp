#pragma once
// Messages in Clang's own form: file:line:column, the line, a caret.
#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/SourceLocation.h>

#include <string>

namespace tessera::directive {

/// Reports to a compiler's diagnostics, and remembers whether an error was among them.
class report {
 public:
  /// @param to  must outlive it @param remarks  whether to say what is no mistake
  report(clang::DiagnosticsEngine& to, bool remarks) : m_to(to), m_remarks(remarks) {}

  /// @param hint  what to do about it, as a note; may be empty
  void error(clang::SourceLocation at, const std::string& message, const std::string& hint = {}) {
    m_failed = true;
    say(clang::DiagnosticsEngine::Error, at, message);
    if (!hint.empty()) say(clang::DiagnosticsEngine::Note, at, hint);
  }
  void warning(clang::SourceLocation at, const std::string& message) {
    say(clang::DiagnosticsEngine::Warning, at, message);
  }
  void remark(clang::SourceLocation at, const std::string& message) {
    if (m_remarks) say(clang::DiagnosticsEngine::Remark, at, message);
  }
  bool failed() const noexcept { return m_failed; }

 private:
  void say(clang::DiagnosticsEngine::Level level, clang::SourceLocation at, const std::string& message) {
    m_to.Report(at, m_to.getDiagnosticIDs()->getCustomDiagID(static_cast<clang::DiagnosticIDs::Level>(level), "%0"))
        << message;
  }
  clang::DiagnosticsEngine& m_to;
  bool m_remarks, m_failed = false;
};

}  // namespace tessera::directive
