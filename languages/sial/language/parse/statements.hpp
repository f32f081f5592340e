#pragma once
// Statements: loops and other constructs with an end, and those of one line.
#include "languages/sial/language/parse/cursor.hpp"

namespace tessera::sial {

/// A statement of one line, up to the end of the line. Throws line_failed.
syntax::statement parse_simple(cursor& at);

/// The statements of one file: of its procedures and its own.
class statement_parser {
 public:
  statement_parser(cursor& at, syntax::file& file) : m_at(at), m_file(file) {}

  /// "proc p" ... "endproc p", into the file's declarations.
  void procedure();
  /// One line, into the file's declarations, or the names that are unclear.
  void declaration();
  /// Everything from the first statement to "endsial NAME".
  void main_body();

 private:
  /// A construct that has begun and not ended.
  struct construct {
    std::string word;                 ///< do pardo if section gpu_on proc sial
    std::vector<syntax::name> names;  ///< which its end repeats
    span where;
    bool incomplete = false;  ///< its names are not known: every end of its kind fits
    bool in_else = false;
  };

  std::vector<syntax::statement> body();
  syntax::statement statement();
  void header(syntax::statement& s);
  void where_lines(syntax::statement& s);
  bool ends(const construct& c) const;
  bool is_end() const;
  void close();

  cursor& m_at;
  syntax::file& m_file;
  std::vector<construct> m_open;
};

}  // namespace tessera::sial
