#include "languages/directives/clang/regions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "languages/directives/clang/kernel.hpp"
#include "languages/directives/clang/known_range.hpp"
#include "languages/directives/text/emit.hpp"

namespace tessera::directive {
namespace {

class region_reader {
 public:
  region_reader(const found_directive& region, const region_surroundings& around, source& text, report& messages)
      : m_region(region), m_around(around), m_text(text), m_messages(messages) {}

  std::optional<analysed_region> read(const clang::ForStmt& statement) {
    if (!read_clauses()) return std::nullopt;
    const auto nest = read_nest(statement, m_depth, [&](auto at, const std::string& what, const std::string& hint) {
      m_messages.error(at, what, hint);
    });
    if (!nest) return std::nullopt;
    const body_facts facts = read_body(*nest, m_reductions, m_around.chains, m_around.context, m_text, m_messages);
    for (const body_array& a : facts.arrays) m_made.model.arrays.push_back(use_of(a, nest->outer()));
    check_list(facts);
    check_reductions(facts);
    check_elements(facts);
    if (m_messages.failed()) return std::nullopt;
    write_kernel_of(*nest, facts);
    describe(*nest, facts);
    if (m_messages.failed()) return std::nullopt;
    return std::move(m_made);
  }

 private:
  clang::SourceLocation place(std::size_t in_text) const { return m_text.location(m_region.text_at + in_text); }
  is_variable variables() const {
    return [this](std::string_view name) { return m_around.names.variable(name, m_region.where.begin) != nullptr; };
  }

  // ---- the directive ----

  bool read_clauses() {
    region_model& to = m_made.model;
    try {
      if (const clause* at = m_region.what.find("at")) to.at = name_expression(at->argument, variables());
      if (const clause* policy = m_region.what.find("exec_pol"))
        to.policy = policy_expression(policy->argument, variables());
      if (const clause* depth = m_region.what.find("collapse")) m_depth = parse_collapse(depth->argument);
      for (const clause& c : m_region.what.clauses)
        if (c.name.text == "reduction") read_reduction(c);
      return !m_messages.failed();
    } catch (const syntax_error& e) {
      m_messages.error(place(e.at()), e.what(), e.hint());
      return false;
    }
  }
  void read_reduction(const clause& c) {
    static constexpr std::array known = {"double", "float", "int", "long", "unsigned char"};
    const reduction_clause parsed = parse_reduction(c.argument);
    for (const placed_text& name : parsed.names) {
      const clang::VarDecl* const v = m_around.names.variable(name.text, m_region.where.begin);
      if (v == nullptr) throw syntax_error(name.at, fmt::format("there is no variable '{}' here", name.text));
      const std::string type = v->getType().getNonReferenceType().getCanonicalType().getUnqualifiedType().getAsString(
          m_around.context.getPrintingPolicy());
      if (std::ranges::find(known, type) == known.end())
        throw syntax_error(name.at, fmt::format("'{}' has type {}, which no reduction has", name.text, type),
                           "double, float, int, std::int64_t and std::uint8_t have");
      if (v->getType().getNonReferenceType().isConstQualified())
        throw syntax_error(name.at, fmt::format("'{}' is constant: no reduction can change it", name.text));
      if (find_reduction(m_reductions, v) != nullptr)
        throw syntax_error(name.at, fmt::format("'{}' has a reduction already", name.text), "name it once");
      m_reductions.push_back({name.text, parsed.operation, v, name.at});
      m_made.model.reductions.push_back({name.text, type, parsed.operation, m_text.fresh("tessera_" + name.text),
                                         m_text.fresh("tessera_part_of_" + name.text)});
    }
  }
  /// A loop without a step of a reduction has no part in it.
  void check_reductions(const body_facts& facts) {
    for (std::size_t k = m_reductions.size(); k-- > 0;) {
      const auto step = facts.reduced.find(m_reductions[k].variable);
      if (step != facts.reduced.end()) {
        m_made.model.reductions[k].bits = step->second;
        continue;
      }
      m_made.without_step.push_back({m_reductions[k].name, m_reductions[k].at});
      m_reductions.erase(m_reductions.begin() + static_cast<std::ptrdiff_t>(k));
      m_made.model.reductions.erase(m_made.model.reductions.begin() + static_cast<std::ptrdiff_t>(k));
    }
  }
  /// variable_list names all arrays, or is left out.
  void check_list(const body_facts& facts) {
    const clause* const list = m_region.what.find("variable_list");
    if (list == nullptr) return;
    const std::vector<placed_text> names = parse_list(list->argument);
    for (const body_array& a : facts.arrays)
      if (std::ranges::find(names, a.name, &placed_text::text) == names.end() && !a.is_chain)
        m_messages.error(a.accesses.front().where->getBeginLoc(),
                         fmt::format("array '{}' is not in the region's variable_list", a.name),
                         "name it there, or leave the clause out: the arrays are found in the loop");
    for (const placed_text& name : names)
      if (std::ranges::find(facts.arrays, name.text, &body_array::name) == facts.arrays.end())
        m_messages.warning(place(name.at), fmt::format("the region does not use array '{}'", name.text));
  }

