#pragma once
// A checked program: every name is resolved, every type is known, every form of block arithmetic is told apart. What
// the checker makes of the syntax tree, and the only thing that later stages see.
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "languages/sial/language/source.hpp"

namespace tessera::sial {

/// Kinds of indices; the numbers are those of segment tables in initialization files, less 1001.
enum class index_kind : std::uint8_t {
  ao,
  mo,
  moa,
  mob,
  simple,
  la,
  sub
};

enum class array_kind : std::uint8_t {
  fixed /* "static" */,
  temp,
  local,
  contiguous_local,
  distributed,
  served
};

inline constexpr std::size_t max_array_rank = 6;

/// A name's number in its table below.
using symbol = std::uint32_t;
inline constexpr symbol no_symbol = ~symbol{0};

/// One end of an index's range.
struct bound {
  std::int64_t value = 0;       ///< when `constant` is no_symbol
  symbol constant = no_symbol;  ///< a predefined int: its value at the start of the program
};

// Declarations. `name` is lower case, as messages and prints show it; `program` the number of the program (file) that
// declares it.

struct index_declaration {
  std::string name;
  place where;
  std::uint32_t program = 0;
  index_kind kind = index_kind::simple;
  bound low, high;            ///< inclusive; segment numbers, for simple indices plain integers. Not for `sub`
  symbol parent = no_symbol;  ///< of a subindex
};

struct int_declaration {
  std::string name;
  place where;
  std::uint32_t program = 0;
  bool predefined = false;  ///< the value is in the initialization file
  std::int64_t value = 0;
};

struct scalar_declaration {
  std::string name;
  place where;
  std::uint32_t program = 0;
  bool predefined = false;
  double value = 0;
};

struct array_declaration {
  std::string name;
  place where;
  std::uint32_t program = 0;
  array_kind kind = array_kind::temp;
  std::vector<symbol> indices;  ///< 1 to max_array_rank
  bool predefined = false;      ///< a static array whose contents are in the initialization file, if it has them
  bool used = false;
};

/// A super instruction. Letters of the signature: r, w, u.
struct special_declaration {
  std::string name;
  place where;
  std::uint32_t program = 0;
  std::string signature;
};

// Expressions

struct expression;
using expression_list = std::vector<expression>;

/// One subscript of a block.
struct subscript {
  symbol index = no_symbol;                 ///< an index variable, or
  std::shared_ptr<const expression> value;  ///< `(index) value`: a simple index with that value
};

/// A tile of an array: A[i,j].
struct block_reference {
  place where;
  symbol array = no_symbol;
  std::vector<subscript> subscripts;
};

/// Ranges of segments of a contiguous local array: CL[1:n, j:j].
struct region_reference {
  place where;
  symbol array = no_symbol;
  std::vector<std::pair<expression, expression>> ranges;  ///< int expressions, inclusive
};

enum class value_type : std::uint8_t {
  integer,
  scalar
};

enum class operation : std::uint8_t {
  int_literal,
  scalar_literal,  // value in i, d
  int_variable,
  index_variable,   // integer: `variable` is the symbol
  scalar_variable,  // scalar: `variable`
  simple_block,     // scalar: a block all of whose subscripts are simple; blocks[0]
  contraction,      // scalar: sum over all elements of blocks[0] * blocks[1], matched by index names
  negate,
  square_root,  // operands[0]
  to_int,
  to_scalar,  // operands[0]; to_int rounds to nearest even
  add,
  subtract,
  multiply,
  divide,  // operands[0], [1], both of `type`
  power    // scalars
};

/// A value: an int or a scalar.
struct expression {
  place where;
  operation kind = operation::int_literal;
  value_type type = value_type::integer;
  std::int64_t i = 0;
  double d = 0;
  symbol variable = no_symbol;
  expression_list operands;
  std::vector<block_reference> blocks;
};

enum class relation_kind : std::uint8_t {
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  not_equal
};

/// Both sides have the same type.
struct relation {
  place where;
  relation_kind kind = relation_kind::equal;
  expression left, right;
};

enum class assign : std::uint8_t {
  set,
  add,
  subtract,
  multiply
};  ///< = += -= *=

// Statements

struct statement;
using body = std::vector<statement>;

struct do_loop {  ///< do i, or do ii in i
  symbol index = no_symbol;
  symbol within = no_symbol;  ///< the parent of a subindex
  std::vector<relation> where;
  body inside;
};
struct pardo_loop {
  std::vector<symbol> indices;  ///< first fastest
  std::string pragma;           ///< "" or the text
  std::vector<relation> where;
  body inside;
};
struct if_statement {
  relation condition;
  body then, otherwise;
};
struct section_statement {
  body inside;
};  ///< pardos only
struct gpu_section {
  body inside;
};  ///< gpu_on ... gpu_off

struct call_statement {
  symbol procedure = no_symbol;
};
struct return_statement {};
struct stop_statement {};
struct exit_statement {};
struct barrier_statement {
  bool server = false;
};  ///< sip_barrier, server_barrier

struct fetch_statement {
  block_reference block;
};  ///< get of a distributed, request of a served array
/// put or prepare.
struct store_statement {
  block_reference to;
  assign assignment = assign::set;                 ///< set, add, multiply
  std::variant<block_reference, expression> from;  ///< a block of the same subscripts in the same order, or a scalar
};
struct create_statement {
  symbol array = no_symbol;
};
struct delete_statement {
  symbol array = no_symbol;
};  ///< delete, destroy
/// allocate or deallocate blocks of a local array.
struct allocate_statement {
  bool release = false;
  symbol array = no_symbol;
  std::vector<symbol> subscripts;  ///< an index or no_symbol for *; none at all: everything
  place where;
};
struct allocate_region_statement {
  bool release = false;
  region_reference region;
};
struct collective_statement {
  symbol scalar = no_symbol;
  expression value;
};
struct broadcast_statement {
  expression from;
  symbol array = no_symbol;
};
struct assert_same_statement {
  symbol scalar = no_symbol;
};

/// A bare array: a whole static or contiguous local one.
struct whole_array {
  symbol array = no_symbol;
};
struct scalar_argument {
  symbol scalar = no_symbol;
};
struct literal_argument {
  double value = 0;
};
using execute_argument =
    std::variant<scalar_argument, literal_argument, block_reference, region_reference, whole_array>;
struct execute_statement {
  symbol special = no_symbol;
  std::vector<execute_argument> arguments;  ///< as many as the signature has letters
};

/// set_persistent or restore_persistent.
struct persistent_statement {
  bool restore = false;
  bool is_scalar = false;  ///< else an array
  symbol operand = no_symbol;
  std::string label;
};
struct gpu_transfer {  ///< gpu_allocate, gpu_free, gpu_put, gpu_get: no effect on results
  enum class transfer_kind : std::uint8_t {
    allocate,
    free,
    put,
    get
  } kind = transfer_kind::put;
  std::variant<block_reference, whole_array> operand;
};

/// What is printed. A block all of whose subscripts are simple is an expression.
struct print_statement {
  bool line = false;  ///< println
  std::variant<std::string, expression, block_reference, region_reference, whole_array> operand;
  enum class print_form : std::uint8_t {
    text,
    scalar_name,
    int_name,
    index_name,
    scalar_value,
    int_value,
    block,
    region,
    whole
  };
  print_form form = print_form::text;
};

// Assignments

struct assign_int {
  symbol to = no_symbol;
  assign assignment = assign::set;
  expression value;
};
/// x = ..., also x = B*C, x += B*C.
struct assign_scalar {
  symbol to = no_symbol;
  assign assignment = assign::set;
  expression value;
};

/// A = s, A += s, A -= s, A *= s. Also of a block all of whose subscripts are simple when the right side is an
/// expression.
struct block_scalar {
  block_reference to;
  assign assignment = assign::set;
  expression value;
};
/// A = B, A += B, A -= B. The subscripts are permutations of each other, or one has more, simple and last.
struct block_copy {
  block_reference to;
  assign assignment = assign::set;
  block_reference from;
};
/// A = B + C, A = B - C (also += and -=); all three have the same subscripts.
struct block_sum {
  block_reference to;
  assign assignment = assign::set;
  block_reference left, right;
  bool minus = false;
};
/// A = s * B (also += and -=); the same subscripts.
struct block_scaled {
  block_reference to;
  assign assignment = assign::set;
  expression factor;
  block_reference from;
};
/// A = B * C, A = B ^ C (also += and -=): summed over the subscripts that both have. The outer product is the case of
/// none.
struct block_product {
  block_reference to;
  assign assignment = assign::set;
  block_reference left, right;
};
/// B[ii,j] = A[i,j] and back: the piece of a segment that a subindex selects.
struct block_slice {
  block_reference to;
  block_reference from;
  bool insert = false;
};
/// CL[lo:hi] = B, CL[lo:hi] = s, B = CL[lo:hi].
struct region_fill {
  region_reference to;
  expression value;
};
struct region_from_block {
  region_reference to;
  block_reference from;
};
struct block_from_region {
  block_reference to;
  region_reference from;
};

struct statement {
  place where;  ///< its first word; the line is what prints and profiles show
  std::variant<do_loop, pardo_loop, if_statement, section_statement, gpu_section, call_statement, return_statement,
               stop_statement, exit_statement, barrier_statement, fetch_statement, store_statement, create_statement,
               delete_statement, allocate_statement, allocate_region_statement, collective_statement,
               broadcast_statement, assert_same_statement, execute_statement, persistent_statement, gpu_transfer,
               print_statement, assign_int, assign_scalar, block_scalar, block_copy, block_sum, block_scaled,
               block_product, block_slice, region_fill, region_from_block, block_from_region>
      form;
};

struct procedure {
  std::string name;
  place where;
  std::uint32_t program = 0;
  body inside;
  bool called = false;
};

/// One `sial` ... `endsial`: the main program, or an imported one.
struct unit {
  std::string name;
  std::uint32_t file = 0;
  body inside;  ///< its executable statements
};

/// Everything. Units in the order in which their statements run: imported ones first, the main program last.
struct program {
  source_set sources;
  std::vector<unit> units;
  std::vector<index_declaration> indices;
  std::vector<int_declaration> ints;
  std::vector<scalar_declaration> scalars;
  std::vector<array_declaration> arrays;
  std::vector<special_declaration> specials;
  std::vector<procedure> procedures;
  const std::string& name() const { return units.back().name; }
};

/// A readable dump: declarations, then statements with resolved names and forms.
std::string to_text(const program& p);

}  // namespace tessera::sial
