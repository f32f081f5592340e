#include "languages/directives/clang/translate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "languages/directives/clang/chains.hpp"
#include "languages/directives/clang/regions.hpp"
#include "languages/directives/clang/scopes.hpp"
#include "languages/directives/text/emit.hpp"
#include "languages/directives/text/shield.hpp"

namespace tessera::directive {
namespace {

constexpr const char *edited = "// Translated by tessera-translate: edit the source, not this file.\n",
                     *header = "#include <tessera/directives.hpp>\n";

class translator {
 public:
  translator(const std::vector<found_directive>& directives, const std::string& file, clang::ASTContext& context,
             const macro_question& is_macro, report& messages)
      : m_directives(directives),
        m_file(file),
        m_context(context),
        m_is_macro(is_macro),
        m_messages(messages),
        m_text(context.getSourceManager(), context.getLangOpts()),
        m_names(context, m_text),
        m_chains(m_names, context, m_text, messages) {}

  translation run() {
    for (const found_directive& d : m_directives) check_place(d);
    if (!m_messages.failed()) read_chains();
    for (auto d = m_directives.begin(); d != m_directives.end() && !m_messages.failed(); ++d)
      if (d->what.rule->family == "gecko") read_gecko(*d);
    if (m_begun != nullptr)
      m_messages.error(m_text.location(m_begun->where.begin), "this region has no end",
                       "write #pragma gecko region end behind its loop");
    if (m_messages.failed()) return {};
    begin_main();
    // Edits inside of what is replaced as a whole are in its text already.
    for (const edit& small : m_text.edits())
      if (std::ranges::none_of(m_edits, [&](const edit& e) { return e.begin <= small.begin && small.end <= e.end; }))
        m_edits.push_back(small);
    const std::string prologue = prologue_of(m_edits);
    for (edit& e : m_edits) {
      e.text = shielded(e.text, [&](const std::string& name) { return m_is_macro(name, e.begin); });
      e.own_lines = e.own_lines || e.text.find('\n') != std::string::npos;
    }
    m_made.text = rewritten(m_text.text(), m_file, prologue, std::move(m_edits));
    return std::move(m_made);
  }

 private:
  /// A directive stands between the statements of a block.
  void check_place(const found_directive& d) {
    const scopes::block* const block = m_names.block_at(d.where.begin);
    const clang::SourceLocation at = m_text.location(d.where.begin);
    if (block == nullptr) {
      m_messages.error(at, "a directive outside of a function", "it becomes statements: write it in a block");
    } else if (block->dependent) {
      m_messages.error(at, "a directive in a template is not translated", "write the loop in a function that is none");
    } else {
      for (const clang::Stmt* s : block->statement->body())
        if (const auto where = m_text.of(s->getSourceRange()); where && where->holds(d.where.begin))
          m_messages.error(at, "a directive inside of a statement", "it stands between the statements of a block: { }");
    }
  }

  /// Macros of the command line are there before the library's header, which has most of the names.
  std::string prologue_of(const std::vector<edit>& edits) const {
    std::set<std::string> names;
    for (const edit& e : edits) names.merge(own_names(e.text));
    std::string hide, show;
    for (const std::string& name : names) {
      if (!m_is_macro(name, 0)) continue;
      hide += fmt::format("#pragma push_macro(\"{0}\")\n#undef {0}\n", name);
      show += fmt::format("#pragma pop_macro(\"{}\")\n", name);
    }
    return edited + hide + header + show;
  }

  /// The runtime ends with main.
  void begin_main() {
    for (const clang::Decl* d : m_context.getTranslationUnitDecl()->decls()) {
      const auto* const f = llvm::dyn_cast<clang::FunctionDecl>(d);
      if (f == nullptr || !f->isMain() || !f->doesThisDeclarationHaveABody() || m_directives.empty()) continue;
      const std::size_t open = m_text.offset(f->getBody()->getBeginLoc());
      if (open != std::string_view::npos)
        m_edits.push_back({open + 1, open + 1,
                           fmt::format(" const ::tessera::directives::session {};", m_text.fresh("tessera_session")),
                           false});
    }
  }

  void replace(const found_directive& d, std::string text) {
    const std::string_view line = m_text.text().substr(d.where.begin, d.where.end - d.where.begin);
    const bool vanishes = text.empty() && line.find('\n') == std::string_view::npos;
    m_edits.push_back({d.where.begin, d.where.end, std::move(text), !vanishes});
  }

  void read_chains() {
    for (const found_directive& d : m_directives) {
      if (d.what.rule->family != "pointerchain") continue;
      reported(d, [&] { replace(d, m_chains.read(d)); });
    }
    m_chains.end();
  }

