#include "hierarchy/region/body_words.hpp"

#include <array>
#include <cctype>
#include <utility>

namespace tessera::hierarchy {
namespace {

using enum body_number;
using kind_of_function = device_function::kind;

constexpr std::array functions = {device_function{"abs", 1, kind_of_function::absolute},
                                  device_function{"acos", 1, kind_of_function::floating},
                                  device_function{"asin", 1, kind_of_function::floating},
                                  device_function{"atan", 1, kind_of_function::floating},
                                  device_function{"atan2", 2, kind_of_function::floating},
                                  device_function{"cbrt", 1, kind_of_function::floating},
                                  device_function{"ceil", 1, kind_of_function::floating},
                                  device_function{"clamp", 3, kind_of_function::restricted},
                                  device_function{"copysign", 2, kind_of_function::floating},
                                  device_function{"cos", 1, kind_of_function::floating},
                                  device_function{"cosh", 1, kind_of_function::floating},
                                  device_function{"erf", 1, kind_of_function::floating},
                                  device_function{"erfc", 1, kind_of_function::floating},
                                  device_function{"exp", 1, kind_of_function::floating},
                                  device_function{"exp2", 1, kind_of_function::floating},
                                  device_function{"expm1", 1, kind_of_function::floating},
                                  device_function{"fabs", 1, kind_of_function::floating},
                                  device_function{"floor", 1, kind_of_function::floating},
                                  device_function{"fma", 3, kind_of_function::floating},
                                  device_function{"fmax", 2, kind_of_function::floating},
                                  device_function{"fmin", 2, kind_of_function::floating},
                                  device_function{"fmod", 2, kind_of_function::floating},
                                  device_function{"hypot", 2, kind_of_function::floating},
                                  device_function{"isfinite", 1, kind_of_function::truth},
                                  device_function{"isinf", 1, kind_of_function::truth},
                                  device_function{"isnan", 1, kind_of_function::truth},
                                  device_function{"ldexp", 2, kind_of_function::exponent},
                                  device_function{"log", 1, kind_of_function::floating},
                                  device_function{"log10", 1, kind_of_function::floating},
                                  device_function{"log1p", 1, kind_of_function::floating},
                                  device_function{"log2", 1, kind_of_function::floating},
                                  device_function{"max", 2, kind_of_function::maximum},
                                  device_function{"min", 2, kind_of_function::minimum},
                                  device_function{"pow", 2, kind_of_function::floating},
                                  device_function{"rint", 1, kind_of_function::floating},
                                  device_function{"round", 1, kind_of_function::floating},
                                  device_function{"sin", 1, kind_of_function::floating},
                                  device_function{"sinh", 1, kind_of_function::floating},
                                  device_function{"sqrt", 1, kind_of_function::floating},
                                  device_function{"tan", 1, kind_of_function::floating},
                                  device_function{"tanh", 1, kind_of_function::floating},
                                  device_function{"trunc", 1, kind_of_function::floating}};

constexpr std::array<std::pair<std::string_view, body_number>, 26> named_types = {{
    {"double", f64},        {"float", f32},         {"bool", boolean},       {"int8_t", i8},
    {"uint8_t", u8},        {"int16_t", i16},       {"uint16_t", u16},       {"int32_t", i32},
    {"uint32_t", u32},      {"int64_t", i64},       {"uint64_t", u64},       {"size_t", u64},
    {"ptrdiff_t", i64},     {"intptr_t", i64},      {"uintptr_t", u64},      {"int_fast64_t", i64},
    {"uint_fast64_t", u64}, {"int_least32_t", i32}, {"uint_least32_t", u32}, {"intmax_t", i64},
    {"uintmax_t", u64},     {"int_least64_t", i64}, {"uint_least64_t", u64}, {"int_least8_t", i8},
    {"uint_least8_t", u8},  {"int_least16_t", i16},
}};
constexpr std::array<std::string_view, 6> parts_of_types = {"int", "long", "short", "unsigned", "signed", "char"};

struct refused_word {
  std::string_view word, instead;
};
constexpr std::array refused_words = {
    refused_word{"switch", "write if and else"},
    refused_word{"goto", "write a loop, or return, which ends the iteration"},
    refused_word{"try", "a device throws nothing: note a mistake in an element or a result"},
    refused_word{"throw", "a device throws nothing: note a mistake in an element or a result"},
    refused_word{"new", "a device has no memory of its own: double m[16] is an array of the iteration"},
    refused_word{"delete", "a device has no memory of its own: double m[16] is an array of the iteration"},
    refused_word{"this", "copy members into variables in front of the loop, and capture those"},
    refused_word{"decltype", "auto is the type of a value, tessera::element_of<decltype(x)> that of the elements of x"},
    refused_word{"sizeof", "write the number"},
    refused_word{"static", "variables are those of an iteration; what all share is an array"},
    refused_word{"thread_local", "variables are those of an iteration; what all share is an array"},
    refused_word{"volatile", "leave it out"},
    refused_word{"template", "write plain statements"},
    refused_word{"typename", "tessera::element_of<decltype(x)> is the type of the elements of x"},
    refused_word{"struct", "use several numbers"},
    refused_word{"class", "use several numbers"},
    refused_word{"union", "use several numbers"},
    refused_word{"enum", "use numbers"},
    refused_word{"operator", "write plain statements"},
    refused_word{"reinterpret_cast", "static_cast makes numbers of numbers"},
    refused_word{"const_cast", "static_cast makes numbers of numbers"},
    refused_word{"dynamic_cast", "static_cast makes numbers of numbers"},
    refused_word{"co_await", "write plain statements"},
    refused_word{"asm", "write plain statements"},
    refused_word{"nullptr", "a device follows no pointers: name what is used as an array, read(x)"},
    refused_word{"alignas", "leave it out"},
    refused_word{"alignof", "write the number"},
    refused_word{"case", "write if and else"},
    refused_word{"catch", "a device throws nothing: note a mistake in an element or a result"},
    refused_word{"co_return", "write plain statements"},
    refused_word{"co_yield", "write plain statements"},
    refused_word{"extern", "variables are those of an iteration; what all share is an array"},
    refused_word{"inline", "leave it out"},
    refused_word{"mutable", "leave it out"},
    refused_word{"namespace", "name functions and types with std::, or without"},
    refused_word{"noexcept", "leave it out"},
    refused_word{"register", "leave it out"},
    refused_word{"requires", "write plain statements"},
    refused_word{"static_assert", "write it in front of the loop"},
    refused_word{"typedef", "write using real = double"},
    refused_word{"typeid", "write plain statements"},
    refused_word{"void", "a body has numbers, and no functions of its own; (void)a; says that a is not used"},
    refused_word{"_Pragma", "leave it out: loops over the region's indices get theirs"},
};

bool begins_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0; }
bool in_word(char c) { return begins_word(c) || std::isdigit(static_cast<unsigned char>(c)) != 0; }

constexpr std::array signs = {"<<=", ">>=", "...", "->*", "<=>", "::", "->", "++", "--", "<<", ">>", "<=", ">=",
                              "==",  "!=",  "&&",  "||",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^="};

/// Signs that are words.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> worded_signs = {{
    {"and", "&&"},
    {"or", "||"},
    {"not", "!"},
    {"bitand", "&"},
    {"bitor", "|"},
    {"xor", "^"},
    {"compl", "~"},
    {"not_eq", "!="},
    {"and_eq", "&="},
    {"or_eq", "|="},
    {"xor_eq", "^="},
}};
/// In front of a literal of characters.
constexpr std::array prefixes = {"u8", "u", "U", "L", "R", "u8R", "uR", "UR", "LR"};

