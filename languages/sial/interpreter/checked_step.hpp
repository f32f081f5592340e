#pragma once
// Instructions on registers alone that can fail, and arithmetic on ints that has.
#include "languages/sial/code/code.hpp"

namespace tessera::sial {

/// Whether checked_step executes such an instruction.
constexpr bool is_checked_step(opcode what) noexcept {
  return (what >= opcode::add_int && what <= opcode::negate_int) || what == opcode::divide_int ||
         what == opcode::round || what == opcode::check_bound || what == opcode::divide_scalar ||
         what == opcode::power || what == opcode::square_root;
}

/// Executes one on ints `i` and scalars `s`. Throws run_error when the result is no number or beyond the 64 bits of an
/// int, which it is for all that arithmetic_step leaves, and when an index has no value.
void checked_step(const step& now, const code& program, std::int64_t* i, double* s);

}  // namespace tessera::sial
