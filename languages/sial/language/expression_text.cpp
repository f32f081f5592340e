// Expressions and blocks as they are written.
#include <fmt/format.h>

#include "languages/sial/language/subscripts.hpp"

namespace tessera::sial {

std::string to_text(const program& p, const std::vector<subscript>& list) {
  std::string text = "[";
  for (const subscript& s : list) {
    if (text.size() > 1) text += ",";
    text += s.value ? "(index)" + to_text(p, *s.value) : p.indices[s.index].name;
  }
  return text + "]";
}

std::string to_text(const program& p, const block_reference& b) {
  return p.arrays[b.array].name + to_text(p, b.subscripts);
}

std::string to_text(const program& p, const region_reference& r) {
  std::string text;
  for (const auto& [low, high] : r.ranges)
    text += (text.empty() ? "[" : ",") + to_text(p, low) + ":" + to_text(p, high);
  return p.arrays[r.array].name + text + "]";
}

std::string to_text(const program& p, const expression& e) {
  const auto operand = [&](std::size_t k) { return to_text(p, e.operands[k]); };
  const auto binary = [&](const char* op) { return fmt::format("({} {} {})", operand(0), op, operand(1)); };
  switch (e.kind) {
    case operation::int_literal:
      return fmt::format("{}", e.i);
    case operation::scalar_literal: {
      const std::string digits = fmt::format("{}", e.d);
      return digits.find_first_of(".en") == digits.npos ? digits + ".0" : digits;
    }
    case operation::int_variable:
      return p.ints[e.variable].name;
    case operation::index_variable:
      return p.indices[e.variable].name;
    case operation::scalar_variable:
      return p.scalars[e.variable].name;
    case operation::simple_block:
      return to_text(p, e.blocks[0]);
    case operation::contraction:
      return fmt::format("<{} * {}>", to_text(p, e.blocks[0]), to_text(p, e.blocks[1]));
    case operation::negate:
      return fmt::format("(-{})", operand(0));
    case operation::square_root:
      return fmt::format("(sqrt {})", operand(0));
    case operation::to_int:
      return "(int)" + operand(0);
    case operation::to_scalar:
      return "(scalar)" + operand(0);
    case operation::add:
      return binary("+");
    case operation::subtract:
      return binary("-");
    case operation::multiply:
      return binary("*");
    case operation::divide:
      return binary("/");
    case operation::power:
      return binary("**");
  }
  return {};
}

}  // namespace tessera::sial