  template <class Function>
  void reported(const found_directive& d, const Function& read) {
    try {
      read();
    } catch (const syntax_error& e) {
      m_messages.error(m_text.location(d.text_at + e.at()), e.what(), e.hint());
    }
  }

  void read_gecko(const found_directive& d) {
    const clang::SourceLocation at = m_text.location(d.where.begin);
    switch (d.what.rule->what) {
      case action::region_begin:
        if (m_begun != nullptr) m_messages.error(at, "a region inside of another one", "end the first one before");
        m_begun = &d;
        replace(d, {});
        return;
      case action::region_end:
        if (m_begun == nullptr)
          m_messages.error(at, "there is no region to end");
        else
          read_region(*m_begun, d);
        replace(d, {});
        m_begun = nullptr;
        return;
      default:
        if (m_begun != nullptr)
          return m_messages.error(at, "a directive inside of a region", "a region holds its loops alone");
        reported(d, [&] {
          check_arrays(d);
          replace(d, statement_of(d.what, [&](std::string_view name) {
                    return m_names.variable(name, d.where.begin) != nullptr;
                  }));
        });
    }
  }

  /// Rows whose length is a variable have no type that the library could be called with.
  void check_rows(const found_directive& d) {
    const clause* list = d.what.find("register");
    if (list == nullptr) return;
    for (const placed_text& one : parse_list(list->argument)) {
      const section array = parse_section(one);
      const clang::VarDecl* const v = m_names.variable(array.name.text, d.where.begin);
      if (v == nullptr) continue;
      const clang::ArrayType* const whole = m_context.getAsArrayType(v->getType());
      const clang::QualType row = whole != nullptr                ? whole->getElementType()
                                  : v->getType()->isPointerType() ? v->getType()->getPointeeType()
                                                                  : clang::QualType();
      if (!row.isNull() && row->isVariableArrayType())
        throw syntax_error(array.name.at,
                           fmt::format("the rows of '{}' have a length that is a variable", array.name.text),
                           fmt::format("register its elements by a pointer to the first one, which the loops use too: "
                                       "{}[i * columns + j]",
                                       array.name.text));
    }
  }

  /// The list of a clause that names arrays; null: it has none.
  static const clause* arrays_of(const found_directive& d, std::string_view name) {
    const bool is_location = d.what.rule->what == action::move && name == "to";
    return is_location ? nullptr : d.what.find(name);
  }
  /// What a directive names, where it is a variable, is what the directive takes: a pointer or an array, and once.
  void check_pointers(const found_directive& d) {
    for (const auto& [name, sections] :
         {std::pair("allocate", true), std::pair("register", true), std::pair("from", true), std::pair("to", true),
          std::pair("free", false), std::pair("unregister", false), std::pair("move", false)}) {
      const clause* const list = arrays_of(d, name);
      if (list == nullptr) continue;
      std::set<std::string> before;
      for (const placed_text& one : parse_list(list->argument)) {
        const placed_text of = sections ? parse_section(one).name : one;
        if (!before.insert(of.text).second) throw syntax_error(of.at, fmt::format("'{}' stands here twice", of.text));
        const clang::VarDecl* const v = m_names.variable(of.text, d.where.begin);
        if (v == nullptr) continue;
        const clang::QualType type = v->getType().getNonReferenceType();
        if (!type->isPointerType() && !type->isArrayType() && !type->isRecordType())
          throw syntax_error(
              of.at, fmt::format("'{}' is no pointer and no array, its type is {}", of.text, type.getAsString()));
      }
    }
  }
  /// Ranges are whole numbers: a fraction would be cut off.
  void check_ranges(const found_directive& d) {
    for (const char* name : {"allocate", "register", "from", "to"}) {
      const clause* const list = arrays_of(d, name);
      if (list == nullptr) continue;
      for (const placed_text& one : parse_list(list->argument))
        for (const section::range& range : parse_section(one).ranges)
          for (const std::string* part : {&range.first, &range.count}) {
            const clang::VarDecl* const v = m_names.variable(*part, d.where.begin);
            if (v != nullptr && v->getType().getNonReferenceType()->isRealFloatingType())
              throw syntax_error(
                  one.at, fmt::format("'{}' is no whole number, its type is {}", *part, v->getType().getAsString()));
          }
    }
  }

