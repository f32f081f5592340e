#include "languages/sial/code/accumulations.hpp"

#include <algorithm>
#include <map>

#include "languages/sial/language/parts.hpp"
#include "languages/sial/language/subscripts.hpp"

namespace tessera::sial {
namespace {

/// Where a statement names a temp array.
struct mention {
  const statement* at;
  const body* in;                       ///< the list that the statement is in
  std::vector<const statement*> loops;  ///< around it, outermost first
  bool in_procedure;
};

/// Calls function(array) for every array that a statement names itself, those of the statements inside of it left out.
template <class Function>
struct array_names : part_hooks {
  explicit array_names(Function& f) : function(f) {}
  void reads(const block_reference& b) {
    function(b.array);
    for (const subscript& s : b.subscripts)
      if (s.value != nullptr) value(*s.value);
  }
  void writes(const block_reference& b) { reads(b); }
  void argument(const block_reference& b) { reads(b); }
  void region(const region_reference& r) {
    function(r.array);
    for (const auto& [low, high] : r.ranges) value(low), value(high);
  }
  void array(symbol a) { function(a); }
  void value(const expression& e) {
    for (const expression& operand : e.operands) value(operand);
    for (const block_reference& b : e.blocks) reads(b);
  }
  Function& function;
};

template <class Function>
void for_each_name(const statement& s, Function f) {
  array_names<Function> names(f);
  std::visit([&names](const auto& what) { parts_of(what, names); }, s.form);
}

/// The block that a statement gives all elements of, not looking at those that it had.
const block_reference* defined_by(const statement& s) {
  return std::visit(
      [](const auto& what) -> const block_reference* {
        if constexpr (requires {
                        what.assignment == assign::set;
                        what.to.subscripts;
                      })
          return what.assignment == assign::set ? &what.to : nullptr;
        else
          return nullptr;
      },
      s.form);
}

bool same_block(const block_reference& a, const block_reference& b) {
  return a.array == b.array && std::ranges::equal(a.subscripts, b.subscripts, same_subscript);
}

class search {
 public:
  explicit search(const program& p) : m_program(p) {
    for (const unit& u : p.units) walk(u.inside, false);
    for (const procedure& one : p.procedures)
      if (one.called) walk(one.inside, true);
  }

  std::set<const statement*> run() {
    std::set<const statement*> found;
    for (const auto& [array, mentions] : m_mentions)
      for (std::size_t k = 0; k + 1 < mentions.size(); ++k)
        if (is_pair(mentions[k], mentions[k + 1]) && ends_behind(mentions, k)) found.insert(mentions[k].at);
    return found;
  }

 private:
  void walk(const body& statements, bool in_procedure) {
    for (const statement& s : statements) {
      const bool is_loop = std::holds_alternative<do_loop>(s.form) || std::holds_alternative<pardo_loop>(s.form);
      if (is_loop) m_loops.push_back(&s);
      for_each_name(s, [&](symbol array) {
        if (m_program.arrays[array].kind != array_kind::temp) return;
        auto& all = m_mentions[array];
        if (all.empty() || all.back().at != &s) all.push_back({&s, &statements, m_loops, in_procedure});
      });
      std::visit(
          [&](const auto& what) {
            if constexpr (requires { what.inside; }) walk(what.inside, in_procedure);
            if constexpr (requires { what.then; }) walk(what.then, in_procedure), walk(what.otherwise, in_procedure);
          },
          s.form);
      if (is_loop) m_loops.pop_back();
    }
  }

  static bool is_pair(const mention& first, const mention& second) {
    if (first.in != second.in || first.at + 1 != second.at || first.loops.empty()) return false;
    const auto* const sum = std::get_if<block_copy>(&second.at->form);
    const block_reference* const made = defined_by(*first.at);
    if (sum == nullptr || (sum->assignment != assign::add && sum->assignment != assign::subtract) || made == nullptr)
      return false;
    if (!same_block(*made, sum->from) || sum->to.array == made->array) return false;
    if (std::ranges::any_of(made->subscripts, [](const subscript& s) { return s.value != nullptr; }))
      return false;  // might be another one
    const bool same_order = std::ranges::equal(made->subscripts, sum->to.subscripts, same_subscript);
    if (const auto* product = std::get_if<block_product>(&first.at->form))
      return product->left.array != made->array && product->right.array != made->array &&
             permuted(made->subscripts, sum->to.subscripts);
    if (const auto* scaled = std::get_if<block_scaled>(&first.at->form))
      return scaled->from.array != made->array && same_order;
    if (const auto* copy = std::get_if<block_copy>(&first.at->form))
      return copy->from.array != made->array && same_order;
    return false;
  }

  /// The block of the pair that begins with mention k is one of the iteration, and no statement reads it behind the
  /// pair.
  static bool ends_behind(const std::vector<mention>& all, std::size_t k) {
    const std::vector<const statement*>& around = all[k].loops;
    const auto in_loop = [&](const mention& m) { return std::ranges::find(m.loops, around.back()) != m.loops.end(); };
    for (const mention& m : all) {
      if (in_loop(m)) continue;
      if (m.in_procedure || all[k].in_procedure || m.loops.empty()) return false;
      if (std::ranges::find(around, m.loops.back()) != around.end())
        return false;  // named in a loop around: it may live there already
    }
    if (k + 2 == all.size() || !in_loop(all[k + 2])) return true;
    const block_reference* const anew = defined_by(*all[k + 2].at);
    return all[k + 2].in == all[k].in && anew != nullptr && same_block(*anew, *defined_by(*all[k].at)) &&
           !reads(*all[k + 2].at, anew->array);
  }

  /// A definition that also uses the array on its right side.
  static bool reads(const statement& s, symbol array) {
    int times = 0;
    for_each_name(s, [&](symbol named) { times += named == array ? 1 : 0; });
    return times > 1;
  }

  const program& m_program;
  std::vector<const statement*> m_loops;
  std::map<symbol, std::vector<mention>> m_mentions;  // in the order of the text
};

}  // namespace

std::set<const statement*> find_accumulations(const program& p) { return search(p).run(); }

statement joined(const statement& first, const statement& second) {
  const auto& sum = std::get<block_copy>(second.form);
  statement made = first;
  std::visit(
      [&](auto& what) {
        if constexpr (requires {
                        what.assignment = assign::set;
                        what.to = sum.to;
                      }) {
          what.to = sum.to;
          what.assignment = sum.assignment;
        }
      },
      made.form);
  return made;
}

}  // namespace tessera::sial
