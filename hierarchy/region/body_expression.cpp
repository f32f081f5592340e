#include "hierarchy/region/body_expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <stdexcept>
#include <utility>

namespace tessera::hierarchy {
namespace {

using enum body_number;
using kind_of_function = device_function::kind;

/// What INFINITY and HUGE_VAL are made of.
constexpr std::array infinities = {"__builtin_inff", "__builtin_inf", "__builtin_huge_valf", "__builtin_huge_val"};

std::string bracketed(const expression& e) { return e.atom ? e.text : "(" + e.text + ")"; }
/// As a number of another type.
std::string cast_text(const expression& e, body_number to) {
  if (to == boolean) return e.type == boolean ? bracketed(e) : fmt::format("({} != 0)", bracketed(e));
  return fmt::format("(({})({}))", c_name(to), e.text);
}

}  // namespace

touched_names operator+(touched_names a, const touched_names& b) {
  a.read.insert(a.read.end(), b.read.begin(), b.read.end());
  a.changed.insert(a.changed.end(), b.changed.begin(), b.changed.end());
  return a;
}

std::string conflict_of(const touched_names& a, const touched_names& b) {
  for (const std::string& name : a.changed)
    if (is_one_of(name, b.read) || is_one_of(name, b.changed)) return name;
  return {};
}

touched_names expression::value_touched() const {
  touched_names all = touched;
  if (!place.empty()) all.read.push_back(place);
  return all;
}

std::string value_text(const expression& e, body_number to) { return to == boolean ? cast_text(e, to) : e.text; }

expression_reader::expression_reader(std::string_view text, const std::vector<body_name>& names)
    : m_tokens(tokens_of(text)) {
  m_scopes.push_back({names, {}});
  m_scopes.emplace_back();
}

bool expression_reader::take(std::string_view text) {
  if (!is(text)) return false;
  ++m_at;
  return true;
}

void expression_reader::expect(std::string_view text, std::string_view where) {
  if (!take(text)) refuse(fmt::format("there is {} where '{}' is expected {}", seen(), text, where), "");
}

std::string expression_reader::seen() const {
  return now().is == token::kind::end ? std::string("the end of the body") : fmt::format("'{}'", now().text);
}

void expression_reader::refuse(std::string what, std::string hint) const {
  refuse_at(now().at, std::move(what), std::move(hint));
}

void expression_reader::refuse_at(std::size_t at, std::string what, std::string hint) {
  throw body_fault{std::move(what), std::move(hint), at};
}

void expression_reader::check_word() const {
  if (now().is == token::kind::literal)
    refuse(fmt::format("it has the text {}", now().text), "devices have numbers, and no texts or characters");
  if (const std::string_view instead = instead_of(now().text); now().is == token::kind::word && !instead.empty())
    refuse(fmt::format("it has '{}', which devices do not", now().text), std::string(instead));
  if (is("[") && behind().text == "[") refuse("it has an attribute", "leave it out");
  if (is("#")) refuse("it has a directive of the preprocessor", "leave it out");
}

const body_name* expression_reader::find(std::string_view name) const {
  for (auto s = m_scopes.rbegin(); s != m_scopes.rend(); ++s)
    for (const body_name& one : s->names)
      if (one.name == name) return &one;
  return nullptr;
}

body_name& expression_reader::declare(const token& name, body_number type) {
  const std::string as(name.text);
  if (as.starts_with("tessera_")) refuse_at(name.at, "names that begin with tessera_ are reserved", "");
  for (const body_name& one : m_scopes.front().names)
    if (one.name == as)
      refuse_at(name.at, fmt::format("'{}' is a name of the loop, and of a variable in its body", as),
                "give the variable another name");
  m_scopes.back().names.push_back({as, body_name::kind::local, type});
  return m_scopes.back().names.back();
}

void expression_reader::refuse_name(const token& name) const {
  const std::string text(name.text);
  if (behind().is == token::kind::word)
    refuse_at(name.at, fmt::format("'{}' is no type of numbers that devices have", text), types_in_words);
  if (behind().text == "(")
    refuse_at(name.at, fmt::format("it calls '{}', and devices have no such function", text),
              fmt::format("write out what it does. Functions are {}", functions_in_words()));
  refuse_at(name.at, fmt::format("'{}' is no index, use, capture or variable of the body", text),
            fmt::format("name it among the captures, TESSERA_BODY(({}), ...); a constant or a member is copied into a "
                        "variable first: const auto value = {};",
                        text, text));
}

std::optional<body_number> expression_reader::type_here() {
  const std::size_t begin = m_at;
  if (is("tessera") || is("::")) {
    take("::");
    if (!take("tessera") || !take("::") || !is("element_of")) {
      m_at = begin;
      if (!is("::") || behind().text != "std") return std::nullopt;
      ++m_at;
    }
  }
  if (is("element_of")) return type_of_elements();
  const bool qualified = is("std") && behind().text == "::";
  const std::string_view word = qualified ? behind(2).text : now().text;
  if (!qualified && is_part_of_type(word)) return type_of_parts();
  if (now().is != token::kind::word) return std::nullopt;
  if (const auto type = type_named(word)) {
    m_doubles = m_doubles || *type == f64;
    m_at += qualified ? 3 : 1;
    return type;
  }
  if (qualified) return std::nullopt;
  for (auto s = m_scopes.rbegin(); s != m_scopes.rend(); ++s)
    if (const auto found = s->types.find(word); found != s->types.end()) {
      ++m_at;
      return found->second;
    }
  m_at = begin;
  return std::nullopt;
}

std::optional<body_number> expression_reader::type_of_elements() {
  ++m_at;
  expect("<", "behind element_of");
  expect("decltype", "in element_of<decltype(x)>");
  expect("(", "in element_of<decltype(x)>");
  const token name = now();
  const body_name* const of = find(name.text);
  if (of == nullptr || of->is != body_name::kind::array)
    refuse_at(name.at, fmt::format("element_of of '{}', which is no array of the loop", name.text), "");
  const body_number type = of->type;
  ++m_at;
  expect(")", "in element_of<decltype(x)>");
  expect(">", "in element_of<decltype(x)>");
  return type;
}

std::optional<body_number> expression_reader::type_of_parts() {
  int longs = 0, shorts = 0, chars = 0;
  bool is_unsigned = false, is_signed = false;
  const token& first = now();
  for (; is_part_of_type(now().text) || is("double"); ++m_at) {
    if (is("double")) refuse("it has a number of type long double", "devices have double and float");
    longs += is("long"), shorts += is("short"), chars += is("char");
    is_unsigned = is_unsigned || is("unsigned");
    is_signed = is_signed || is("signed");
  }
  if (chars > 0) {
    if (!is_unsigned && !is_signed)
      refuse_at(first.at, "it has a number of type char, which has a sign on some machines only",
                "std::int8_t and std::uint8_t are the same everywhere");
    return is_unsigned ? u8 : i8;
  }
  if (shorts > 0) return is_unsigned ? u16 : i16;
  if (longs > 0) return is_unsigned ? u64 : i64;
  return is_unsigned ? u32 : i32;
}

std::string expression_reader::type_seen() const {
  return is("std") ? fmt::format("'std::{}'", behind(2).text) : seen();
}

expression expression_reader::comma() {
  expression left = assignment();
  while (take(",")) {
    const expression right = assignment();
    left = {left.text + ", " + right.text, right.type, false, left.value_touched() + right.value_touched()};
  }
  return left;
}

expression expression_reader::assignment() {
  const token begin = now();
  expression left = choice();
  static constexpr std::array assigning = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="};
  if (now().is != token::kind::sign || !is_one_of(now().text, assigning)) return left;
  if (left.place.empty())
    refuse_at(begin.at, "it assigns to what is neither a variable nor an element nor a result",
              "indices and captures stay what they are");
  const token sign = now();
  ++m_at;
  const expression right = assignment();
  if (left.type == boolean && sign.text != "=") {
    if (!is_one_of(sign.text, std::array{"&=", "|=", "^="}))
      refuse_at(begin.at, fmt::format("'{}' of a truth value", sign.text), "count in an int");
    if (sign.text == "^=" && right.type != boolean)
      refuse_at(begin.at, "'^=' of a truth value and a number", "compare the number: n != 0");
  }
  // C++ computes the right side first, C in any order.
  const touched_names needed = right.value_touched();
  check_order(left.touched, needed, sign);
  if (left.is_scalar || sign.text != "=") check_order(needed, {{left.place}, {}}, sign);
  touched_names all = left.touched + needed;
  all.changed.push_back(left.place);
  const std::string value = sign.text == "&=" ? right.text : value_text(right, left.type);
  return {fmt::format("{} {} {}", left.text, sign.text, value), left.type, false, std::move(all)};
}

void expression_reader::check_order(const touched_names& a, const touched_names& b, const token& sign) {
  std::string name = conflict_of(a, b);
  if (name.empty()) name = conflict_of(b, a);
  if (!name.empty())
    refuse_at(sign.at, fmt::format("'{}' changes on one side of '{}' and is used on the other", name, sign.text),
              "write two statements: devices compute the sides in any order");
}

expression expression_reader::choice() {
  const expression condition = binary(0);
  if (!take("?")) return condition;
  const expression then = assignment();
  expect(":", "behind ?");
  const expression otherwise = assignment();
  const body_number type = then.type == otherwise.type ? then.type : arithmetic_type(then.type, otherwise.type);
  return {fmt::format("{} ? {} : {}", bracketed(condition), bracketed(then), bracketed(otherwise)), type, false,
          condition.value_touched() + then.value_touched() + otherwise.value_touched()};
}

int expression_reader::strength(std::string_view sign) {
  static const std::map<std::string_view, int> all = {{"||", 1}, {"&&", 2}, {"|", 3}, {"^", 4},  {"&", 5},  {"==", 6},
                                                      {"!=", 6}, {"<", 7},  {">", 7}, {"<=", 7}, {">=", 7}, {"<<", 8},
                                                      {">>", 8}, {"+", 9},  {"-", 9}, {"*", 10}, {"/", 10}, {"%", 10}};
  const auto found = all.find(sign);
  return found != all.end() ? found->second : 0;
}

expression expression_reader::binary(int weakest) {
  expression left = unary();
  while (now().is == token::kind::sign && strength(now().text) > weakest) {
    const token sign = now();
    const int own = strength(sign.text);
    ++m_at;
    const expression right = binary(own);
    if (own > 2) check_order(left.value_touched(), right.value_touched(), sign);  // of && and || the left one is first
    body_number type = arithmetic_type(left.type, right.type);
    if (own <= 2 || own == 6 || own == 7) type = boolean;
    if (own == 8) type = promoted(left.type);
    if (own >= 3 && own <= 5 && left.type == boolean && right.type == boolean) type = i32;
    left = {fmt::format("{} {} {}", bracketed(left), sign.text, bracketed(right)), type, false,
            left.value_touched() + right.value_touched()};
  }
  if (is("<=>") || is("->*") || is("...")) refuse(fmt::format("it has '{}'", now().text), "");
  return left;
}

expression expression_reader::unary() {
  check_word();
  if (now().is == token::kind::sign) {
    const token sign = now();
    if (is("++") || is("--")) {
      ++m_at;
      const expression of = unary();
      check_counted(of, sign);
      return {std::string(sign.text) + of.text, of.type, false, of.value_touched() + touched_names{{}, {of.place}}};
    }
    if (is("-") || is("+") || is("!") || is("~")) {
      ++m_at;
      const expression of = unary();
      return {std::string(sign.text) + bracketed_for_sign(of), sign.text == "!" ? boolean : promoted(of.type), false,
              of.value_touched()};
    }
    if (is("&") || is("*"))
      refuse(is("&") ? "it takes the address of something" : "it follows a pointer",
             "name elements as x[position] or x(i, j)");
    if (is("(")) {
      ++m_at;
      const std::size_t begin = m_at;
      while (take("const")) continue;
      if (const auto type = type_here(); type && is(")")) {  // a cast as in C
        ++m_at;
        const expression of = unary();
        return {cast_text(of, *type), *type, true, of.value_touched()};
      }
      m_at = begin;
      expression inside = comma();
      expect(")", "behind an expression");
      inside.text = "(" + inside.text + ")";
      inside.atom = true;
      return postfix(std::move(inside));
    }
    if (is("[")) refuse("it has a function of its own", "write out what it does");
    refuse(fmt::format("there is {} where a number or a name is expected", seen()), "");
  }
  if (now().is == token::kind::number) {
    const expression number = literal(now());
    ++m_at;
    return number;
  }
  if (now().is == token::kind::end) refuse("the body ends in the middle of an expression", "");
  return postfix(word());
}

std::string expression_reader::bracketed_for_sign(const expression& e) {
  return e.atom && e.text[0] != '-' && e.text[0] != '+' ? e.text : "(" + e.text + ")";
}

void expression_reader::check_counted(const expression& of, const token& sign) const {
  if (of.place.empty())
    refuse_at(sign.at, fmt::format("'{}' of what is neither a variable nor an element nor a result", sign.text),
              "indices and captures stay what they are");
  if (of.type == boolean) refuse_at(sign.at, fmt::format("'{}' of a truth value", sign.text), "count in an int");
}

expression expression_reader::postfix(expression of) {
  while (now().is == token::kind::sign) {
    const token sign = now();
    if (is("++") || is("--")) {
      check_counted(of, sign);
      ++m_at;
      of = {of.text + std::string(sign.text), of.type, false, of.value_touched() + touched_names{{}, {of.place}}};
      continue;
    }
    if (is("."))
      refuse(fmt::format("it uses the member '{}'", behind().text),
             "a device has the elements of an array, x[position] and x(i, j): capture extents and other numbers");
    if (is("->")) refuse("it follows a pointer", "name what is used as an array, read(x)");
    if (is("[")) refuse("it has an index of what is no array", "elements are x[position], x(i, j) and x(i, j, k)");
    if (is("(")) refuse("it calls what is no function", "");
    break;
  }
  return of;
}

expression expression_reader::word() {
  const token name = now();
  if (is("true") || is("false")) {
    ++m_at;
    return {name.text == "true" ? "1" : "0", boolean};
  }
  if (is("static_cast")) return static_cast_here();
  if (is("std") || (is("::"))) return of_std();
  if (const auto type = type_here()) return value_of_type(*type, name);
  const body_name* const known = find(name.text);
  if (known == nullptr) {
    if (const device_function* const called = find_body_function(name.text);
        called != nullptr && (behind().text == "(" || behind().text == "<")) {
      ++m_at;
      return call(*called, name);
    }
    if (name.text == "auto") refuse("it has 'auto' in an expression", "");
    if (is_one_of(name.text, infinities) && behind().text == "(" && behind(2).text == ")") {
      m_at += 3;
      const bool single = name.text.ends_with('f');
      m_doubles = m_doubles || !single;
      return {single ? "(1.0f / 0.0f)" : "(1.0 / 0.0)", single ? f32 : f64};
    }
    refuse_name(name);
  }
  const body_name found = *known;  // declarations of others move it
  ++m_at;
  const std::string as = found.name + "_";
  switch (found.is) {
    case body_name::kind::array:
      return element(found, name);
    case body_name::kind::local_array: {
      std::string text = as;
      touched_names touched;
      for (std::size_t k = 0; k < found.dimensions; ++k) {
        const token bracket = now();
        if (!take("["))
          refuse_at(name.at,
                    fmt::format("the array '{}' of the body is used without {}", found.name,
                                found.dimensions == 1 ? "an index" : fmt::format("{} indices", found.dimensions)),
                    "its elements are used one by one");
        const expression one = comma();
        check_order(touched, one.value_touched(), bracket);
        touched = touched + one.value_touched();
        text += "[" + one.text + "]";
        expect("]", "behind an index");
      }
      return {text, found.type, true, std::move(touched), found.name};
    }
    case body_name::kind::index:
    case body_name::kind::number:
      return {as, found.type, true, {{found.name}, {}}};
    default:
      return {as, found.type, true, {}, found.name, true};
  }
}

expression expression_reader::element(const body_name& array, const token& name) {
  const bool position = is("[");
  if (!position && !is("(")) {
    if (is("."))
      refuse(fmt::format("it uses the member '{}' of array '{}'", behind().text, array.name),
             "a device has the elements alone: capture extents and other numbers");
    refuse_at(name.at, fmt::format("array '{}' is used without an index", array.name),
              fmt::format("its elements are {0}[position], {0}(i), {0}(i, j) and {0}(i, j, k)", array.name));
  }
  ++m_at;
  std::string text = array.name + (position ? "_[" : "_(");
  touched_names touched;
  std::size_t indices = 0;
  do {
    const expression one = assignment();
    if (is_floating(one.type))
      refuse_at(name.at, fmt::format("an index of array '{}' is a fraction", array.name),
                "static_cast<std::int64_t>(...) cuts it off");
    text += (indices++ > 0 ? ", " : "") + one.text;
    check_order(touched, one.value_touched(), name);
    touched = touched + one.value_touched();
  } while (!position && take(","));
  expect(position ? "]" : ")", "behind the indices of an array");
  return {text + (position ? "]" : ")"), array.type, true, std::move(touched), array.name};
}

expression expression_reader::static_cast_here() {
  ++m_at;
  expect("<", "behind static_cast");
  while (take("const")) continue;
  const token at = now();
  const auto type = type_here();
  if (!type) refuse_at(at.at, fmt::format("{} is no type of numbers that devices have", type_seen()), types_in_words);
  while (take("const")) continue;
  if (!take(">"))
    refuse_at(at.at, fmt::format("{} is where the type of static_cast should end", seen()), types_in_words);
  expect("(", "behind static_cast");
  const expression of = comma();
  expect(")", "behind static_cast");
  return {cast_text(of, *type), *type, true, of.value_touched()};
}

expression expression_reader::value_of_type(body_number type, const token& name) {
  const bool braces = is("{");
  if (!braces && !is("("))
    refuse_at(name.at, fmt::format("the type '{}' stands where a number is expected", name.text), "");
  ++m_at;
  if (take(braces ? "}" : ")")) return {cast_text({"0", i32}, type), type};
  const expression of = comma();
  expect(braces ? "}" : ")", "behind a value of a type");
  return {cast_text(of, type), type, true, of.value_touched()};
}

expression expression_reader::of_std() {
  const token begin = now();
  if (const auto type = type_here()) return value_of_type(*type, begin);
  take("::");
  if (!take("std")) {
    const token name = now();
    refuse_at(name.at, fmt::format("it uses '::{}'", name.text), "use functions and types of std, or none");
  }
  expect("::", "behind std");
  const token name = now();
  ++m_at;
  const device_function* const called = find_body_function(name.text);
  if (called == nullptr || !(is("(") || is("<")))
    refuse_at(
        begin.at, fmt::format("it uses 'std::{}', which devices do not have", name.text),
        fmt::format("of the library a body has numbers such as std::int64_t, and functions: {}", functions_in_words()));
  return call(*called, name);
}

expression expression_reader::call(const device_function& what, const token& name) {
  std::optional<body_number> forced;  // std::max<double>(...)
  if (take("<")) {
    forced = type_here();
    if (!forced) refuse(fmt::format("{} is no type of numbers that devices have", type_seen()), types_in_words);
    expect(">", "behind the type of a function");
  }
  expect("(", "behind the name of a function");
  std::vector<expression> arguments;
  touched_names touched;
  if (!is(")")) do {
      if (is("{"))
        refuse("a function gets a list in braces", fmt::format("{} takes {} numbers", what.name, what.arguments));
      arguments.push_back(assignment());
      if (forced && arguments.back().type != *forced)
        arguments.back() = {cast_text(arguments.back(), *forced), *forced, true, arguments.back().value_touched()};
      check_order(touched, arguments.back().value_touched(), name);
      touched = touched + arguments.back().value_touched();
    } while (take(","));
  expect(")", "behind the arguments of a function");
  if (arguments.size() != what.arguments)
    refuse_at(name.at, fmt::format("it calls '{}' with {} arguments", what.name, arguments.size()),
              fmt::format("for devices it takes {}", what.arguments));
  const auto check_repeated = [&] {  // an argument stands several times in what is made
    if (!touched.changed.empty())
      refuse_at(name.at, fmt::format("an argument of '{}' changes something", what.name),
                "compute it in a statement in front");
  };
  switch (what.is) {
    case kind_of_function::absolute:
      if (is_floating(arguments[0].type))
        return {fmt::format("fabs({})", arguments[0].text), arguments[0].type, true, touched};
      check_repeated();
      return {fmt::format("({0} < 0 ? -{0} : {0})", wrapped(arguments[0])), promoted(arguments[0].type), true, touched};
    case kind_of_function::minimum:
      check_repeated();
      return {fmt::format("({1} < {0} ? {1} : {0})", wrapped(arguments[0]), wrapped(arguments[1])), arguments[0].type,
              true, touched};
    case kind_of_function::maximum:
      check_repeated();
      return {fmt::format("({0} < {1} ? {1} : {0})", wrapped(arguments[0]), wrapped(arguments[1])), arguments[0].type,
              true, touched};
    case kind_of_function::restricted:
      check_repeated();
      return {fmt::format("({0} < {1} ? {1} : {2} < {0} ? {2} : {0})", wrapped(arguments[0]), wrapped(arguments[1]),
                          wrapped(arguments[2])),
              arguments[0].type, true, touched};
    default:
      break;
  }
  // Numbers that are no fractions are doubles for all of them.
  const std::size_t counted = what.is == kind_of_function::exponent ? 1 : arguments.size();
  bool single = true;
  for (std::size_t k = 0; k < counted; ++k) single = single && arguments[k].type == f32;
  const body_number type = single ? f32 : f64;
  m_doubles = m_doubles || !single;
  std::string text = std::string(what.name) + "(";
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const body_number wanted = k < counted ? type : i32;
    text += (k > 0 ? ", " : "") + (arguments[k].type == wanted ? arguments[k].text : cast_text(arguments[k], wanted));
  }
  text += ")";
  if (what.is == kind_of_function::truth) return {"(" + text + " != 0)", boolean, true, touched};
  return {text, type, true, touched};
}