  // ---- arrays ----

  /// Those of the runtime's arrays.
  void check_elements(const body_facts& facts) {
    static constexpr std::array known = {
        "double", "float", "long", "int", "unsigned char", "std::byte", "std::complex<double>", "std::complex<float>"};
    for (const body_array& a : facts.arrays) {
      const std::string type =
          a.element.getCanonicalType().getUnqualifiedType().getAsString(m_around.context.getPrintingPolicy());
      if (std::ranges::find(known, type) == known.end())
        m_messages.error(a.accesses.front().where->getBeginLoc(),
                         fmt::format("'{}' has elements of type {}, which arrays of regions do not have", a.name, type),
                         "they are of double, float, std::int64_t, std::int32_t, std::uint8_t, or std::complex of "
                         "double or float: an array for each member");
    }
  }

  /// Written so, the whole loop goes to one leaf, and its iterations run one after the other.
  bool in_order() const { return means_any(m_made.model.policy); }

  array_use use_of(const body_array& a, const canonical_loop& loop) {
    array_use made;
    made.name = a.name;
    const std::string& whole = a.written.empty() ? a.name : a.written;
    made.address = a.inner.empty() ? whole : "&" + whole + "[0]";
    made.elements = a.elements;
    made.subscripts = 1 + a.inner.size();
    for (std::size_t k = 0; k < a.inner.size(); ++k) made.address += "[0]";
    bool reads = false, writes = false, covered = false;
    const array_access *strange = nullptr, *rows = nullptr;  // not understood; the first that is
    std::int64_t before = 0, behind = 0;                     // rows that are used, counted from the iteration's own
    for (const array_access& one : a.accesses) {
      reads = reads || one.sees_before;
      writes = writes || one.writes;
      covered = covered || (one.writes && one.always && one.reach.covers_row);
      const bool differs = rows != nullptr && !one.reach.whole && !(one.reach.row_elements == rows->reach.row_elements);
      if (strange == nullptr && (one.reach.whole || differs)) strange = &one;
      if (one.reach.whole) continue;
      before = rows == nullptr ? -one.reach.lowest : std::max(before, -one.reach.lowest);
      behind = rows == nullptr ? one.reach.highest : std::max(behind, one.reach.highest);
      if (rows == nullptr) rows = &one;
    }
    if (writes) {
      for (const array_access& one : a.accesses)
        if (strange == nullptr && (one.reach.lowest != 0 || one.reach.highest != 0 || meets(a, one))) strange = &one;
      made.how = array_use::intent::update;
    }
    if (strange != nullptr) {
      made.pattern = "whole";
      made.row_elements = "0";  // of any length
      if (writes && !in_order()) refuse(a, *strange);
      if (writes) m_made.host_alone = fmt::format("iterations depend on each other through '{}'", a.name);
      if (!writes) m_messages.remark(strange->where->getBeginLoc(), whole_remark(a, *strange));
      return made;
    }
    made.pattern = before == 0 && behind == 0 ? "chunk"
                   : before == behind         ? fmt::format("halo({})", behind)
                                              : fmt::format("halo({}, {})", before, behind);
    for (const array_access& one : a.accesses) {
      if (made.pattern == "chunk" || !one.always || !one.in_loops.empty()) continue;
      made.surely_from = std::min(made.surely_from, one.reach.lowest);
      made.surely_to = std::max(made.surely_to, one.reach.highest);
    }
    if (!(rows->reach.row_elements == polynomial::constant(1))) made.row_elements = rows->reach.row_elements.text();
    if (writes && !reads && covered && counts_by_one(loop)) made.how = array_use::intent::write;
    return made;
  }
  /// Whether other iterations of collapsed loops use the element too.
  bool meets(const body_array& a, const array_access& one) const {
    return m_depth > 1 && (!one.place || one.place != a.accesses.front().place);
  }
  static std::string whole_remark(const body_array& a, const array_access& at) {
    return fmt::format("each leaf gets all of '{}': {}", a.name,
                       at.reach.why.empty() ? "its subscripts mean rows of several lengths" : at.reach.why);
  }
  void refuse(const body_array& a, const array_access& at) {
    const std::string why = at.reach.whole ? at.reach.why
                            : at.reach.lowest != 0 || at.reach.highest != 0
                                ? fmt::format("this is {} rows from the iteration's own",
                                              at.reach.highest != 0 ? at.reach.highest : at.reach.lowest)
                            : meets(a, at) ? "with collapse, each element belongs to one iteration of all loops"
                                           : "its subscripts mean rows of several lengths";
    const std::string message =
        at.writes ? fmt::format("'{}' is written where other iterations may use it: {}", a.name, why)
                  : fmt::format("'{}' is written by other iterations while this one reads it: {}", a.name, why);
    m_messages.error(
        at.where->getBeginLoc(), message,
        meets(a, at) ? "write x[i][j], or x[i * m + j] with j from 0 to less than m; or collapse fewer loops"
        : at.writes  ? "write the row of the loop's index, or run the loop in order on one leaf with exec_pol(any)"
                     : "write the result to another array, or run the loop in order on one leaf with "
                       "exec_pol(any)");
  }

