// The dump of a checked program.
#include <fmt/format.h>

#include "languages/sial/language/subscripts.hpp"

namespace tessera::sial {
namespace {

constexpr const char* index_words[] = {"aoindex", "moindex", "moaindex", "mobindex", "index", "laindex", "subindex"};
constexpr const char* array_words[] = {"static", "temp", "local", "contiguous local", "distributed", "served"};
constexpr const char* relation_words[] = {"<", "<=", ">", ">=", "==", "!="};
constexpr const char* assign_words[] = {"=", "+=", "-=", "*="};
constexpr const char* gpu_words[] = {"gpu_allocate", "gpu_free", "gpu_put", "gpu_get"};
constexpr const char* print_words[] = {"text",      "scalar", "int",    "index", "scalar value",
                                       "int value", "block",  "region", "whole"};

const char* word(assign how) { return assign_words[static_cast<std::size_t>(how)]; }

class printer {
 public:
  explicit printer(const program& p) : m_p(p) {}

  std::string run() {
    for (const auto& d : m_p.indices) index(d);
    for (const auto& d : m_p.ints)
      m_text += fmt::format("{}int {} = {}\n", d.predefined ? "predefined " : "", d.name, d.value);
    for (const auto& d : m_p.scalars)
      m_text += fmt::format("{}scalar {} = {}\n", d.predefined ? "predefined " : "", d.name, d.value);
    for (const auto& d : m_p.arrays)
      m_text += fmt::format("{}{} {}[{}]\n", d.predefined ? "predefined " : "",
                            array_words[static_cast<std::size_t>(d.kind)], d.name, indices(d.indices));
    for (const auto& d : m_p.specials)
      m_text += fmt::format("special {}{}{}\n", d.name, d.signature.empty() ? "" : " ", d.signature);
    for (const auto& d : m_p.procedures) {
      m_text += fmt::format("proc {}{}\n", d.name, d.called ? "" : " (not called)");
      add(d.inside);
    }
    for (const unit& u : m_p.units) {
      m_text += "sial " + u.name + "\n";
      add(u.inside);
    }
    return std::move(m_text);
  }

 private:
  std::string text(const bound& b) const {
    return b.constant == no_symbol ? fmt::format("{}", b.value) : m_p.ints[b.constant].name;
  }
  template <class T>
  std::string text(const T& t) const {
    return to_text(m_p, t);
  }
  std::string text(const relation& r) const {
    return fmt::format("{} {} {}", text(r.left), relation_words[static_cast<std::size_t>(r.kind)], text(r.right));
  }
  const std::string& array(symbol a) const { return m_p.arrays[a].name; }

  std::string indices(const std::vector<symbol>& all) const {
    std::string list;
    for (const symbol s : all)
      list += (list.empty() ? "" : ",") + (s == no_symbol ? std::string("*") : m_p.indices[s].name);
    return list;
  }

  void index(const index_declaration& d) {
    m_text += fmt::format("{} {}", index_words[static_cast<std::size_t>(d.kind)], d.name);
    m_text += d.kind == index_kind::sub ? fmt::format(" of {}\n", m_p.indices[d.parent].name)
                                        : fmt::format(" = {}:{}\n", text(d.low), text(d.high));
  }

  void line(const std::string& what) { m_text.append(2 * m_level, ' ').append(what).append("\n"); }

  void add(const body& all) {
    ++m_level;
    for (const statement& s : all) std::visit([&](const auto& f) { add(f); }, s.form);
    --m_level;
  }

  void wheres(const std::vector<relation>& all) {
    ++m_level;
    for (const relation& r : all) line("where " + text(r));
    --m_level;
  }