/// The length of a number, which may have signs behind its exponent and quotes between its digits.
std::size_t number_length(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  std::size_t length = 1;
  for (; length < text.size(); ++length) {
    const char c = text[length], before = text[length - 1];
    const bool exponent = hexadecimal ? before == 'p' || before == 'P' : before == 'e' || before == 'E';
    if (!in_word(c) && c != '.' && c != '\'' && !((c == '+' || c == '-') && exponent)) break;
  }
  return length;
}

}  // namespace

std::string functions_in_words() {
  std::string all;
  for (const device_function& one : functions) all.append(all.empty() ? "" : ", ").append(one.name);
  return all;
}

const char* const types_in_words =
    "types are auto, double, float, int, std::int64_t and their like, bool, and that of the elements of an array, "
    "tessera::element_of<decltype(x)>";

std::vector<token> tokens_of(std::string_view text) {
  std::vector<token> all;
  std::size_t at = 0;
  const auto literal_length = [&](std::size_t from) {
    std::size_t length = 1;
    while (from + length < text.size() && text[from + length] != text[from])
      length += text[from + length] == '\\' ? 2 : 1;
    return length + 1;
  };
  while (at < text.size()) {
    const char c = text[at];
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++at;
      continue;
    }
    token next{token::kind::sign, text.substr(at, 1), at};
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (begins_word(c)) {
      std::size_t length = 1;
      while (at + length < text.size() && in_word(text[at + length])) ++length;
      next = {token::kind::word, text.substr(at, length), at};
      const char behind = at + length < text.size() ? text[at + length] : ' ';
      if ((behind == '"' || behind == '\'') && is_one_of(next.text, prefixes)) {
        next = {token::kind::literal, text.substr(at, length + literal_length(at + length)), at};
      } else if (const auto sign =
                     std::ranges::find(worded_signs, next.text, &decltype(worded_signs)::value_type::first);
                 sign != worded_signs.end()) {
        all.push_back({token::kind::sign, sign->second, at});
        at += length;
        continue;
      }
    } else if (digit ||
               (c == '.' && at + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[at + 1])) != 0)) {
      next = {token::kind::number, text.substr(at, number_length(text.substr(at))), at};
    } else if (c == '"' || c == '\'') {
      next = {token::kind::literal, text.substr(at, literal_length(at)), at};
    } else {
      for (const std::string_view sign : signs)
        if (text.substr(at).starts_with(sign)) {
          next.text = text.substr(at, sign.size());
          break;
        }
    }
    all.push_back(next);
    at += std::max<std::size_t>(next.text.size(), 1);
  }
  all.push_back({token::kind::end, {}, text.size()});
  return all;
}

