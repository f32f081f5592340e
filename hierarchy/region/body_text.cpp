#include "hierarchy/region/body_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "core/base/call_site.hpp"
#include "core/base/error.hpp"

namespace tessera::hierarchy {
namespace {

using enum body_number;

/// Reads statements.
class statement_reader : private expression_reader {
 public:
  statement_reader(std::string_view text, const std::vector<body_name>& names) : expression_reader(text, names) {}

  device_statements translate() {
    std::string text;
    while (now().is != token::kind::end) text += statement(1);
    return {"{ {\n" + text + "} " + (m_returns ? "tessera_end: ; }" : "}"), m_doubles};
  }

 private:
  std::string indent(std::size_t depth) const { return std::string(2 * depth, ' '); }

  /// The branch or the body of a loop.
  std::string inner_statement(std::size_t depth) {
    m_scopes.emplace_back();
    std::string text = statement(depth);
    m_scopes.pop_back();
    return text;
  }

  std::string statement(std::size_t depth) {
    check_word();
    if (is_unused_mark()) return unused_marks(depth);
    if (now().is == token::kind::word && behind().text == ":")
      refuse(fmt::format("it has the label '{}'", now().text), "write a loop, or return, which ends the iteration");
    if (take(";")) return indent(depth) + ";\n";
    if (take("{")) {
      m_scopes.emplace_back();
      std::string text = indent(depth) + "{\n";
      while (!is("}")) {
        if (now().is == token::kind::end) refuse("a brace is not closed", "");
        text += statement(depth + 1);
      }
      ++m_at;
      m_scopes.pop_back();
      return text + indent(depth) + "}\n";
    }
    if (take("if")) return branch(depth);
    if (is("for")) return for_loop(depth);
    if (take("while")) {
      const std::string condition = in_brackets("behind while");
      ++m_loops;
      std::string text = fmt::format("{}while ({})\n{}", indent(depth), condition, inner_statement(depth + 1));
      --m_loops;
      return text;
    }
    if (take("do")) {
      ++m_loops;
      const std::string inside = inner_statement(depth + 1);
      --m_loops;
      expect("while", "behind the body of do");
      std::string text = fmt::format("{0}do\n{1}{0}while ({2});\n", indent(depth), inside, in_brackets("behind while"));
      expect(";", "behind do and while");
      return text;
    }
    if (is("break") || is("continue")) {
      const std::string word(now().text);
      if (m_loops == 0) refuse(fmt::format("'{}' is in no loop of the body", word), "return ends the iteration");
      ++m_at;
      expect(";", "behind it");
      return indent(depth) + word + ";\n";
    }
    if (take("return")) {
      if (!is(";")) refuse("it returns a value", "what a loop makes is written to its elements and results");
      ++m_at;
      m_returns = true;
      return indent(depth) + "goto tessera_end;\n";
    }
    if (take("using")) return alias();
    if (begins_declaration()) {
      std::string text = indent(depth) + declaration() + ";\n";
      expect(";", "behind a declaration");
      return text;
    }
    std::string text = indent(depth) + comma().text + ";\n";
    expect(";", "behind a statement");
    return text;
  }

  /// (void)name, which says that something is not used.
  bool is_unused_mark() const { return is("(") && behind().text == "void" && behind(2).text == ")"; }
  std::string unused_marks(std::size_t depth) {
    std::string text;
    do {
      m_at += 3;
      if (now().is == token::kind::word && find(now().text) != nullptr &&
          (behind().text == ";" || behind().text == ","))
        ++m_at;
      else
        text += indent(depth) + unary().text + ";\n";
    } while (take(",") && is_unused_mark());
    expect(";", "behind (void) and a name");
    return text.empty() ? indent(depth) + ";\n" : text;
  }

  std::string in_brackets(std::string_view where) {
    expect("(", where);
    if (begins_declaration()) refuse("a condition declares a variable", "declare it in front of the statement");
    const expression e = comma();
    if (is(";")) refuse("a condition has a statement in it", "write it in front of the statement");
    expect(")", "behind a condition");
    return e.text;
  }

  std::string branch(std::size_t depth) {
    if (is("constexpr") || is("consteval"))
      refuse(fmt::format("it has 'if {}'", now().text), "write if: compilers decide what is constant");
    std::string text = fmt::format("{}if ({})\n", indent(depth), in_brackets("behind if"));
    const std::string then = inner_statement(depth + 1);
    if (!take("else")) return text + then;
    // The else belongs to this if, whatever the branch ends with.
    text += fmt::format("{0}{{\n{1}{0}}} else\n", indent(depth), then);
    return text + inner_statement(depth + 1);
  }

  std::string for_loop(std::size_t depth) {
    ++m_at;
    expect("(", "behind for");
    m_scopes.emplace_back();
    std::string first;
    if (!is(";")) first = begins_declaration() ? declaration() : comma().text;
    if (is(":")) refuse(loop_over_range, instead_of_range);
    expect(";", "in the head of a loop");
    const std::string condition = is(";") ? std::string() : comma().text;
    expect(";", "in the head of a loop");
    const std::string step = is(")") ? std::string() : comma().text;
    expect(")", "behind the head of a loop");
    ++m_loops;
    std::string text =
        fmt::format("{}for ({}; {}; {})\n{}", indent(depth), first, condition, step, inner_statement(depth + 1));
    --m_loops;
    m_scopes.pop_back();
    return text;
  }