  void add(const do_loop& s) {
    line("do " + m_p.indices[s.index].name + (s.within == no_symbol ? "" : " in " + m_p.indices[s.within].name));
    wheres(s.where), add(s.inside);
  }
  void add(const pardo_loop& s) {
    line("pardo " + indices(s.indices) + (s.pragma.empty() ? "" : " \"" + s.pragma + "\""));
    wheres(s.where), add(s.inside);
  }
  void add(const if_statement& s) {
    line("if " + text(s.condition)), add(s.then);
    if (!s.otherwise.empty()) line("else"), add(s.otherwise);
  }
  void add(const section_statement& s) { line("section"), add(s.inside); }
  void add(const gpu_section& s) { line("gpu_on"), add(s.inside); }
  void add(const call_statement& s) { line("call " + m_p.procedures[s.procedure].name); }
  void add(const return_statement&) { line("return"); }
  void add(const stop_statement&) { line("stop"); }
  void add(const exit_statement&) { line("exit"); }
  void add(const barrier_statement& s) { line(s.server ? "server_barrier" : "sip_barrier"); }
  void add(const fetch_statement& s) { line("fetch " + text(s.block)); }
  void add(const store_statement& s) {
    const bool block = std::holds_alternative<block_reference>(s.from);
    line(fmt::format("store {} {} {} {}", block ? "block" : "number", text(s.to), word(s.assignment),
                     std::visit([&](const auto& f) { return text(f); }, s.from)));
  }
  void add(const create_statement& s) { line("create " + array(s.array)); }
  void add(const delete_statement& s) { line("delete " + array(s.array)); }
  void add(const allocate_statement& s) {
    line(fmt::format("{} {}[{}]", s.release ? "deallocate" : "allocate", array(s.array),
                     s.subscripts.empty() ? "everything" : indices(s.subscripts)));
  }
  void add(const allocate_region_statement& s) {
    line(fmt::format("{} region {}", s.release ? "deallocate" : "allocate", text(s.region)));
  }
  void add(const collective_statement& s) {
    line(fmt::format("collective {} += {}", m_p.scalars[s.scalar].name, text(s.value)));
  }
  void add(const broadcast_statement& s) { line(fmt::format("broadcast {} from {}", array(s.array), text(s.from))); }
  void add(const assert_same_statement& s) { line("assert_same " + m_p.scalars[s.scalar].name); }

  std::string argument_text(const execute_argument& a) const {
    if (const auto* x = std::get_if<scalar_argument>(&a)) return m_p.scalars[x->scalar].name;
    if (const auto* x = std::get_if<literal_argument>(&a)) return fmt::format("{}", x->value);
    if (const auto* x = std::get_if<block_reference>(&a)) return text(*x);
    if (const auto* x = std::get_if<region_reference>(&a)) return text(*x);
    return "whole " + array(std::get<whole_array>(a).array);
  }
  void add(const execute_statement& s) {
    std::string list;
    for (const execute_argument& a : s.arguments) list += (list.empty() ? "" : ", ") + argument_text(a);
    line(fmt::format("execute {}({})", m_p.specials[s.special].name, list));
  }
  void add(const persistent_statement& s) {
    line(fmt::format("{} {} \"{}\"", s.restore ? "restore" : "persist",
                     s.is_scalar ? m_p.scalars[s.operand].name : array(s.operand), s.label));
  }
  void add(const gpu_transfer& s) {
    const auto* block = std::get_if<block_reference>(&s.operand);
    line(fmt::format("{} {}", gpu_words[static_cast<std::size_t>(s.kind)],
                     block ? text(*block) : array(std::get<whole_array>(s.operand).array)));
  }
  std::string printed(const std::string& s) const { return "\"" + s + "\""; }
  std::string printed(const whole_array& w) const { return array(w.array); }
  template <class T>
  std::string printed(const T& t) const {
    return text(t);
  }
  void add(const print_statement& s) {
    line(fmt::format("{} {} {}", s.line ? "println" : "print", print_words[static_cast<std::size_t>(s.form)],
                     std::visit([&](const auto& w) { return printed(w); }, s.operand)));
  }

  void assigned(const char* form, const std::string& to, assign how, const std::string& value) {
    line(fmt::format("{} {} {} {}", form, to, word(how), value));
  }
  void add(const assign_int& s) { assigned("int", m_p.ints[s.to].name, s.assignment, text(s.value)); }
  void add(const assign_scalar& s) { assigned("scalar", m_p.scalars[s.to].name, s.assignment, text(s.value)); }
  void add(const block_scalar& s) { assigned("fill", text(s.to), s.assignment, text(s.value)); }
  void add(const block_copy& s) { assigned("copy", text(s.to), s.assignment, text(s.from)); }
  void add(const block_sum& s) {
    assigned("sum", text(s.to), s.assignment, text(s.left) + (s.minus ? " - " : " + ") + text(s.right));
  }
  void add(const block_scaled& s) {
    assigned("scaled", text(s.to), s.assignment, text(s.factor) + " * " + text(s.from));
  }
  void add(const block_product& s) {
    assigned("product", text(s.to), s.assignment, text(s.left) + " * " + text(s.right));
  }
  void add(const block_slice& s) { assigned(s.insert ? "insert" : "slice", text(s.to), assign::set, text(s.from)); }
  void add(const region_fill& s) { assigned("region", text(s.to), assign::set, text(s.value)); }
  void add(const region_from_block& s) { assigned("region from block", text(s.to), assign::set, text(s.from)); }
  void add(const block_from_region& s) { assigned("block from region", text(s.to), assign::set, text(s.from)); }

  const program& m_p;
  std::string m_text;
  std::size_t m_level = 0;
};

}  // namespace

std::string to_text(const program& p) { return printer(p).run(); }

}  // namespace tessera::sial
