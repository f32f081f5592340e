#include "apps/sial/code/accumulations.hpp"

#include <algorithm>
#include <map>

#include "apps/sial/language/subscripts.hpp"

namespace tessera::sial {
namespace {

/// Where a statement names a temp array.
struct mention {
  const statement* at;
  const body* in;                        ///< the list that the statement is in
  std::vector<const statement*> loops;   ///< around it, outermost first
  bool in_procedure;
};

/// Calls function(array) for every array that a statement names itself, those of the statements inside of it left out.
template <class Function>
class naming {
 public:
  explicit naming(Function& function) : m_function(function) {}

  void operator()(const do_loop& s) { relations(s.where); }
  void operator()(const pardo_loop& s) { relations(s.where); }
  void operator()(const if_statement& s) { one(s.condition); }
  void operator()(const section_statement&) {}
  void operator()(const gpu_section&) {}
  void operator()(const call_statement&) {}
  void operator()(const return_statement&) {}
  void operator()(const stop_statement&) {}
  void operator()(const exit_statement&) {}
  void operator()(const barrier_statement&) {}
  void operator()(const fetch_statement& s) { one(s.block); }
  void operator()(const store_statement& s) {
    one(s.to);
    std::visit([this](const auto& what) { one(what); }, s.from);
  }
  void operator()(const create_statement& s) { m_function(s.array); }
  void operator()(const delete_statement& s) { m_function(s.array); }
  void operator()(const allocate_statement& s) { m_function(s.array); }
  void operator()(const allocate_region_statement& s) { one(s.region); }
  void operator()(const collective_statement& s) { one(s.value); }
  void operator()(const broadcast_statement& s) { one(s.from), m_function(s.array); }
  void operator()(const assert_same_statement&) {}
  void operator()(const execute_statement& s) {
    for (const argument& a : s.arguments) std::visit([this](const auto& what) { one(what); }, a);
  }
  void operator()(const persistent_statement& s) {
    if (!s.is_scalar) m_function(s.of);
  }
  void operator()(const gpu_transfer& s) {
    std::visit([this](const auto& what) { one(what); }, s.of);
  }
  void operator()(const print_statement& s) {
    std::visit([this](const auto& what) { one(what); }, s.what);
  }
  void operator()(const assign_int& s) { one(s.value); }
  void operator()(const assign_scalar& s) { one(s.value); }
  void operator()(const block_scalar& s) { one(s.to), one(s.value); }
  void operator()(const block_copy& s) { one(s.to), one(s.from); }
  void operator()(const block_sum& s) { one(s.to), one(s.left), one(s.right); }
  void operator()(const block_scaled& s) { one(s.to), one(s.factor), one(s.from); }
  void operator()(const block_product& s) { one(s.to), one(s.left), one(s.right); }
  void operator()(const block_slice& s) { one(s.to), one(s.from); }
  void operator()(const region_fill& s) { one(s.to), one(s.value); }
  void operator()(const region_from_block& s) { one(s.to), one(s.from); }
  void operator()(const block_from_region& s) { one(s.to), one(s.from); }

