#pragma once
// Regions of pointerchain: the library follows each chain once, into a variable, which stands for it up to the region's
// end.
#include <optional>
#include <string>
#include <vector>

#include "languages/directives/clang/pragmas.hpp"
#include "languages/directives/clang/scopes.hpp"
#include "languages/directives/clang/symbol.hpp"

namespace tessera::directive {

/// Reads the directives of pointerchain in the order of the file.
class chain_reader {
 public:
  /// @param names, context, text, messages  must outlive it
  chain_reader(const scopes& names, const clang::ASTContext& context, source& text, report& messages)
      : m_names(names), m_context(context), m_text(text), m_messages(messages) {}

  /// A directive of pointerchain. Returns the statements that it becomes.
  std::string read(const found_directive& d);
  /// Behind the last one.
  void end();
  /// The expressions that became variables. Those of a region are there from its end on.
  const chain_names& replaced() const noexcept { return m_replaced; }

 private:
  struct opened {
    chain what;
    chain_variable variable;
    bool is_pointer;
  };
  void declare(const found_directive& d);
  std::string begin(const found_directive& d);
  std::string close(const found_directive& d);
  std::string open(const chain& c, clang::SourceLocation at, const clang::MemberExpr& used);
  const clang::MemberExpr* first_use(const chain& c, const extent& in) const;

  const scopes& m_names;
  const clang::ASTContext& m_context;
  source& m_text;
  report& m_messages;
  std::vector<std::pair<chain, const found_directive*>> m_declared;
  std::vector<opened> m_open;
  const found_directive* m_region = nullptr;  // null: none is open
  int m_count = 0;
  chain_names m_replaced;
};

}  // namespace tessera::directive
