#include "languages/sial/language/check/names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/suggest.hpp"

namespace tessera::sial {

namespace {

std::string suggestion(const std::string& name, const std::vector<std::string>& known, const std::string& prefix = "") {
  const std::string nearest = name.size() < 2 || name.size() > 100 ? "" : suggest(name, known);
  return nearest.empty() ? "" : fmt::format("did you mean '{}{}'?", prefix, nearest);
}

}  // namespace

std::string with_article(entity_kind kind) {
  switch (kind) {
    case entity_kind::program:
      return "the name of a program";
    case entity_kind::index:
      return "an index";
    case entity_kind::integer:
      return "an int";
    case entity_kind::scalar:
      return "a scalar";
    case entity_kind::array:
      return "an array";
    case entity_kind::special:
      return "a super instruction";
    case entity_kind::procedure:
      return "a procedure";
    case entity_kind::unclear:
      break;
  }
  return "unclear";
}

scope::scope(const syntax::file& file, std::vector<const scope*> imported, const source_set& sources,
             message_list& messages)
    : m_program(file.id.text),
      m_imported(std::move(imported)),
      m_sources(sources),
      m_messages(messages),
      m_complete(file.complete) {
  for (const syntax::declaration& d : file.declarations) m_later.emplace(d.id.text, d.id.where.where);
  for (const std::string& name : file.unclear) m_own.emplace(name, entity{});
  m_own.insert_or_assign(m_program, entity{entity_kind::program, no_symbol, file.id.where.where});
  std::vector<std::string> seen{m_program};
  for (std::size_t k = 0; k < m_imported.size(); ++k) {
    m_complete = m_complete && m_imported[k]->m_complete;
    const std::string& name = m_imported[k]->m_program;
    if (std::ranges::count(seen, name) != 0 && !name.empty() && !file.imports.empty())
      m_messages.error(file.imports[std::min(k, file.imports.size() - 1)].where,
                       fmt::format("two programs here are called '{}'", name),
                       "rename one, so that qualified names are clear");
    seen.push_back(name);
  }
}

const entity* scope::own(const std::string& name) const {
  const auto found = m_own.find(name);
  return found == m_own.end() ? nullptr : &found->second;
}

bool scope::declare(const syntax::name& n, entity_kind kind, symbol number) {
  if (const entity* old = own(n.text); old && old->kind != entity_kind::unclear) {
    m_messages.error(n.where, old->kind == entity_kind::program
                                  ? fmt::format("'{}' is the name of this program", n.text)
                                  : fmt::format("'{}' is declared already, in line {}", n.text, old->where.line));
    return false;
  }
  for (const scope* s : m_imported) {
    const entity* old = s->own(n.text);
    if (!old || old->kind == entity_kind::program || old->kind == entity_kind::unclear) continue;
    m_messages.error(n.where, fmt::format("'{}' is declared already, in the imported program '{}' ({}:{})", n.text,
                                          s->m_program, m_sources.files[old->where.file].path, old->where.line));
    return false;
  }
  m_own.insert_or_assign(n.text, entity{kind, number, n.where.where});
  return true;
}

const entity& scope::qualified(const syntax::name& n, std::size_t dot) const {
  const std::string program = n.text.substr(0, dot), name = n.text.substr(dot + 1);
  std::vector<std::string> known{m_program};
  const scope* in = program == m_program ? this : nullptr;
  for (const scope* s : m_imported) {
    known.push_back(s->m_program);
    if (!in && s->m_program == program) in = s;
  }
  if (!in) {
    if (!m_complete) throw check_failed{};
    fail(n.where, fmt::format("no program '{}' is imported here", program), suggestion(program, known));
  }
  const entity* e = in->own(name);
  if (e && e->kind == entity_kind::unclear) throw check_failed{};
  if (e) return *e;
  if (!in->m_complete) throw check_failed{};
  std::vector<std::string> names;
  if (!m_messages.full()) in->add_names(names);
  std::string hint = suggestion(name, names, program + ".");
  if (hint.empty() && in != this) hint = "what it imports itself is not visible through it";
  fail(n.where, fmt::format("program '{}' declares no '{}'", program, name), hint);
}

void scope::add_names(std::vector<std::string>& names) const {
  for (const auto& [name, what] : m_own)
    if (what.kind != entity_kind::program) names.push_back(name);
}

void scope::unknown(const syntax::name& n) const {
  if (const auto later = m_later.find(n.text); later != m_later.end())
    fail(n.where, fmt::format("'{}' is used before its declaration in line {}", n.text, later->second.line));
  if (!m_complete) throw check_failed{};
  if (m_messages.full()) fail(n.where, fmt::format("'{}' is not declared", n.text));
  std::vector<std::string> names;
  add_names(names);
  for (const scope* s : m_imported) s->add_names(names);
  fail(n.where, fmt::format("'{}' is not declared", n.text), suggestion(n.text, names));
}

const entity& scope::find(const syntax::name& n) const {
  if (const auto dot = n.text.find('.'); dot != n.text.npos) return qualified(n, dot);
  const entity* found = own(n.text);
  const scope* in = nullptr;
  if (!found)
    for (const scope* s : m_imported) {
      const entity* e = s->own(n.text);
      if (!e || e->kind == entity_kind::program) continue;
      if (found)
        fail(n.where,
             fmt::format("'{}' is ambiguous: the programs '{}' and '{}' declare it", n.text, in->m_program,
                         s->m_program),
             fmt::format("write '{}.{}' or '{}.{}'", in->m_program, n.text, s->m_program, n.text));
      found = e, in = s;
    }
  if (!found) unknown(n);
  if (found->kind == entity_kind::unclear) throw check_failed{};
  return *found;
}

symbol scope::find(const syntax::name& n, entity_kind kind) const {
  const entity& e = find(n);
  if (e.kind != kind)
    fail(n.where, fmt::format("'{}' is {}, not {}", n.text, with_article(e.kind), with_article(kind)));
  return e.number;
}

}  // namespace tessera::sial
