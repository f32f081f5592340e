#pragma once
// What workers execute: a table of instructions over registers. Made from a checked program; knows nothing of segment
// sizes, workers and memory.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "languages/sial/language/program.hpp"

namespace tessera::sial {

/// Operands a, b, c are numbers of int registers (i), scalar registers (s), instructions (to), or entries of code's
/// tables.
enum class opcode : std::uint8_t {
  // ints
  move_int,
  add_int,
  subtract_int,
  multiply_int,
  divide_int,  // i[a] = i[b] op i[c]
  negate_int,
  round,        // i[a] = s[b] to the nearest, ties to even
  check_bound,  // index i[a], named b, has a value
  // scalars
  move_scalar,
  add_scalar,
  subtract_scalar,
  multiply_scalar,
  divide_scalar,
  power,
  negate_scalar,
  square_root,    // s[a] = s[b] op s[c]
  to_scalar,      // s[a] = i[b]
  load_element,   // s[a] = the only element of references[b]
  inner_product,  // s[a] = products[b]
  // jumps, to a
  jump,
  jump_less_int,
  jump_less_equal_int,
  jump_equal_int,
  jump_not_equal_int,  // if i[b] rel i[c]
  jump_less_scalar,
  jump_less_equal_scalar,
  jump_not_less_scalar,
  jump_not_less_equal_scalar,
  jump_equal_scalar,
  jump_not_equal_scalar,  // if s[b] rel s[c]
  call,
  return_,  // call: the procedure at a
  stop,
  end,
  // loops[b]; begin jumps to a when there is nothing to do, next to a when there is more
  loop_begin,
  loop_next,
  loop_leave,
  pardo_begin,
  pardo_next,
  pardo_leave,  // pardos[b]
  devices_on,
  devices_off,  // gpu_on opens a region, gpu_off closes a of them
  iteration,    // a pardo's iteration passed its conditions; pardos[b]
  // blocks: block_operations[b]
  block_fill,
  block_add,
  block_multiply,  // with s[a]
  block_copy,
  block_sum,
  block_scale,
  block_product,
  block_slice,
  region_fill,
  region_from_block,
  block_from_region,  // region_operations[b]
  // data
  fetch,  // references[b]
  store_block,
  store_scalar,  // stores[b], value s[a]
  create,
  remove,  // array a
  allocate,
  release,  // allocations[b]
  allocate_region,
  release_region,  // regions[b]
  barrier,         // a: 1 for server_barrier
  collective,      // s[a] += over workers of s[b]
  broadcast,       // array b from worker i[a]
  assert_same,     // s[a], named b
  execute,         // executions[b]
  set_persistent,
  restore_persistent,  // persistents[b]
  print                // prints[b]
};

/// One instruction, and the statement that it belongs to.
struct step {
  opcode operation;
  std::uint32_t site = 0;  ///< index into code::sites
  std::uint32_t a = 0, b = 0, c = 0;
};

/// A block: an array and the registers with its segment numbers.
struct reference {
  std::uint32_t array = 0;
  std::uint8_t rank = 0;
  std::array<std::uint32_t, max_array_rank> at{};  ///< int registers
  bool simple = true;                              ///< every subscript is a simple index
};

/// Ranges of segments; registers, inclusive.
struct region {
  std::uint32_t array = 0;
  std::uint8_t rank = 0;
  std::array<std::uint32_t, max_array_rank> low{}, high{};
};

inline constexpr std::uint32_t nothing = ~std::uint32_t{0};

/// One statement of block arithmetic. Letters name subscripts: the same letter, the same variable.
struct block_operation {
  assign assignment = assign::set;
  bool minus = false;                                           ///< of a sum: the second is subtracted
  bool insert = false;                                          ///< of a slice: into the larger block
  std::uint32_t to = nothing, left = nothing, right = nothing;  ///< references
  std::uint32_t factor = nothing;                               ///< a scalar register
  std::uint32_t sum_site =
      nothing;  ///< "t = A * B" and "to += t" in one: the site of the second; see accumulations.hpp
  std::array<char, 8> to_letters{}, left_letters{}, right_letters{};
  bool same_order = true;                     ///< of a copy: dimension d of the one is dimension d of the other
  std::array<std::uint8_t, 8> permutation{};  ///< of a copy: dimension d of `to` is dimension permutation[d] of `left`
  std::uint8_t common = 0;  ///< of a copy: dimensions that both have; what one has more is simple and last
};

struct region_operation {
  std::uint32_t region = nothing, block = nothing;
};

struct store {
  assign assignment = assign::set;
  std::uint32_t to = nothing, from = nothing;  ///< references; from: nothing for a scalar
};

struct loop {
  std::uint32_t index = 0;          ///< int register
  std::uint32_t low = 0, high = 0;  ///< int registers that never change
  symbol variable = no_symbol;
  symbol within = no_symbol;  ///< of a subindex: its parent variable
};

struct pardo {
  std::vector<std::uint32_t> indices, low, high;  ///< int registers
  std::vector<symbol> variables;
  std::string pragma;
  std::uint32_t top = 0, end = 0;  ///< instructions: the first of an iteration (its conditions), behind the loop
};

struct allocation {
  std::uint32_t array = 0;
  std::vector<std::uint32_t> at;  ///< int registers, or `nothing` for all segments; empty: everything
};

struct execution {
  struct argument {
    enum class argument_kind : std::uint8_t {
      scalar,
      literal,
      block,
      region,
      whole
    } kind;
    std::uint32_t operand = 0;  ///< scalar register, reference, region, array
    double value = 0;           ///< of a literal
  };
  std::uint32_t special = 0;  ///< index into code::specials
  std::vector<argument> arguments;
};

struct persistent {
  bool is_scalar = false;
  std::uint32_t operand = 0;  ///< scalar register or array
  std::string name, label;
};

struct printing {
  print_statement::print_form form;
  bool line = false;
  std::string text;                 ///< the text, or the name
  std::uint32_t operand = nothing;  ///< int or scalar register, reference, region, array
  std::vector<std::string> names;
};

struct site {
  place where;
};

/// Ranges of an index as registers hold them.
struct index_range {
  std::uint32_t low = 0, high = 0;  ///< int registers
};

/// A program, ready to run. The first int registers are the program's ints, then its indices, then constants and
/// temporaries; the first scalar registers are its scalars.
struct code {
  std::string program;
  std::vector<step> steps;
  std::vector<reference> references;
  std::vector<region> regions;
  std::vector<block_operation> block_operations;
  std::vector<region_operation> region_operations;
  std::vector<store> stores;
  std::vector<loop> loops;
  std::vector<pardo> pardos;
  std::vector<allocation> allocations;
  std::vector<execution> executions;
  std::vector<persistent> persistents;
  std::vector<printing> prints;
  std::vector<site> sites;
  bool has_device_regions = false;  ///< gpu_on stands somewhere: then devices are for what it encloses

  // Declarations, as they were checked.
  std::vector<int_declaration> ints;
  std::vector<index_declaration> indices;
  std::vector<scalar_declaration> scalars;
  std::vector<array_declaration> arrays;
  std::vector<special_declaration> specials;
  source_set sources;

  std::vector<index_range> ranges;  ///< by index
  std::uint32_t first_index = 0;    ///< register of index 0
  std::vector<std::int64_t>
      int_start;  ///< registers at the start; predefined ints and symbolic ranges are filled in later
  std::vector<double> scalar_start;
  /// Registers of ranges that a predefined int sets: {register, int}.
  std::vector<std::pair<std::uint32_t, symbol>> symbolic_bounds;
};

/// An index variable outside of its loops.
inline constexpr std::int64_t unbound = INT64_MIN;

/// Makes the instructions of a checked program. Pure.
code lower(const program& from);

/// A readable listing, an instruction per line with its source line in front.
std::string to_text(const code& c);

/// "file:12" of an instruction's statement.
std::string where_of(const code& c, std::uint32_t site);
/// "file:12:3" likewise.
std::string place_of(const code& c, std::uint32_t site);

}  // namespace tessera::sial
