#pragma once
// The making of instructions; for the files of this room.
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "languages/sial/code/code.hpp"

namespace tessera::sial {

/// Walks a checked program once and appends to a code.
class lowering {
 public:
  explicit lowering(const program& from);
  code run();

 private:
  struct open_loop {
    bool is_pardo;
    std::uint32_t number;                   ///< of loops or pardos
    std::uint32_t regions = 0;              ///< of gpu_on that were open around it
    std::vector<std::uint32_t> exits = {};  ///< jumps to be sent behind it
  };
  using registers = std::vector<std::uint32_t>;

  // lower.cpp
  void declare();
  void lower_body(const body& statements);
  void lower_statement(const statement& s);
  std::uint32_t emit(opcode what, std::uint32_t a = 0, std::uint32_t b = 0, std::uint32_t c = 0);
  std::uint32_t here() const { return static_cast<std::uint32_t>(m_code.steps.size()); }
  void send(std::uint32_t jump, std::uint32_t to) { m_code.steps[jump].a = to; }

  // lower_values.cpp
  std::uint32_t int_register(std::int64_t start);
  std::uint32_t int_constant(std::int64_t value);
  std::uint32_t scalar_constant(double value);
  std::uint32_t int_temporary();
  std::uint32_t scalar_temporary();
  std::uint32_t value_of(const expression& e);  ///< a register of the expression's type
  void value_into(const expression& e, std::uint32_t to);
  std::uint32_t jump_unless(const relation& r);  ///< to be sent
  std::uint32_t index_register(symbol index, const place& where);
  std::uint32_t range_end(const bound& of);
  std::uint32_t make_reference(const block_reference& b);
  std::uint32_t make_region(const region_reference& r);
  void check_index(symbol index);

  // lower_loops.cpp
  void lower(const do_loop& s);
  void lower(const pardo_loop& s);
  void lower(const if_statement& s);
  void lower(const section_statement& s) { lower_body(s.inside); }
  void lower(const gpu_section& s);
  void lower(const call_statement& s);
  void lower(const return_statement&);
  void lower(const exit_statement&);
  void lower(const stop_statement&) { emit(opcode::stop); }
  void lower(const barrier_statement& s) { emit(opcode::barrier, s.server ? 1 : 0); }

  // lower_statements.cpp
  void lower(const fetch_statement& s);
  void lower(const store_statement& s);
  void lower(const create_statement& s) { emit(opcode::create, s.array); }
  void lower(const delete_statement& s) { emit(opcode::remove, s.array); }
  void lower(const allocate_statement& s);
  void lower(const allocate_region_statement& s);
  void lower(const collective_statement& s);
  void lower(const broadcast_statement& s);
  void lower(const assert_same_statement& s);
  void lower(const execute_statement& s);
  void lower(const persistent_statement& s);
  void lower(const gpu_transfer&) {}  // the runtime moves blocks itself
  void lower(const print_statement& s);

  // lower_blocks.cpp
  void lower(const assign_int& s);
  void lower(const assign_scalar& s);
  void lower(const block_scalar& s);
  void lower(const block_copy& s);
  void lower(const block_sum& s);
  void lower(const block_scaled& s);
  void lower(const block_product& s);
  void lower(const block_slice& s);
  void lower(const region_fill& s);
  void lower(const region_from_block& s);
  void lower(const block_from_region& s);
  void emit_block(opcode what, block_operation o, std::uint32_t a = 0);
  std::uint32_t inner_product_of(const block_reference& left, const block_reference& right);

  const program& m_from;
  code m_code;
  std::map<std::int64_t, std::uint32_t> m_int_constants;
  std::map<std::uint64_t, std::uint32_t> m_scalar_constants;  // by their bits
  std::map<symbol, std::uint32_t> m_symbolic;                 // registers of ranges that an int sets
  registers m_int_temporaries, m_scalar_temporaries;
  std::size_t m_used_ints = 0, m_used_scalars = 0;
  std::vector<open_loop> m_loops;
  std::vector<std::pair<std::uint32_t, symbol>> m_calls;  // to be sent
  bool m_in_procedure = false;
  std::uint32_t m_regions = 0;  // of gpu_on that are open
  std::uint32_t m_site = 0;
  const std::set<const statement*> m_accumulations;
  std::uint32_t m_sum_site = nothing;  // of the second statement of such a pair
};

/// Gives each subscript of some blocks a letter: the same subscript, the same letter.
class label_assignment {
 public:
  std::array<char, 8> of(const block_reference& b);

 private:
  char letter_of(const subscript& s);
  std::vector<subscript> m_seen;
};

}  // namespace tessera::sial