  // ---- the model ----

  void write_kernel_of(const loop_nest& nest, const body_facts& facts) {
    if (!m_made.host_alone.empty()) return;
    kernel_text kernel = write_kernel(nest, facts, m_reductions, m_around.chains, m_around.context);
    if (kernel.text.empty()) {
      m_made.host_alone = kernel.why_not;
      m_messages.remark(kernel.where,
                        fmt::format("this region runs on the host alone: no kernel has {}", kernel.why_not));
    }
    m_made.model.kernel = std::move(kernel.text);
    m_made.model.kernel_values = std::move(kernel.values);
  }

  void describe(const loop_nest& nest, const body_facts& facts) {
    region_model& to = m_made.model;
    to.name = fmt::format("{}:{}", m_around.file, m_text.line(m_region.where.begin));
    for (const canonical_loop& loop : nest.loops) to.loops.push_back(head_of(loop));
    m_made.body = &nest.body();
    for (const body_scalar& s : facts.scalars)
      if (s.captured)
        to.captures.push_back(s.is_global ? s.name + " = " + (s.written.empty() ? s.name : s.written) : s.name);
    for (const clang::DeclRefExpr* e : facts.qualified) {
      const std::size_t begin = m_text.offset(e->getBeginLoc()), name = m_text.offset(e->getLocation());
      if (e->getBeginLoc().isMacroID() || e->getLocation().isMacroID() || begin >= name)
        m_messages.error(e->getBeginLoc(), "a qualified name in a macro", "write it out");
      else
        m_text.change({begin, name}, "");
    }
    for (const body_array& a : facts.arrays)
      if (!a.inner.empty())
        for (const array_access& one : a.accesses) with_parentheses(*one.where);
    m_made.continues = facts.continues;
  }

  loop_model head_of(const canonical_loop& loop) {
    static const std::map<clang::BinaryOperatorKind, const char*> tests = {{clang::BO_LT, "less"},
                                                                           {clang::BO_LE, "up_to"},
                                                                           {clang::BO_GT, "greater"},
                                                                           {clang::BO_GE, "down_to"},
                                                                           {clang::BO_NE, "differs"}};
    loop_model made;
    made.index_type =
        loop.index->getType().getCanonicalType().getUnqualifiedType().getAsString(m_around.context.getPrintingPolicy());
    made.index = loop.index->getNameAsString();
    made.begin = m_text.text_of(*loop.begin);
    made.bound = m_text.text_of(*loop.bound);
    made.step = loop.step == nullptr ? "1" : m_text.text_of(*loop.step);
    made.test = tests.at(loop.test);
    made.down = loop.down;
    const clang::SourceLocation at = m_text.manager().getExpansionLoc(loop.condition().getBeginLoc());
    made.line = m_text.manager().getExpansionLineNumber(at);
    made.column = m_text.manager().getExpansionColumnNumber(at);
    for (const auto& [part, text] :
         {std::pair(loop.begin, &made.begin), std::pair(loop.bound, &made.bound), std::pair(loop.step, &made.step)})
      if (text->empty())
        m_messages.error(part->getBeginLoc(), "a part of the loop's head is in a macro", "write it out");
    if (const std::string fault = known_fault(loop, m_around.context); !fault.empty())
      m_messages.error(at, fmt::format("the loop over '{}' {}", made.index, fault),
                       "compare the index with a bound that it reaches, or give it another type");
    return made;
  }

  /// x[i][j] is x(i, j) in the body.
  void with_parentheses(const clang::Expr& access) {
    const clang::Expr* at = &access;
    bool last = true;
    while (const auto* one = llvm::dyn_cast<clang::ArraySubscriptExpr>(at->IgnoreParenImpCasts())) {
      const std::size_t close = m_text.offset(one->getRBracketLoc());
      const auto base = m_text.of(one->getBase()->getSourceRange());
      const auto* inner = llvm::dyn_cast<clang::ArraySubscriptExpr>(one->getBase()->IgnoreParenImpCasts());
      if (!base) return m_messages.error(access.getBeginLoc(), "an array of several dimensions in a macro");
      const std::size_t open = m_text.text().find('[', base->end);
      m_text.change({open, open + 1}, inner == nullptr ? "(" : "");
      m_text.change({close, close + 1}, last ? ")" : ", ");
      last = false;
      at = one->getBase();
    }
  }

  const found_directive& m_region;
  const region_surroundings& m_around;
  source& m_text;
  report& m_messages;
  std::size_t m_depth = 1;  // loops that are collapsed
  std::vector<body_reduction> m_reductions;
  analysed_region m_made;
};

}  // namespace

std::optional<analysed_region> analyse_region(const found_directive& region, const clang::ForStmt& loop,
                                              const region_surroundings& around, source& text, report& messages) {
  return region_reader(region, around, text, messages).read(loop);
}

}  // namespace tessera::directive