std::vector<body_parameter> parameters_in(std::string_view list) {
  std::vector<body_parameter> all;
  std::vector<token> part;
  const auto end_part = [&] {
    body_parameter parameter;
    const token last = part.empty() ? token() : part.back();
    const bool is_type = last.text == "auto" || (part.size() > 1 && part[part.size() - 2].text == "::");
    if (last.is == token::kind::word && !is_type) {
      parameter.name = last.text;
      part.pop_back();
    }
    for (const token& one : part) parameter.type.append(parameter.type.empty() ? "" : " ").append(one.text);
    all.push_back(std::move(parameter));
    part.clear();
  };
  int depth = 0;
  for (const token& one : tokens_of(list)) {
    const int closes = is_one_of(one.text, std::array{")", "]", "}", ">"}) ? 1 : one.text == ">>" ? 2 : 0;
    if (depth == 1 && (one.text == "," || one.text == ")")) {
      if (!part.empty() || !all.empty()) end_part();
    } else if (depth > 0) {
      part.push_back(one);
    }
    depth += (is_one_of(one.text, std::array{"(", "[", "{", "<"}) ? 1 : 0) - closes;
  }
  return all;
}

bool is_floating(body_number type) noexcept { return type == f32 || type == f64; }

/// As numbers are before arithmetic.
body_number promoted(body_number type) noexcept {
  switch (type) {
    case boolean:
    case i8:
    case u8:
    case i16:
    case u16:
      return i32;
    default:
      return type;
  }
}
/// The type of arithmetic on two numbers.
body_number arithmetic_type(body_number a, body_number b) noexcept {
  if (a == f64 || b == f64) return f64;
  if (a == f32 || b == f32) return f32;
  a = promoted(a), b = promoted(b);
  if (a == b) return a;
  return std::max(a, b);  // of i32, u32, i64, u64: the larger one, then the one without sign
}

std::optional<body_number> type_named(std::string_view name) noexcept {
  for (const auto& [known, type] : named_types)
    if (name == known) return type;
  return std::nullopt;
}

bool is_part_of_type(std::string_view word) noexcept { return is_one_of(word, parts_of_types); }

std::string_view c_name(body_number type) noexcept {
  switch (type) {
    case boolean:
    case i32:
      return "int";
    case i8:
      return "signed char";
    case u8:
      return "unsigned char";
    case i16:
      return "short";
    case u16:
      return "unsigned short";
    case u32:
      return "unsigned int";
    case i64:
      return "long";
    case u64:
      return "unsigned long";
    case f32:
      return "float";
    case f64:
      return "double";
    default:
      return {};
  }
}

const device_function* find_body_function(std::string_view name) noexcept {
  const auto found = std::ranges::find(functions, name, &device_function::name);
  return found != functions.end() ? &*found : nullptr;
}

std::string_view instead_of(std::string_view word) noexcept {
  for (const refused_word& one : refused_words)
    if (one.word == word) return one.instead;
  return {};
}

}  // namespace tessera::hierarchy
