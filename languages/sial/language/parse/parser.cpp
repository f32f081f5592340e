#include "languages/sial/language/parser.hpp"

#include "languages/sial/language/parse/declarations.hpp"
#include "languages/sial/language/parse/statements.hpp"

namespace tessera::sial {
namespace {

void parse_imports(cursor& at, syntax::file& file) {
  while (at.here().is("import")) {
    try {
      at.take();
      const span where = at.here();
      file.imports.push_back({at.text("the name of a file"), where});
      at.end_of_line("'import'");
    } catch (const line_failed&) {
      file.complete = false;
      at.skip_line();
    }
  }
}

void parse_header(cursor& at, syntax::file& file) {
  try {
    if (!at.here().is("sial")) {
      at.messages().error(at.here(), "expected 'sial' and the name of the program, not " + shown(at.here()));
      return;
    }
    at.take();
    file.id = at.new_name("the name of the program");
    at.end_of_line("the name of the program");
  } catch (const line_failed&) {
    at.skip_line();
  }
}

}  // namespace

syntax::file parse(const std::vector<token>& tokens, std::uint32_t number, message_list& messages) {
  syntax::file file;
  file.number = number;
  cursor at(tokens, messages);
  if (at.at_end()) {
    messages.error({{number, 0, 0}, 1}, "this file holds no program", "a program is 'sial NAME' ... 'endsial NAME'");
    return file;
  }
  parse_imports(at, file);
  parse_header(at, file);
  statement_parser statements(at, file);
  while (at.here().is("proc") || begins_declaration(at))
    at.here().is("proc") ? statements.procedure() : statements.declaration();
  statements.main_body();
  if (!at.at_end()) messages.error(at.here(), "nothing stands behind 'endsial'");
  return file;
}

}  // namespace tessera::sial
