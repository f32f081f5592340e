// Statements of one line.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/suggest.hpp"
#include "languages/sial/language/parse/expressions.hpp"
#include "languages/sial/language/parse/statements.hpp"

namespace tessera::sial {
namespace {

using syntax::form;

bool one_of(const token& t, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view w) { return t.is(w); });
}

void take_operator(cursor& at, syntax::statement& s, std::initializer_list<std::string_view> allowed,
                   const std::string& list) {
  if (!one_of(at.here(), allowed)) {
    if (at.here().is("-=") && (s.word == "put" || s.word == "prepare"))
      at.expected(list, fmt::format("negate the block, then {} with +=", s.word));
    at.expected(list, at.here().is("==") ? "'=' assigns" : "");
  }
  s.op_where = at.here();
  s.op = at.take().text;
}

syntax::expression block(cursor& at, const std::string& after) {
  const span where = at.here();
  syntax::expression e = parse_reference(at);
  if (e.kind != form::block) at.fail(where, "expected a block like a[i,j] after '" + after + "'");
  return e;
}

void allocate(cursor& at, syntax::statement& s) {
  const bool contiguous = at.accept("contiguous");
  const span where = at.here();
  s.operands.push_back(parse_reference(at, true));
  const form what = s.operands[0].kind;
  if (contiguous && what != form::region)
    at.fail(where, "expected a region like a[1:n,i:i] after 'contiguous'", "every dimension needs low:high");
  if (!contiguous && what == form::region) at.fail(where, fmt::format("a region stands after '{} contiguous'", s.word));
  if (contiguous) s.text = "contiguous";
}

void argument(cursor& at, syntax::statement& s) {
  const token& t = at.here();
  if (t.is("-") || t.is("+")) at.fail(t, "an argument has no sign", "assign the value to a scalar, and pass that");
  if (t.kind == token_kind::text) at.fail(t, "a text is no argument");
  if (t.is(",")) at.fail(t, "blanks stand between arguments, no commas");
  if (t.is("(") || t.kind == token_kind::mark)
    at.fail(t, "an argument is a name, a number, a block or a region", "assign the value to a scalar, and pass that");
  s.operands.push_back(parse_primary(at));
}

std::string likely_word(const std::string& written) {
  return written.size() < 3 || written.size() > 40 ? "" : suggest(written, reserved_words());
}

[[noreturn]] void misspelt(cursor& at, const token& t) {
  const std::string nearest = at.messages().full() ? "" : likely_word(t.text);
  at.fail(t, fmt::format("'{}' is no statement", t.text),
          nearest.empty() ? "" : fmt::format("did you mean '{}'?", nearest));
}

[[noreturn]] void unknown(cursor& at, const token& t) {
  if (one_of(t, {"cycle", "prequest", "print_index", "print_int", "print_scalar"}))
    at.fail(t, fmt::format("'{}' is reserved, but no statement of this version", t.text),
            t.text.starts_with("print") ? "use 'print'" : "");
  if (t.is("where")) at.fail(t, "'where' stands directly behind the line of a 'do' or 'pardo'");
  if (t.is("import")) at.fail(t, "'import' stands before 'sial'");
  if (t.is("sial")) at.fail(t, "'sial' stands once, before the declarations");
  at.fail(t, fmt::format("expected a statement, not {}", shown(t)));
}

}  // namespace

syntax::statement parse_simple(cursor& at) {
  syntax::statement s;
  s.where = at.here();
  const token first = at.here();
  s.word = first.text;
  if (first.kind == token_kind::identifier) {
    const token_kind next = at.ahead().kind;
    if (next == token_kind::identifier || next == token_kind::keyword || next == token_kind::text) misspelt(at, first);
    if (next == token_kind::line_end && !likely_word(first.text).empty()) misspelt(at, first);
    s.word = "=";
    s.operands.push_back(parse_reference(at));
    take_operator(at, s, {"=", "+=", "-=", "*="}, "an assignment: = += -= *=");
    s.operands.push_back(parse_expression(at));
    at.end_of_line("this assignment");
    return s;
  }
  if (first.kind != token_kind::keyword) unknown(at, first);
  at.take();
  const auto is = [&](std::initializer_list<std::string_view> words) { return one_of(first, words); };
  if (is({"call"})) {
    s.names.push_back(at.name("a procedure"));
  } else if (is({"return", "stop", "exit", "sip_barrier", "server_barrier"})) {
  } else if (is({"get", "request"})) {
    s.operands.push_back(block(at, first.text));
  } else if (is({"put", "prepare"})) {
    s.operands.push_back(block(at, first.text));
    take_operator(at, s, {"=", "+=", "*="}, "= += or *=");
    s.operands.push_back(parse_expression(at));
  } else if (is({"create", "delete", "destroy"})) {
    s.names.push_back(at.name("an array"));
    if (at.here().is("[")) at.fail(at.here(), fmt::format("'{}' takes a whole array, no block", first.text));
  } else if (is({"allocate", "deallocate"})) {
    allocate(at, s);
  } else if (is({"collective"})) {
    s.names.push_back(at.name("a scalar"));
    take_operator(at, s, {"+="}, "'+='");
    s.operands.push_back(parse_expression(at));
  } else if (is({"broadcast_from"})) {
    s.operands.push_back(parse_expression(at));
    s.names.push_back(at.name("a static array"));
  } else if (is({"assert_same"})) {
    s.names.push_back(at.name("a scalar"));
  } else if (is({"execute"})) {
    s.names.push_back(at.name("a super instruction"));
    while (!at.at_line_end()) argument(at, s);
  } else if (is({"set_persistent", "restore_persistent"})) {
    s.names.push_back(at.name("an array or a scalar"));
    s.text = at.text("a label");
    s.has_text = true;
  } else if (is({"gpu_allocate", "gpu_free", "gpu_put", "gpu_get"})) {
    s.operands.push_back(parse_reference(at));
    if (s.operands[0].kind == form::region)
      at.fail(s.operands[0].where, fmt::format("'{}' takes a block or an array", first.text));
  } else if (is({"print", "println"})) {
    if (at.here().kind == token_kind::text) {
      s.text = at.take().text;
      s.has_text = true;
    } else {
      s.operands.push_back(parse_expression(at));
    }
    if (at.here().is(",")) at.fail(at.here(), fmt::format("'{}' prints one thing", first.text), "write one a line");
  } else {
    unknown(at, first);
  }
  at.end_of_line("'" + first.text + "'");
  return s;
}

}  // namespace tessera::sial
