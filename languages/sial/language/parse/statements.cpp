#include "languages/sial/language/parse/statements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "languages/sial/language/parse/declarations.hpp"
#include "languages/sial/language/parse/expressions.hpp"

namespace tessera::sial {
namespace {

using syntax::name;

// The word that ends a construct.
std::string end_of(const std::string& word) { return word == "gpu_on" ? "gpu_off" : "end" + word; }

bool is_ending(const token& t) {
  if (t.kind != token_kind::keyword) return false;
  return t.text == "else" || t.text == "gpu_off" || (t.text.starts_with("end") && t.text.size() > 3);
}

std::string list(const std::vector<name>& names, const std::string& word) {
  std::string text;
  for (const name& n : names) text += (text.empty() ? "" : word == "do" ? " in " : ", ") + n.text;
  return text;
}

// "do i"
std::string title(const std::string& word, const std::vector<name>& names, const std::string& of) {
  return names.empty() ? word : word + " " + list(names, of);
}

bool same(const std::vector<name>& a, const std::vector<name>& b) {
  return std::ranges::equal(a, b, [](const name& x, const name& y) { return x.text == y.text; });
}

// The names on the rest of this line.
std::vector<name> names_of_end(cursor at) {
  std::vector<name> names;
  for (at.take(); !at.at_line_end(); at.take())
    if (at.here().kind == token_kind::identifier) names.push_back({at.here().text, at.here()});
  return names;
}

std::vector<name> names_of_loop(const syntax::statement& s) {
  std::vector<name> names = s.names;
  if (!s.within.text.empty()) names.push_back(s.within);
  return names;
}

}  // namespace

// Whether the line here ends `c`: by its word, and by its names unless no open construct has those.
bool statement_parser::ends(const construct& c) const {
  const token& t = m_at.here();
  if (t.is("else")) return c.word == "if" && !c.in_else;
  if (!t.is(end_of(c.word))) return false;
  const auto names = names_of_end(m_at);
  if (c.incomplete || same(names, c.names)) return true;
  return std::ranges::none_of(m_open, [&](const construct& o) { return o.word == c.word && same(o.names, names); });
}

// Whether the body of the innermost construct ends here; says so of an end without a beginning.
bool statement_parser::is_end() const {
  if (m_at.at_end() || m_at.here().is("endsial")) return true;
  if (m_at.here().is("proc") && m_open.front().word == "proc") return true;  // its end is missing
  return is_ending(m_at.here()) && std::ranges::any_of(m_open, [&](const construct& c) { return ends(c); });
}

void statement_parser::close() {
  const construct c = std::move(m_open.back());
  m_open.pop_back();
  const token& t = m_at.here();
  const std::string wanted = title(end_of(c.word), c.names, c.word);
  const bool reached = t.is(end_of(c.word)) && [&] {
    const auto names = names_of_end(m_at);
    return c.incomplete || same(names, c.names) ||
           std::ranges::none_of(m_open, [&](const construct& o) { return o.word == c.word && same(o.names, names); });
  }();
  if (!reached) {
    m_at.messages().error(t, fmt::format("'{}' is missing before {}", wanted, shown(t)),
                          fmt::format("'{}' begins in line {}", title(c.word, c.names, c.word), c.where.where.line));
    return;
  }
  if (c.incomplete) return m_at.skip_line();
  const auto names = names_of_end(m_at);
  const span where = names.empty() ? span(t) : names.front().where;
  if (!same(names, c.names))
    m_at.messages().error(where,
                          fmt::format("'{}' ends '{}' of line {}", title(t.text, names, c.word),
                                      title(c.word, c.names, c.word), c.where.where.line),
                          fmt::format("write '{}'", wanted));
  try {
    m_at.take();
    for (bool first = true; !m_at.at_line_end(); first = false) {
      if (!first && !m_at.accept(",") && !m_at.accept("in")) break;
      if (m_at.here().kind != token_kind::identifier) break;
      m_at.take();
    }
    m_at.end_of_line("'" + t.text + "'");
  } catch (const line_failed&) {
    m_at.skip_line();
  }
}

void statement_parser::where_lines(syntax::statement& s) {
  while (m_at.here().is("where")) {
    try {
      m_at.take();
      s.conditions.push_back(parse_relation(m_at));
      m_at.end_of_line("this relation");
    } catch (const line_failed&) {
      m_at.skip_line();
    }
  }
}

void statement_parser::header(syntax::statement& s) {
  s.where = m_at.here();
  s.word = m_at.take().text;
  if (s.word == "do") {
    s.names.push_back(m_at.name("an index"));
    if (m_at.accept("in")) s.within = m_at.name("an index");
    if (m_at.here().is(","))
      m_at.fail(m_at.here(), "'do' loops over one index", "'pardo' takes several; nest 'do' loops");
  } else if (s.word == "pardo") {
    do s.names.push_back(m_at.name("an index"));
    while (m_at.accept(","));
    if (m_at.here().kind == token_kind::text) s.has_text = true, s.text = m_at.take().text;
  } else if (s.word == "if") {
    s.conditions.push_back(parse_relation(m_at));
  }
  m_at.end_of_line("'" + s.word + "'");
}

syntax::statement statement_parser::statement() {
  const token& t = m_at.here();
  if (!t.is("do") && !t.is("pardo") && !t.is("if") && !t.is("section") && !t.is("gpu_on")) return parse_simple(m_at);
  if (m_open.size() >= max_statement_depth)
    m_at.fail(t, "statements nest too deeply", fmt::format("at most {} levels", max_statement_depth));
  syntax::statement s;
  try {
    header(s);
  } catch (const line_failed&) {
    s.incomplete = true;
    m_at.skip_line();
  }
  m_open.push_back({s.word, names_of_loop(s), s.where, s.incomplete});
  if (s.word == "do" || s.word == "pardo") where_lines(s);
  s.inside = body();
  if (s.word == "if" && m_at.here().is("else") && ends(m_open.back())) {
    m_open.back().in_else = s.has_otherwise = true;
    try {
      m_at.take();
      m_at.end_of_line("'else'");
    } catch (const line_failed&) {
      m_at.skip_line();
    }
    s.otherwise = body();
  }
  close();
  return s;
}

std::vector<syntax::statement> statement_parser::body() {
  std::vector<syntax::statement> all;
  while (!is_end()) {
    const token& t = m_at.here();
    try {
      if (t.kind == token_kind::line_end) {
        m_at.take();
      } else if (is_ending(t)) {
        m_at.fail(t, t.is("else") ? "'else' without an 'if'" : fmt::format("'{}' ends nothing", t.text),
                  t.is("else") ? "" : "every end repeats the word and the names of its beginning");
      } else if (t.is("proc")) {
        m_at.messages().error(t, "procedures stand before the first statement");
        auto outer = std::exchange(m_open, {});
        procedure();
        m_open = std::move(outer);
      } else if (begins_declaration(m_at)) {
        m_at.messages().error(t, m_open.front().word == "proc" ? "a procedure has no declarations of its own"
                                                               : "declarations stand before the first statement");
        declaration();
      } else {
        all.push_back(statement());
      }
    } catch (const line_failed&) {
      m_at.skip_line();
    }
  }
  return all;
}

void statement_parser::declaration() {
  syntax::declaration d;
  try {
    parse_declaration(m_at, d);
    m_file.declarations.push_back(std::move(d));
  } catch (const line_failed&) {
    if (d.id.text.empty()) m_file.complete = false;
    m_file.unclear.push_back(d.id.text);
    m_at.skip_line();
  }
}

void statement_parser::procedure() {
  syntax::declaration d;
  d.kind = syntax::declared::procedure;
  d.where = m_at.here();
  d.word = m_at.take().text;
  try {
    d.id = m_at.new_name("a name for the procedure");
    m_at.end_of_line("the name of the procedure");
  } catch (const line_failed&) {
    m_file.complete = false;
    m_at.skip_line();
  }
  construct c{"proc", {}, d.where, d.id.text.empty()};
  if (!c.incomplete) c.names.push_back(d.id);
  m_open.push_back(std::move(c));
  d.inside = body();
  close();
  if (!d.id.text.empty()) m_file.declarations.push_back(std::move(d));
}

void statement_parser::main_body() {
  construct c{"sial", {}, m_file.id.where, m_file.id.text.empty()};
  if (!c.incomplete) c.names.push_back(m_file.id);
  m_open.push_back(std::move(c));
  m_file.statements = body();
  close();
}

}  // namespace tessera::sial
