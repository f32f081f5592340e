#include "languages/sial/language/check/bodies.hpp"

#include <fmt/format.h>

#include <unordered_map>

namespace tessera::sial {
namespace {

// Whether an index is part of an expression.
bool has_index(const expression& e) {
  return e.kind == operation::index_variable || std::ranges::any_of(e.operands, has_index);
}

using checker = statement_form (*)(environment&, const syntax::statement&);

checker checker_of(const std::string& word) {
  static const std::unordered_map<std::string, checker> checkers = {{"=", check_assignment},
                                                                    {"get", check_fetch},
                                                                    {"request", check_fetch},
                                                                    {"put", check_store},
                                                                    {"prepare", check_store},
                                                                    {"create", check_create},
                                                                    {"delete", check_create},
                                                                    {"destroy", check_create},
                                                                    {"allocate", check_allocate},
                                                                    {"deallocate", check_allocate},
                                                                    {"collective", check_collective},
                                                                    {"broadcast_from", check_collective},
                                                                    {"assert_same", check_collective},
                                                                    {"execute", check_execute},
                                                                    {"set_persistent", check_persistent},
                                                                    {"restore_persistent", check_persistent},
                                                                    {"gpu_allocate", check_gpu_transfer},
                                                                    {"gpu_free", check_gpu_transfer},
                                                                    {"gpu_put", check_gpu_transfer},
                                                                    {"gpu_get", check_gpu_transfer},
                                                                    {"print", check_print},
                                                                    {"println", check_print}};
  const auto found = checkers.find(word);
  return found == checkers.end() ? nullptr : found->second;
}

}  // namespace

void body_checker::has_effect(const std::string& word, place where) {
  if (m_self != no_symbol && !m_effects[m_self]) m_effects[m_self] = forbidden_in_pardo{word, where};
}

void body_checker::not_in_pardo(const syntax::statement& s) {
  has_effect(s.word, s.where.where);
  if (m_in.in_pardo) m_in.fail(s.where, fmt::format("'{}' stands in no pardo", s.word));
}

std::optional<symbol> body_checker::loop_index(const syntax::name& n, const syntax::name& within) {
  try {
    const symbol index = m_in.names.find(n, entity_kind::index);
    const index_declaration& i = m_in.out.indices[index];
    if (within.text.empty() && i.kind == index_kind::sub)
      m_in.fail(n.where, fmt::format("'{}' is a subindex: it runs within its parent", n.text),
                fmt::format("write 'do {} in {}'", n.text, m_in.out.indices[i.parent].name));
    if (!within.text.empty()) {
      const symbol parent = m_in.names.find(within, entity_kind::index);
      if (i.kind != index_kind::sub || i.parent != parent)
        m_in.fail(n.where, fmt::format("'{}' is no subindex of '{}'", n.text, within.text));
      bound_index(m_in, within);
    }
    if (std::ranges::find(m_in.bound, index) != m_in.bound.end())
      m_in.fail(n.where, fmt::format("a loop over '{}' is around this one already", n.text),
                "nested loops have different indices");
    return index;
  } catch (const check_failed&) {
    return {};
  }
}

std::vector<relation> body_checker::wheres(const std::vector<syntax::relation>& all) {
  std::vector<relation> checked;
  for (const syntax::relation& r : all) {
    try {
      relation c = check_relation(m_in, r);
      if (c.left.type != value_type::integer) m_in.fail(r.where, "'where' compares ints, not scalars");
      if (!has_index(c.left) && !has_index(c.right))
        m_in.fail(r.where, "no index in this 'where'", "it chooses among the values of indices");
      checked.push_back(std::move(c));
    } catch (const check_failed&) {
    }
  }
  return checked;
}

body body_checker::inside_loop(const syntax::statement& s, std::vector<relation>& where,
                               const std::vector<symbol>& indices, bool pardo) {
  const environment before = m_in;
  m_in.bound.insert(m_in.bound.end(), indices.begin(), indices.end());
  m_in.any_index_bound = m_in.any_index_bound || s.incomplete || indices.size() != s.names.size();
  m_in.in_pardo = m_in.in_pardo || pardo;
  ++m_in.loops;
  where = wheres(s.conditions);
  body checked = check(s.inside);
  m_in.bound = before.bound, m_in.any_index_bound = before.any_index_bound, m_in.in_pardo = before.in_pardo,
  m_in.loops = before.loops;
  return checked;
}

statement_form body_checker::do_form(const syntax::statement& s) {
  do_loop loop;
  std::vector<symbol> indices;
  if (!s.names.empty())
    if (const auto index = loop_index(s.names[0], s.within)) {
      loop.index = *index, indices.push_back(*index);
      if (!s.within.text.empty()) loop.within = m_in.out.indices[*index].parent;
    }
  loop.inside = inside_loop(s, loop.where, indices, false);
  return loop;
}

statement_form body_checker::pardo_form(const syntax::statement& s) {
  if (m_in.in_pardo) m_in.messages.error(s.where, "a pardo stands in no other pardo");
  has_effect("pardo", s.where.where);
  pardo_loop loop;
  loop.pragma = s.text;
  if (s.has_text)
    m_in.messages.warning(s.where, fmt::format("the pragma \"{}\" is not known and has no effect", s.text));
  if (s.names.size() > max_array_rank)
    m_in.messages.error(s.names[max_array_rank].where, fmt::format("a pardo has {} indices at most", max_array_rank));
  for (std::size_t k = 0; k < std::min(s.names.size(), max_array_rank); ++k) {
    const syntax::name& n = s.names[k];
    const auto index = loop_index(n, {});
    if (!index) continue;
    if (std::ranges::find(loop.indices, *index) != loop.indices.end())
      m_in.messages.error(n.where, fmt::format("'{}' is twice an index of this pardo", n.text));
    loop.indices.push_back(*index);
  }
  loop.inside = inside_loop(s, loop.where, loop.indices, true);
  return loop;
}

statement_form body_checker::if_form(const syntax::statement& s) {
  if_statement c;
  try {
    if (!s.conditions.empty()) c.condition = check_relation(m_in, s.conditions[0]);
  } catch (const check_failed&) {
  }
  c.then = check(s.inside);
  c.otherwise = check(s.otherwise);
  return c;
}

statement_form body_checker::call_form(const syntax::statement& s) {
  const symbol procedure = m_in.names.find(s.names[0], entity_kind::procedure);
  m_in.out.procedures[procedure].called = true;
  if (procedure == m_self)
    m_in.messages.warning(s.where, fmt::format("procedure '{}' calls itself", s.names[0].text),
                          "recursion has no limit");
  if (const auto& effect = m_effects[procedure]) {
    const forbidden_in_pardo found = *effect;
    if (m_in.in_pardo)
      m_in.fail(s.names[0].where,
                fmt::format("'{}' in procedure '{}' stands in no pardo, and this call is in one", found.word,
                            s.names[0].text),
                fmt::format("it is in line {} of {}", found.where.line, m_in.out.sources.files[found.where.file].path));
    has_effect(found.word, found.where);
  }
  return call_statement{procedure};
}

statement_form body_checker::section_form(const syntax::statement& s) {
  for (const syntax::statement& inside : s.inside)
    if (inside.word != "pardo") m_in.messages.error(inside.where, "a section holds pardos only");
  return section_statement{check(s.inside)};
}

statement_form body_checker::form_of(const syntax::statement& s) {
  if (const checker f = checker_of(s.word)) {
    if (s.word == "create") not_in_pardo(s);
    return f(m_in, s);
  }
  if (s.word == "do") return do_form(s);
  if (s.word == "pardo") return pardo_form(s);
  if (s.word == "if") return if_form(s);
  if (s.word == "section") return section_form(s);
  if (s.word == "gpu_on") return gpu_section{check(s.inside)};
  if (s.word == "call") return call_form(s);
  if (s.word == "stop") return stop_statement{};
  if (s.word == "return") {
    if (m_self == no_symbol)
      m_in.fail(s.where, "'return' stands in a procedure only",
                "'exit' leaves a loop, 'stop' ends the job with an error");
    return return_statement{};
  }
  if (s.word == "exit") {
    if (m_in.loops == 0)
      m_in.fail(s.where, "'exit' stands in a loop only",
                m_self == no_symbol ? "" : "the loop is in the same procedure; 'return' leaves the procedure");
    return exit_statement{};
  }
  not_in_pardo(s);  // sip_barrier, server_barrier
  return barrier_statement{s.word == "server_barrier"};
}

body body_checker::check(const std::vector<syntax::statement>& all) {
  body checked;
  for (const syntax::statement& s : all) {
    try {
      checked.push_back({s.where.where, form_of(s)});
    } catch (const check_failed&) {
    }
  }
  return checked;
}

}  // namespace tessera::sial