  std::string alias() {
    const token name = now();
    if (name.is != token::kind::word || behind().text != "=")
      refuse("it has a using that names no type", "write using real = double");
    m_at += 2;
    const auto type = type_here();
    if (!type) refuse(fmt::format("{} is no type of numbers that devices have", seen()), "write using real = double");
    m_scopes.back().types[std::string(name.text)] = *type;
    expect(";", "behind using");
    return {};
  }

  bool begins_declaration() {
    if (is("const") || is("constexpr") || is("auto")) return true;
    const std::size_t begin = m_at;
    const bool is_type = type_here().has_value();
    const bool declares = is_type && (now().is == token::kind::word || is("&") || is("*") || is("&&") || is("["));
    m_at = begin;
    return declares;
  }

  std::string declaration() {
    while (take("const") || take("constexpr")) continue;
    std::optional<body_number> type;
    const bool deduced = take("auto");
    if (!deduced) {
      check_word();
      type = type_here();
      if (!type) {
        const token name = now();
        if (name.is == token::kind::word && name.text != "std") refuse_name(name);
        refuse(fmt::format("{} is no type of numbers that devices have", type_seen()), types_in_words);
      }
    }
    while (take("const")) continue;
    std::string text;
    do {
      if (is("&") || is("&&") || is("*"))
        refuse(fmt::format("it declares a {}", is("*") ? "pointer" : "reference"),
               "name the element each time, x(i, j), or copy its value");
      const token name = now();
      if (is("[")) refuse("it declares several names together", "declare each by itself");
      if (name.is != token::kind::word) refuse(fmt::format("there is {} where a name is expected", seen()), "");
      ++m_at;
      std::string sizes;
      std::size_t dimensions = 0;
      for (; take("["); ++dimensions) {
        const token size = now();
        if (size.is != token::kind::number || behind().text != "]")
          refuse("the length of an array of the body is no number", "such as double m[16]; all iterations have it");
        m_at += 2;
        sizes += fmt::format("[{}]", literal(size).text);
      }
      const std::string as = std::string(name.text) + "_";
      std::string value;
      if (dimensions > 0) {
        if (deduced) refuse_at(name.at, "an array of the body has no type", "write double m[16]");
        if (take("=") || is("{")) value = " = " + elements(*type);
        body_name& made_name = declare(name, *type);
        made_name.is = body_name::kind::local_array, made_name.dimensions = dimensions;
      } else {
        expression initial;
        const bool braces = is("{") || (is("=") && behind().text == "{");
        const bool has_value = braces || is("=") || is("(");
        if (has_value) {
          const bool round = is("(");
          if (!take("{") && !take("(")) ++m_at;
          if (braces && m_tokens[m_at - 1].text == "=") ++m_at;
          if (braces && is("}"))
            initial = {"0", i32};
          else
            initial = assignment();
          if (braces) expect("}", "behind the value of a variable");
          if (round) expect(")", "behind the value of a variable");
        } else if (is(":")) {
          refuse(loop_over_range, instead_of_range);
        } else if (deduced) {
          refuse_at(name.at, fmt::format("'{}' has no value, of which it would have its type", name.text), "");
        }
        const body_number own = deduced ? initial.type : *type;
        if (deduced && text.empty()) type = own;  // all of one declaration have one type
        if (own == none) refuse_at(name.at, fmt::format("'{}' is of no type of numbers", name.text), "");
        declare(name, own);
        if (has_value) value = " = " + value_text(initial, own);
      }
      text += fmt::format("{}{}{}{}", text.empty() ? std::string(c_name(*type)) + " " : ", ", as, sizes, value);
    } while (take(","));
    return text;
  }

  std::string elements(body_number type) {
    expect("{", "in front of the values of an array");
    std::string text;
    while (!is("}")) {
      if (!text.empty()) expect(",", "between the values of an array");
      if (is("}")) break;
      text += text.empty() ? "" : ", ";
      if (is("{")) {
        text += elements(type);
        continue;
      }
      const token begin = now();
      const expression value = assignment();
      if (value.changes())
        refuse_at(begin.at, "a value of an array of the body changes something",
                  "compute it in a statement in front: devices compute these values in any order");
      text += value_text(value, type);
    }
    ++m_at;
    return "{" + (text.empty() ? "0" : text) + "}";
  }

