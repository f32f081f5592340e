#pragma once
// The syntax tree of one file: what is written, before anything is known about names and types.
#include <string>
#include <vector>

#include "languages/sial/language/messages.hpp"

namespace tessera::sial::syntax {

/// A name as it is used; lower case, maybe "program.name".
struct name {
  std::string text;
  span where;
};

enum class form : std::uint8_t {
  int_literal,
  scalar_literal,
  variable,  ///< id
  block,     ///< id[operands]: names and (index) casts, for allocate also stars
  region,    ///< id[operands]: low, high, low, high ...
  star,      ///< * as a subscript of allocate
  cast_int,
  cast_scalar,
  cast_index,
  negate,
  square_root,  ///< of operands[0]
  binary        ///< operands[0] op operands[1]
};

struct expression {
  form kind = form::variable;
  span where;      ///< its first word; of a binary one the operator
  std::string op;  ///< + - * / ^ **
  name id;
  std::int64_t i = 0;
  double d = 0;
  bool in_parentheses = false;
  std::uint32_t depth = 1;  ///< of the tree below
  std::vector<expression> operands;
};

struct relation {
  span where;  ///< the operator
  std::string op;
  expression left, right;
};

struct statement {
  span where;               ///< the first word
  std::string word;         ///< the keyword; "=" for every assignment
  std::vector<name> names;  ///< indices of a loop, the called procedure, the array, the special
  name within;              ///< of do ii in i
  std::string op;           ///< = += -= *= of assignments, stores and collective
  span op_where;
  std::vector<expression> operands;  ///< target and value; arguments; the block
  std::vector<relation> conditions;  ///< of if, or the where lines of a loop
  std::string text;                  ///< a pragma, a label, what is printed
  bool has_text = false;
  bool incomplete = false;  ///< the first line was not understood
  std::vector<statement> inside, otherwise;
  bool has_otherwise = false;
};

struct index_bound {
  span where;
  bool negative = false;
  std::int64_t value = 0;
  name constant;  ///< when it has a text
};

enum class declared : std::uint8_t {
  scalar,
  integer,
  array,
  index,
  subindex,
  special,
  procedure
};

struct declaration {
  declared kind = declared::scalar;
  span where;        ///< the first word
  std::string word;  ///< "temp", "aoindex", ...
  name id;
  bool predefined = false, contiguous = false, sparse = false;
  bool has_value = false;
  std::int64_t i = 0;
  double d = 0;
  std::vector<name> indices;  ///< of an array
  index_bound low, high;
  name parent;                    ///< of a subindex
  name signature;                 ///< of a special
  std::vector<statement> inside;  ///< of a procedure
};

struct import {
  std::string path;
  span where;
};

struct file {
  std::uint32_t number = 0;
  std::vector<import> imports;
  name id;
  std::vector<declaration> declarations;
  std::vector<statement> statements;
  std::vector<std::string> unclear;  ///< names whose declarations were not understood
  bool complete = true;  ///< false: a declaration was not understood to its name; a missing name says nothing
};

/// As nested lists, a declaration or statement a line.
std::string to_text(const file& f);
std::string to_text(const expression& e);

}  // namespace tessera::sial::syntax
