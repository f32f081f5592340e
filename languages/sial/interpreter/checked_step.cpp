#include "languages/sial/interpreter/checked_step.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>

#include "languages/sial/exchange/failure.hpp"

namespace tessera::sial {
namespace {

[[noreturn]] void refuse_int(const std::string& result) {
  throw run_error(fmt::format("{} is beyond the 64 bits of an int", result), "count in a scalar");
}

std::int64_t quotient(std::int64_t left, std::int64_t right) {
  if (right == 0) throw run_error("an int is divided by zero");
  if (right == -1 && left == std::numeric_limits<std::int64_t>::min()) refuse_int(fmt::format("{} / -1", left));
  return left / right;
}

std::int64_t rounded(double value) {
  const double nearest = std::nearbyint(value);
  if (!(std::abs(nearest) < 0x1p62)) throw run_error(fmt::format("{} is no int", value));
  return static_cast<std::int64_t>(nearest);
}

double power(double base, double exponent) {
  const double value = std::pow(base, exponent);
  if (!std::isfinite(value))
    throw run_error(fmt::format("the result of ** is not a number that can be written: {}", value));
  return value;
}

}  // namespace

void checked_step(const step& now, const code& program, std::int64_t* i, double* s) {
  switch (now.operation) {
    case opcode::add_int:
      refuse_int(fmt::format("{} + {}", i[now.b], i[now.c]));
    case opcode::subtract_int:
      refuse_int(fmt::format("{} - {}", i[now.b], i[now.c]));
    case opcode::multiply_int:
      refuse_int(fmt::format("{} * {}", i[now.b], i[now.c]));
    case opcode::negate_int:
      refuse_int(fmt::format("-({})", i[now.b]));
    case opcode::divide_int:
      i[now.a] = quotient(i[now.b], i[now.c]);
      break;
    case opcode::round:
      i[now.a] = rounded(s[now.b]);
      break;
    case opcode::check_bound:
      if (i[now.a] == unbound)
        throw run_error(fmt::format("index '{}' has no value here", program.indices[now.b].name),
                        "a loop of the caller must bind it");
      break;
    case opcode::divide_scalar:
      if (s[now.c] == 0) throw run_error("a scalar is divided by zero");
      s[now.a] = s[now.b] / s[now.c];
      break;
    case opcode::power:
      s[now.a] = power(s[now.b], s[now.c]);
      break;
    case opcode::square_root:
      if (s[now.b] < 0) throw run_error(fmt::format("the square root of {} is asked for", s[now.b]));
      s[now.a] = std::sqrt(s[now.b]);
      break;
    default:
      break;
  }
}

}  // namespace tessera::sial
