#include "languages/sial/language/parse/cursor.hpp"

#include <fmt/format.h>

namespace tessera::sial {

void cursor::expected(const std::string& what, std::string hint) {
  fail(here(), fmt::format("expected {}, not {}", what, shown(here())), std::move(hint));
}

void cursor::expect(std::string_view mark, const std::string& after) {
  if (!accept(mark)) expected(fmt::format("'{}' {}", mark, after));
}

syntax::name cursor::name(const std::string& what) {
  if (here().kind == token_kind::keyword)
    fail(here(), fmt::format("expected {}, not the reserved word '{}'", what, here().text));
  if (here().kind != token_kind::identifier) expected(what);
  const token& t = take();
  return {t.text, t};
}

syntax::name cursor::new_name(const std::string& what) {
  const syntax::name found = name(what);
  if (found.text.find('.') != found.text.npos)
    fail(found.where, fmt::format("'{}' cannot be declared: a declared name has no dot", found.text));
  return found;
}

std::string cursor::text(const std::string& what) {
  if (here().kind != token_kind::text) expected(what, "texts stand in double quotes");
  return take().text;
}

void cursor::end_of_line(const std::string& after) {
  if (!at_line_end()) expected("the end of the line after " + after);
  take();
}

void cursor::skip_line() {
  while (!at_line_end()) take();
  take();
}

}  // namespace tessera::sial