  /// What is allocated goes into a pointer of its type.
  void check_arrays(const found_directive& d) {
    check_pointers(d);
    check_ranges(d);
    check_rows(d);
    const clause* list = d.what.find("allocate");
    if (list == nullptr) return;
    for (const placed_text& one : parse_list(list->argument)) {
      const section array = parse_section(one);
      const clang::VarDecl* const v = m_names.variable(array.name.text, d.where.begin);
      if (v == nullptr) {
        if (std::ranges::all_of(array.name.text,
                                [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }))
          throw syntax_error(array.name.at, fmt::format("there is no variable '{}' here", array.name.text),
                             fmt::format("declare it: {}* {};", d.what.needed("type").text, array.name.text));
        continue;
      }
      const std::string type = d.what.needed("type").text;
      if (!v->getType()->isPointerType())
        throw syntax_error(array.name.at, fmt::format("'{}' is no pointer", array.name.text),
                           fmt::format("declare it: {}* {};", type, array.name.text));
      if (v->getType().isConstQualified())
        throw syntax_error(array.name.at, fmt::format("the pointer '{}' is constant", array.name.text),
                           fmt::format("declare it: {}* {};", type, array.name.text));
      const clang::QualType element = v->getType()->getPointeeType();
      if (without_spaces(element.getAsString()) != without_spaces(type) &&
          without_spaces(element.getCanonicalType().getAsString()) != without_spaces(type))
        throw syntax_error(array.name.at, fmt::format("'{}' points to {}, and its type is {} here", array.name.text,
                                                      element.getAsString(), type));
    }
  }

  void read_region(const found_directive& begin, const found_directive& end) {
    const scopes::block* const block = m_names.block_at(begin.where.begin);
    if (block != m_names.block_at(end.where.begin))
      return m_messages.error(m_text.location(end.where.begin), "this region begins in another block",
                              "it ends in the block that it begins in");
    int loops = 0;
    std::map<std::size_t, std::pair<std::string, int>> without_step;  // reductions, by their places; loops
    for (const clang::Stmt* s : block->statement->body()) {
      const std::size_t at = m_text.offset(s->getBeginLoc());
      if (at < begin.where.end || at >= end.where.begin || llvm::isa<clang::NullStmt>(s)) continue;
      const auto* const loop = llvm::dyn_cast<clang::ForStmt>(s);
      if (loop == nullptr)
        return m_messages.error(s->getBeginLoc(), "this statement of a region is no 'for' loop",
                                "a region holds its loops alone: write it in front of the region or behind");
      ++loops;
      for (const placed_text& one : read_loop_of(begin, *loop)) {
        without_step[one.at].first = one.text;
        ++without_step[one.at].second;
      }
    }
    for (const auto& [at, name] : without_step)
      if (name.second == loops)
        m_messages.warning(m_text.location(begin.text_at + at),
                           fmt::format("the region has no step of the reduction of '{}'", name.first));
    if (loops == 0)
      m_messages.error(m_text.location(begin.where.begin), "this region has no loop", "a region holds a 'for' loop");
  }

  /// Returns the reductions that the loop has no step of.
  std::vector<placed_text> read_loop_of(const found_directive& region, const clang::ForStmt& loop) {
    const auto whole = m_text.of(loop.getSourceRange());
    if (!whole || loop.getForLoc().isMacroID()) {
      m_messages.error(loop.getForLoc(), "the loop of a region in a macro", "write it out");
      return {};
    }
    const region_surroundings around{m_context, m_names, m_chains.replaced(),
                                     m_file.substr(m_file.find_last_of('/') + 1)};
    auto made = analyse_region(region, loop, around, m_text, m_messages);
    if (!made) return {};
    const auto body = m_text.of(made->body->getSourceRange());
    if (!body) {
      m_messages.error(made->body->getBeginLoc(), "the body of a region's loop in a macro", "write it out");
      return {};
    }
    for (const clang::ContinueStmt* next : made->continues)
      if (const auto where = m_text.of(next->getSourceRange())) m_text.change(*where, "return");
    const bool block = llvm::isa<clang::CompoundStmt>(made->body);
    std::size_t end = body->end;
    if (!block) {  // the semicolon of a statement is not part of it
      const std::size_t next = m_text.text().find_first_not_of(" \t\n", end);
      if (next != std::string_view::npos && m_text.text()[next] == ';') end = next + 1;
    }
    m_edits.push_back({whole->begin, body->begin, region_head(made->model) + (block ? "" : " {"), true});
    m_edits.push_back({end, std::max(end, whole->end), (block ? "" : "}") + region_tail(made->model), true});
    m_made.regions.push_back({std::move(made->model), m_text.line(whole->begin), std::move(made->host_alone)});
    return std::move(made->without_step);
  }

  const std::vector<found_directive>& m_directives;
  const std::string& m_file;
  clang::ASTContext& m_context;
  const macro_question& m_is_macro;
  report& m_messages;
  source m_text;
  scopes m_names;
  chain_reader m_chains;
  const found_directive* m_begun = nullptr;  // a region that has not ended
  std::vector<edit> m_edits;
  translation m_made;
};

}  // namespace

translation translate(const std::vector<found_directive>& directives, const std::string& file,
                      clang::ASTContext& context, const macro_question& is_macro, report& messages) {
  return translator(directives, file, context, is_macro, messages).run();
}

}  // namespace tessera::directive