  static constexpr const char* loop_over_range = "it has a loop over a range";
  static constexpr const char* instead_of_range = "write for (std::int64_t k = 0; k < n; ++k)";
  int m_loops = 0;  // around what is read
  bool m_returns = false;
};

/// What stands around a place.
std::string excerpt(std::string_view text, std::size_t at) {
  constexpr std::size_t before = 24, all = 64;
  const std::size_t begin = at > before ? at - before : 0;
  const std::size_t length = std::min(all, text.size() - begin);
  return fmt::format("{}{}{}", begin > 0 ? "..." : "", text.substr(begin, length),
                     begin + length < text.size() ? "..." : "");
}

}  // namespace

device_statements statements_for_devices(std::string_view statements, const std::vector<body_name>& names) {
  return statement_reader(statements, names).translate();
}

}  // namespace tessera::hierarchy

namespace tessera::detail {

namespace {

using hierarchy::body_fault;
using hierarchy::body_name;
using hierarchy::body_parameter;

/// Throws body_fault where the host would see other indices than devices do, or other arguments.
void check_parameters(std::span<const body_parameter> parameters, const body_signature& with) {
  for (const body_parameter& p : parameters)
    if (p.type.find("...") != std::string::npos)
      throw body_fault{fmt::format("its parameter '{}' is a pack", p.name), "name each use: (auto i, auto x, auto y)",
                       0};
  if (parameters.size() != with.depth + with.use_count)
    throw body_fault{fmt::format("it has {} parameters, and the {} {} indices and {} uses", parameters.size(),
                                 with.kind, with.depth, with.use_count),
                     "name each index and each use, without defaults: (auto i, auto x, auto y)", 0};
  constexpr std::array of_indices = {"auto",          "long",     "long int",         "long long",
                                     "long long int", "int64_t",  "std :: int64_t",   ":: std :: int64_t",
                                     "ptrdiff_t",     "intmax_t", "std :: ptrdiff_t", "std :: intmax_t"};
  for (const body_parameter& p : parameters.first(with.depth)) {
    std::string type;
    for (const hierarchy::token& t : hierarchy::tokens_of(p.type))
      if (!hierarchy::is_one_of(t.text, std::array{"const", "&", "&&", "[", "]", "maybe_unused", ""}))
        type.append(type.empty() ? "" : " ").append(t.text);
    if (!p.name.empty() && !hierarchy::is_one_of(type, of_indices))
      throw body_fault{
          fmt::format("its index '{}' is of type '{}', and indices of devices are of std::int64_t", p.name, p.type),
          fmt::format("write auto {0}, and convert where it is used: double({0})", p.name), 0};
  }
}

/// The body with its names, a text of with_kernel. Throws body_fault, for what is in the statements with a place in
/// them.
device_body translated(const body_source& of, const body_signature& with, std::span<const body_parameter> parameters) {
  const std::vector<body_parameter> captures = hierarchy::parameters_in(of.captures);
  std::vector<body_name> names;
  std::string list, first;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const bool index = k < with.depth;
    const body_use use = index ? body_use{body_number::i64, false} : with.uses[k - with.depth];
    const std::string& name = parameters[k].name;
    names.push_back({name.empty() ? fmt::format("unnamed_{}", k) : name,
                     index          ? body_name::kind::index
                     : use.is_array ? body_name::kind::array
                                    : body_name::kind::result,
                     use.type});
    list += (list.empty() ? "" : ", ") + names.back().name + "_";
  }
  for (std::size_t k = 0; k < captures.size() && k < with.capture_count; ++k) {
    const body_number type = with.captures[k];
    const std::string& name = captures[k].name;
    names.push_back({name, body_name::kind::number, type});
    // Kernels have parameters of some types alone: the value is brought back to its own.
    const bool own = type == body_number::f32 || type == body_number::f64 || type == body_number::i32 ||
                     type == body_number::i64 || type == body_number::u8;
    list += (list.empty() ? "" : ", ") + name + (own ? "_" : "_carried");  // other names end with an underscore
    if (!own) first += fmt::format("const {0} {1}_ = ({0}){1}_carried;\n", hierarchy::c_name(type), name);
  }
  const hierarchy::device_statements body = hierarchy::statements_for_devices(of.statements, names);
  const auto is_double = [](const body_name& one) { return one.type == body_number::f64; };
  return {fmt::format("({}) {{\n{}{}\n}}", list, first, body.text),
          body.doubles || std::ranges::any_of(names, is_double)};
}

}  // namespace

device_body text_for_devices(const body_source& of, const body_signature& with, std::string_view name) {
  std::string_view read = of.parameters;
  try {
    const std::vector<body_parameter> parameters = hierarchy::parameters_in(of.parameters);
    check_parameters(parameters, with);
    read = of.statements;
    return translated(of, with, parameters);
  } catch (const body_fault& fault) {
    throw error(error_kind::usage,
                fmt::format("the body of {} '{}' cannot run on devices: {}, in \"{}\"", with.kind, name, fault.what,
                            hierarchy::excerpt(read, std::min(fault.at, read.size()))),
                fmt::format("TESSERA_BODY at {}:{}", file_and_line(of.site), of.site.column()),
                fmt::format("{}{}a lambda instead of TESSERA_BODY runs on the host alone; docs/kernels.md", fault.hint,
                            fault.hint.empty() ? "" : "; "));
  }
}

}  // namespace tessera::detail
