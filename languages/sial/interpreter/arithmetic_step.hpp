#pragma once
// Instructions on registers alone: workers execute them, and those who look ahead.
#include <cstdint>

#include "languages/sial/code/code.hpp"

namespace tessera::sial {

/// Whether a decision depends on scalars.
inline bool decides_on_scalars(opcode what) noexcept {
  return what >= opcode::jump_less_scalar && what <= opcode::jump_not_equal_scalar;
}

/// Executes an instruction on ints `i` and scalars `s`, jumps of `at` among them. False: it is another one, or its
/// result is beyond the 64 bits of an int; nothing has changed then.
inline bool arithmetic_step(const step& now, std::int64_t* i, double* s, std::uint32_t& at) {
  const auto jump_if = [&](bool condition) {
    if (condition) at = now.a;
    return true;
  };
  std::int64_t result = 0;
  const auto store_unless = [&](bool beyond) {
    if (beyond) [[unlikely]]
      return false;
    i[now.a] = result;
    return true;
  };
  switch (now.operation) {
    case opcode::move_int:
      i[now.a] = i[now.b];
      return true;
    case opcode::add_int:
      return store_unless(__builtin_add_overflow(i[now.b], i[now.c], &result));
    case opcode::subtract_int:
      return store_unless(__builtin_sub_overflow(i[now.b], i[now.c], &result));
    case opcode::multiply_int:
      return store_unless(__builtin_mul_overflow(i[now.b], i[now.c], &result));
    case opcode::negate_int:
      return store_unless(__builtin_sub_overflow(std::int64_t{0}, i[now.b], &result));
    case opcode::move_scalar:
      s[now.a] = s[now.b];
      return true;
    case opcode::add_scalar:
      s[now.a] = s[now.b] + s[now.c];
      return true;
    case opcode::subtract_scalar:
      s[now.a] = s[now.b] - s[now.c];
      return true;
    case opcode::multiply_scalar:
      s[now.a] = s[now.b] * s[now.c];
      return true;
    case opcode::negate_scalar:
      s[now.a] = -s[now.b];
      return true;
    case opcode::to_scalar:
      s[now.a] = static_cast<double>(i[now.b]);
      return true;
    case opcode::jump:
      return jump_if(true);
    case opcode::jump_less_int:
      return jump_if(i[now.b] < i[now.c]);
    case opcode::jump_less_equal_int:
      return jump_if(i[now.b] <= i[now.c]);
    case opcode::jump_equal_int:
      return jump_if(i[now.b] == i[now.c]);
    case opcode::jump_not_equal_int:
      return jump_if(i[now.b] != i[now.c]);
    case opcode::jump_less_scalar:
      return jump_if(s[now.b] < s[now.c]);
    case opcode::jump_less_equal_scalar:
      return jump_if(s[now.b] <= s[now.c]);
    case opcode::jump_not_less_scalar:
      return jump_if(!(s[now.b] < s[now.c]));
    case opcode::jump_not_less_equal_scalar:
      return jump_if(!(s[now.b] <= s[now.c]));
    case opcode::jump_equal_scalar:
      return jump_if(s[now.b] == s[now.c]);
    case opcode::jump_not_equal_scalar:
      return jump_if(s[now.b] != s[now.c]);
    default:
      return false;
  }
}

}  // namespace tessera::sial