 private:
  void one(const block_reference& b) {
    m_function(b.array);
    for (const subscript& s : b.subscripts)
      if (s.value != nullptr) one(*s.value);
  }
  void one(const region_reference& r) {
    m_function(r.array);
    for (const auto& [low, high] : r.ranges) one(low), one(high);
  }
  void one(const whole_array& a) { m_function(a.array); }
  void one(const scalar_argument&) {}
  void one(const literal_argument&) {}
  void one(const std::string&) {}
  void one(const expression& e) {
    for (const expression& operand : e.operands) one(operand);
    for (const block_reference& b : e.blocks) one(b);
  }
  void one(const relation& r) { one(r.left), one(r.right); }
  void relations(const std::vector<relation>& all) {
    for (const relation& r : all) one(r);
  }
  Function& m_function;
};

/// The block that a statement gives all elements of, not looking at those that it had.
const block_reference* defined_by(const statement& s) {
  return std::visit(
      [](const auto& what) -> const block_reference* {
        if constexpr (requires { what.how == assign::set; what.to.subscripts; }) return what.how == assign::set ? &what.to : nullptr;
        else return nullptr;
      },
      s.what);
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
      const bool is_loop = std::holds_alternative<do_loop>(s.what) || std::holds_alternative<pardo_loop>(s.what);
      if (is_loop) m_loops.push_back(&s);
      const auto note = [&](symbol array) {
        if (m_program.arrays[array].kind != array_kind::temp) return;
        auto& all = m_mentions[array];
        if (all.empty() || all.back().at != &s) all.push_back({&s, &statements, m_loops, in_procedure});
      };
      std::visit(naming(note), s.what);
      std::visit(
          [&](const auto& what) {
            if constexpr (requires { what.inside; }) walk(what.inside, in_procedure);
            if constexpr (requires { what.then; }) walk(what.then, in_procedure), walk(what.otherwise, in_procedure);
          },
          s.what);
      if (is_loop) m_loops.pop_back();
    }
  }

  static bool is_pair(const mention& first, const mention& second) {
    if (first.in != second.in || first.at + 1 != second.at || first.loops.empty()) return false;
    const auto* const sum = std::get_if<block_copy>(&second.at->what);
    const block_reference* const made = defined_by(*first.at);
    if (sum == nullptr || (sum->how != assign::add && sum->how != assign::subtract) || made == nullptr) return false;
    if (!same_block(*made, sum->from) || sum->to.array == made->array) return false;
    if (std::ranges::any_of(made->subscripts, [](const subscript& s) { return s.value != nullptr; })) return false;  // might be another one
    const bool same_order = std::ranges::equal(made->subscripts, sum->to.subscripts, same_subscript);
    if (const auto* product = std::get_if<block_product>(&first.at->what))
      return product->left.array != made->array && product->right.array != made->array && permuted(made->subscripts, sum->to.subscripts);
    if (const auto* scaled = std::get_if<block_scaled>(&first.at->what)) return scaled->from.array != made->array && same_order;
    if (const auto* copy = std::get_if<block_copy>(&first.at->what)) return copy->from.array != made->array && same_order;
    return false;
  }

  /// The block of the pair that begins with mention k is one of the iteration, and nobody reads it behind the pair.
  static bool ends_behind(const std::vector<mention>& all, std::size_t k) {
    const std::vector<const statement*>& around = all[k].loops;
    const auto in_loop = [&](const mention& m) { return std::ranges::find(m.loops, around.back()) != m.loops.end(); };
    for (const mention& m : all) {
      if (in_loop(m)) continue;
      if (m.in_procedure || all[k].in_procedure || m.loops.empty()) return false;
      if (std::ranges::find(around, m.loops.back()) != around.end()) return false;  // named in a loop around: it may live there already
    }
    if (k + 2 == all.size() || !in_loop(all[k + 2])) return true;
    const block_reference* const anew = defined_by(*all[k + 2].at);
    return all[k + 2].in == all[k].in && anew != nullptr && same_block(*anew, *defined_by(*all[k].at)) && !reads(*all[k + 2].at, anew->array);
  }

  /// A definition that also uses the array on its right side.
  static bool reads(const statement& s, symbol array) {
    int times = 0;
    const auto count = [&](symbol named) { times += named == array ? 1 : 0; };
    std::visit(naming(count), s.what);
    return times > 1;
  }

  const program& m_program;
  std::vector<const statement*> m_loops;
  std::map<symbol, std::vector<mention>> m_mentions;  // in the order of the text
};

}  // namespace

std::set<const statement*> find_accumulations(const program& p) { return search(p).run(); }

statement joined(const statement& first, const statement& second) {
  const auto& sum = std::get<block_copy>(second.what);
  statement made = first;
  std::visit(
      [&](auto& what) {
        if constexpr (requires { what.how = assign::set; what.to = sum.to; }) {
          what.to = sum.to;
          what.how = sum.how;
        }
      },
      made.what);
  return made;
}

}  // namespace tessera::sial
