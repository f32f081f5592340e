#pragma once
// Instructions on registers alone that cannot fail: workers execute them, and those who look ahead.
#include <cstdint>

#include "apps/sial/code/code.hpp"

namespace tessera::sial {

/// Ints beyond 64 bits wrap around.
template <class Function>
std::int64_t wrapped(std::int64_t a, std::int64_t b, Function&& function) {
  return static_cast<std::int64_t>(function(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
}

/// Whether a decision depends on scalars.
inline bool decides_on_scalars(opcode what) noexcept {
  return what >= opcode::jump_less_scalar && what <= opcode::jump_not_equal_scalar;
}

/// Executes an instruction on ints `i` and scalars `s` that cannot fail, jumps of `at` among them. False: it is another
/// one.
inline bool arithmetic_step(const step& now, std::int64_t* i, double* s, std::uint32_t& at) {
  const auto jump_if = [&](bool condition) {
    if (condition) at = now.a;
    return true;
  };
  switch (now.operation) {
    case opcode::move_int:
      i[now.a] = i[now.b];
      return true;
    case opcode::add_int:
      i[now.a] = wrapped(i[now.b], i[now.c], [](auto a, auto b) { return a + b; });
      return true;
    case opcode::subtract_int:
      i[now.a] = wrapped(i[now.b], i[now.c], [](auto a, auto b) { return a - b; });
      return true;
    case opcode::multiply_int:
      i[now.a] = wrapped(i[now.b], i[now.c], [](auto a, auto b) { return a * b; });
      return true;
    case opcode::negate_int:
      i[now.a] = wrapped(0, i[now.b], [](auto a, auto b) { return a - b; });
      return true;
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