std::string expression_reader::wrapped(const expression& e) { return e.atom ? e.text : "(" + e.text + ")"; }

expression expression_reader::literal(const token& of) {
  std::string text;
  for (const char c : of.text)
    if (c != '\'') text += c;
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const bool binary = text.starts_with("0b") || text.starts_with("0B");
  const bool fraction =
      text.find('.') != std::string::npos || (hexadecimal ? text.find_first_of("pP")
                                              : binary    ? std::string::npos
                                                          : text.find_first_of("eE")) != std::string::npos;
  if (fraction) {
    const char last = text.back();
    if (last == 'l' || last == 'L') refuse_at(of.at, fmt::format("{} is a long double", of.text), "leave the L out");
    const body_number type = last == 'f' || last == 'F' ? f32 : f64;
    const std::string_view digits = std::string_view(text).substr(0, text.size() - (type == f32 ? 1 : 0));
    if (digits.find_first_not_of(hexadecimal ? "0123456789abcdefABCDEFxXpP.+-" : "0123456789eE.+-") != digits.npos)
      refuse_at(of.at, fmt::format("{} is no number that devices have", of.text),
                "a number ends with its digits, with f (float) or with u and l (integers)");
    m_doubles = m_doubles || type == f64;
    return {text, type};
  }
  std::size_t end = text.size();
  bool is_unsigned = false, is_long = false;
  while (end > 1 && std::string_view("uUlLzZ").find(text[end - 1]) != std::string_view::npos) {
    --end;
    is_unsigned = is_unsigned || text[end] == 'u' || text[end] == 'U';
    is_long = is_long || (text[end] != 'u' && text[end] != 'U');
  }
  const std::string digits = text.substr(binary ? 2 : 0, end - (binary ? 2 : 0));
  unsigned long long value = 0;
  try {
    std::size_t read = 0;
    value = std::stoull(digits, &read, binary ? 2 : 0);
    if (read != digits.size()) throw std::invalid_argument(digits);
  } catch (const std::exception&) {
    refuse_at(of.at, fmt::format("{} is no number that devices have", of.text),
              "a number ends with its digits, with f (float) or with u and l (integers)");
  }
  const bool decimal = !hexadecimal && !binary && !(digits.size() > 1 && digits[0] == '0');
  body_number type = is_unsigned ? (is_long ? u64 : u32) : (is_long ? i64 : i32);
  if (type == i32 && value > 0x7fffffffull) type = decimal || value > 0xffffffffull ? i64 : u32;
  if (type == u32 && value > 0xffffffffull) type = u64;
  if (type == i64 && value > 0x7fffffffffffffffull) type = u64;
  return {fmt::format("{}{}", value, type == u64 ? "UL" : type == i64 ? "L" : type == u32 ? "U" : ""), type};
}

}  // namespace tessera::hierarchy
