#include "hierarchy/region/kernel_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "core/base/call_site.hpp"
#include "core/base/error.hpp"

namespace tessera::hierarchy {
namespace {

using detail::reduction_kind;

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string_view c_type(element_type type) {
  switch (type) {
    case element_type::f32:
      return "float";
    case element_type::f64:
      return "double";
    case element_type::i32:
      return "int";
    case element_type::i64:
      return "long";
    case element_type::u8:
      return "unsigned char";
    default:
      return {};
  }
}

/// The identity of a join, in C.
std::string identity(reduction_kind join, element_type type) {
  const bool least = join == reduction_kind::maximum;
  switch (join) {
    case reduction_kind::product:
    case reduction_kind::all:
      return "1";
    case reduction_kind::minimum:
    case reduction_kind::maximum:
      switch (type) {
        case element_type::f32:
          return least ? "(-1.0f / 0.0f)" : "(1.0f / 0.0f)";
        case element_type::f64:
          return least ? "(-1.0 / 0.0)" : "(1.0 / 0.0)";
        case element_type::i32:
          return least ? "(-2147483647 - 1)" : "2147483647";
        case element_type::i64:
          return least ? "(-9223372036854775807L - 1)" : "9223372036854775807L";
        default:
          return least ? "0" : "255";
      }
    default:
      return "0";
  }
}

/// a joined with b, in C.
std::string joined(reduction_kind join, std::string_view a, std::string_view b) {
  switch (join) {
    case reduction_kind::product:
      return fmt::format("{} * {}", a, b);
    case reduction_kind::minimum:
      return fmt::format("{1} < {0} ? {1} : {0}", a, b);
    case reduction_kind::maximum:
      return fmt::format("{1} > {0} ? {1} : {0}", a, b);
    case reduction_kind::all:
      return fmt::format("{} && {}", a, b);
    case reduction_kind::any:
      return fmt::format("{} || {}", a, b);
    default:
      return fmt::format("{} + {}", a, b);
  }
}

/// The parts of a body's text.
struct parsed_body {
  std::vector<std::string> names;  // of the parameters
  std::size_t statements = 0;      // position of the "{" behind them
  std::ptrdiff_t line = 1;         // of that
};

/// Reads a body's text, from left to right.
class body_reader {
 public:
  body_reader(std::string_view text, const kernel_shape& shape, const std::string& where)
      : m_text(text), m_shape(shape), m_where(where) {}

  parsed_body parameters() {
    parsed_body found;
    skip_space();
    expect('(', "the names of the indices, the uses and the values");
    skip_space();
    while (peek() != ')') {
      found.names.push_back(name());
      skip_space();
      if (peek() == ')') break;
      expect(',', "\",\" or \")\" behind a name");
      skip_space();
    }
    ++m_at;
    check_names(found.names);
    skip_space();
    if (peek() != '{') refuse("it expects \"{\" and the statements of the body", m_at);
    found.statements = m_at, found.line = line_of(m_at);
    std::size_t last = m_text.size();
    while (last > m_at && std::isspace(static_cast<unsigned char>(m_text[last - 1])) != 0) --last;
    if (m_text[last - 1] != '}') refuse("it expects \"}\" behind the statements", last);
    return found;
  }

  /// The statements with every use of an array written out.
  std::string statements(const parsed_body& body) {
    m_names = &body.names;
    m_at = body.statements;
    return rewrite({});
  }

 private:
  [[noreturn]] void refuse(const std::string& why, std::size_t at) const {
    const std::size_t start = m_text.substr(0, at).rfind('\n');
    const std::size_t column = at - (start == std::string_view::npos ? 0 : start + 1) + 1;
    throw error(error_kind::usage, fmt::format("the kernel's text, line {} column {}: {}", line_of(at), column, why),
                m_where, "such as \"(i, x, y) { y[i] = 2 * x[i]; }\"; docs/regions.md");
  }
  std::ptrdiff_t line_of(std::size_t at) const { return 1 + std::ranges::count(m_text.substr(0, at), '\n'); }
  char peek() const { return m_at < m_text.size() ? m_text[m_at] : '\0'; }
  void skip_space() {
    while (m_at < m_text.size() && std::isspace(static_cast<unsigned char>(m_text[m_at])) != 0) ++m_at;
  }
  void expect(char wanted, const char* what) {
    if (peek() != wanted) refuse(fmt::format("it expects {}", what), m_at);
    ++m_at;
  }
  std::string name() {
    const std::size_t begin = m_at;
    if (!begins_name(peek())) refuse("it expects a name", m_at);
    while (in_name(peek())) ++m_at;
    std::string found(m_text.substr(begin, m_at - begin));
    if (found.starts_with("tessera_")) refuse("names that begin with tessera_ are reserved", begin);
    return found;
  }
  void check_names(const std::vector<std::string>& names) const {
    const std::size_t wanted = m_shape.depth + m_shape.uses.size() + m_shape.values.size();
    if (names.size() != wanted)
      refuse(fmt::format("it names {} parameters; the region has {}: {} for indices, {} for uses and {} for values",
                         names.size(), wanted, m_shape.depth, m_shape.uses.size(), m_shape.values.size()),
             0);
    for (std::size_t k = 0; k < names.size(); ++k)
      if (std::find(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(k), names[k]) !=
          names.begin() + static_cast<std::ptrdiff_t>(k))
        refuse(fmt::format("it names '{}' twice", names[k]), 0);
  }

  /// Comments and literals, as they are. False: none is here.
  bool copy_opaque(std::string& to) {
    const std::string_view rest = m_text.substr(m_at);
    std::size_t length = 0;
    if (rest.starts_with("//")) {
      length = std::min(rest.find('\n'), rest.size());
    } else if (rest.starts_with("/*")) {
      const std::size_t end = rest.find("*/", 2);
      if (end == std::string_view::npos) refuse("a comment does not end", m_at);
      length = end + 2;
    } else if (rest.front() == '"' || rest.front() == '\'') {
      length = 1;
      while (length < rest.size() && rest[length] != rest.front()) length += rest[length] == '\\' ? 2 : 1;
      if (length >= rest.size()) refuse("a literal does not end", m_at);
      ++length;
    }
    to += rest.substr(0, length);
    m_at += length;
    return length > 0;
  }

  /// Copies, and writes arrays out, until one of the characters of `ends` outside of brackets, which is left; with
  /// none, to the end of the text.
  std::string rewrite(std::string_view ends) {
    std::string text;
    std::size_t depth = 0;
    while (m_at < m_text.size()) {
      if (copy_opaque(text)) continue;
      const char c = m_text[m_at];
      if (depth == 0 && ends.find(c) != std::string_view::npos) return text;
      if (c == '(' || c == '[' || c == '{') ++depth;
      if (c == ')' || c == ']' || c == '}') {
        if (depth == 0) refuse(fmt::format("'{}' without its counterpart", c), m_at);
        --depth;
      }
      if (begins_name(c)) {
        text += word(text);
        continue;
      }
      if (std::isdigit(static_cast<unsigned char>(c)) != 0) {  // with its suffix, which is no name
        while (in_name(peek()) || peek() == '.') text += m_text[m_at++];
        continue;
      }
      text += c;
      ++m_at;
    }
    if (!ends.empty() || depth != 0) refuse("a bracket is not closed", m_text.size());
    return text;
  }

  /// A name, and what belongs to it if it is that of an array.
  std::string word(std::string_view before) {
    const std::size_t begin = m_at;
    while (in_name(peek())) ++m_at;
    const std::string found(m_text.substr(begin, m_at - begin));
    const auto known = std::ranges::find(*m_names, found);
    const auto number = static_cast<std::size_t>(known - m_names->begin());
    if (known == m_names->end() || number < m_shape.depth || number >= m_shape.depth + m_shape.uses.size())
      return found;
    const kernel_use& use = m_shape.uses[number - m_shape.depth];
    if (use.reduction != reduction_kind::none || before.ends_with('.') || before.ends_with("->")) return found;
    skip_space();
    if (peek() != '[' && peek() != '(')
      refuse(fmt::format("'{0}' is an array: {0}[position] or {0}(row, ...)", found), begin);
    return element(found, use);
  }

  /// From the bracket behind an array's name on.
  std::string element(const std::string& array, const kernel_use& use) {
    const std::size_t begin = m_at;
    const char close = m_text[m_at++] == '[' ? ']' : ')';
    std::vector<std::string> indices;
    do {
      indices.push_back(rewrite(close == ']' ? "]" : ",)"));
    } while (m_text[m_at++] == ',');
    if (std::ranges::any_of(indices, [](const std::string& one) {
          return std::ranges::all_of(one, [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; });
        }))
      refuse(fmt::format("'{}' has an empty index", array), begin);
    if (indices.size() > 3)
      refuse(fmt::format("'{}' has {} indices; an array has up to 3 dimensions", array, indices.size()), begin);
    const std::string at = close == ']' ? "(long)(" + indices[0] + ")" : position(array, use, indices);
    if (use.tiles == 1) return fmt::format("{}[{}]", array, at);
    std::string pieces;
    for (std::size_t k = 0; k < use.tiles; ++k) pieces += fmt::format(", tessera_{}_{}", array, k);
    for (std::size_t k = 1; k < use.tiles; ++k) pieces += fmt::format(", tessera_{}_from{}", array, k);
    return fmt::format("(*tessera_in_{}({}{}))", array, at, pieces);
  }

  static std::string position(const std::string& array, const kernel_use& use, std::vector<std::string> indices) {
    if (use.column_major) std::ranges::reverse(indices);  // the slowest one first
    std::string at = "(long)(" + indices[0] + ")";
    for (std::size_t k = 1; k < 3; ++k) {  // beyond its rank an array's extents are 1
      if (k < use.rank) at = fmt::format("{} * tessera_{}_{}", at, array, k == 1 ? "second" : "third");
      if (k < indices.size()) at += " + (" + indices[k] + ")";
      at = "(" + at + ")";
    }
    return at;
  }

  std::string_view m_text;
  const kernel_shape& m_shape;
  const std::string& m_where;
  const std::vector<std::string>* m_names = nullptr;
  std::size_t m_at = 0;
};

/// Writes the kernel around the statements.
class kernel_writer {
 public:
  kernel_writer(const kernel_shape& shape, const std::vector<std::string>& names) : m_shape(shape), m_names(names) {}

  /// @param file, line  of the statements, for messages of compilers
  std::string write(const std::string& statements, const std::string& file, std::ptrdiff_t line) {
    std::string out =
        "#pragma STDC FP_CONTRACT OFF\n";  // the same bits as the function, where arithmetic is all it has
    for (std::size_t u = 0; u < m_shape.uses.size(); ++u) out += finder(u);
    out += fmt::format("KERNEL void {}({}) {{\n", kernel_name, parameters());
    for (std::size_t u = 0; u < m_shape.uses.size(); ++u) out += local_array(u);  // before all else
    for (std::size_t u = 0; u < m_shape.uses.size(); ++u) out += declaration(u);
    const bool reduces = std::ranges::any_of(m_shape.uses, is_reduction);
    out += "  const long tessera_all = tessera_count0" + std::string(m_shape.depth > 1 ? " * tessera_count1" : "") +
           (m_shape.depth > 2 ? " * tessera_count2" : "") + ";\n";
    out += reduces ? "  for (long tessera_at = INDEX_X; tessera_at < tessera_all; "
                     "tessera_at += (long)GROUPS_X * THREADS_X) {\n"
                   : "  const long tessera_at = INDEX_X;\n  if (tessera_at < tessera_all) {\n";
    out += indices();
    out += fmt::format("#line {} \"{}\"\n{}\n  }}\n", line, file, statements);
    for (std::size_t u = 0; u < m_shape.uses.size(); ++u)
      if (is_reduction(m_shape.uses[u])) out += join(u);
    return out + "}\n";
  }

 private:
  static bool is_reduction(const kernel_use& use) { return use.reduction != reduction_kind::none; }
  const std::string& name(std::size_t use) const { return m_names[m_shape.depth + use]; }
  std::string pointer(const kernel_use& use) const {
    return fmt::format("GLOBAL {}{}*", use.written || is_reduction(use) ? "" : "const ", c_type(use.type));
  }

  /// Position -> element, for an array in several tiles.
  std::string finder(std::size_t u) const {
    const kernel_use& use = m_shape.uses[u];
    if (is_reduction(use) || use.tiles == 1) return {};
    std::string parameters = "long p", choice;
    for (std::size_t k = 0; k < use.tiles; ++k) parameters += fmt::format(", {} t{}", pointer(use), k);
    for (std::size_t k = 1; k < use.tiles; ++k) {
      parameters += fmt::format(", long f{}", k);
      choice += fmt::format("p < f{} ? t{} + p : ", k, k - 1);
    }
    return fmt::format("FUNCTION {0} tessera_in_{1}({2}) {{ return {3}t{4} + p; }}\n", pointer(use), name(u),
                       parameters, choice, use.tiles - 1);
  }

  std::string parameters() const {
    std::string all = "long tessera_first, long tessera_step, long tessera_count0";
    for (std::size_t k = 1; k < m_shape.depth; ++k)
      all += fmt::format(", long tessera_begin{0}, long tessera_count{0}", k);
    for (std::size_t u = 0; u < m_shape.uses.size(); ++u) {
      const kernel_use& use = m_shape.uses[u];
      if (is_reduction(use)) {
        all += fmt::format(", {} tessera_{}_to", pointer(use), name(u));
        continue;
      }
      for (std::size_t k = 0; k < use.tiles; ++k)
        all += fmt::format(", {0} tessera_{1}_at{2}, long tessera_{1}_from{2}", pointer(use), name(u), k);
      if (use.rank > 1) all += fmt::format(", long tessera_{}_second", name(u));
      if (use.rank > 2) all += fmt::format(", long tessera_{}_third", name(u));
    }
    for (std::size_t v = 0; v < m_shape.values.size(); ++v)
      all += fmt::format(", {} {}", c_type(m_shape.values[v]), m_names[m_shape.depth + m_shape.uses.size() + v]);
    return all;
  }

  std::string local_array(std::size_t u) const {
    const kernel_use& use = m_shape.uses[u];
    if (!is_reduction(use)) return {};
    return fmt::format("  LOCAL_ARRAY({}, tessera_{}_of, {});\n", c_type(use.type), name(u), kernel_threads);
  }

  std::string declaration(std::size_t u) const {
    const kernel_use& use = m_shape.uses[u];
    if (is_reduction(use))
      return fmt::format("  {} {} = {};\n", c_type(use.type), name(u), identity(use.reduction, use.type));
    std::string all = fmt::format("  typedef {} {}_element;\n", c_type(use.type), name(u));
    for (std::size_t k = 0; k < use.tiles; ++k)
      all += fmt::format("  {0} {1}{2} = tessera_{3}_at{4} - tessera_{3}_from{4};\n", pointer(use),
                         use.tiles == 1 ? "" : "tessera_", use.tiles == 1 ? name(u) : fmt::format("{}_{}", name(u), k),
                         name(u), k);
    return all;
  }

  std::string indices() const {
    const std::string& i = m_names[0];
    const auto line = [](const std::string& of, const std::string& value) {
      return fmt::format("  const long {} = {};\n", of, value);
    };
    if (m_shape.depth == 1) return line(i, "tessera_first + tessera_at * tessera_step");
    if (m_shape.depth == 2)
      return line(i, "tessera_first + tessera_at / tessera_count1 * tessera_step") +
             line(m_names[1], "tessera_begin1 + tessera_at % tessera_count1");
    return line(i, "tessera_first + tessera_at / (tessera_count1 * tessera_count2) * tessera_step") +
           line(m_names[1], "tessera_begin1 + tessera_at / tessera_count2 % tessera_count1") +
           line(m_names[2], "tessera_begin2 + tessera_at % tessera_count2");
  }

  /// The parts of a group's threads, in a tree that depends on nothing.
  std::string join(std::size_t u) const {
    const kernel_use& use = m_shape.uses[u];
    const std::string of = fmt::format("tessera_{}_of", name(u));
    return fmt::format(
        "  {0}[THREAD_X] = {1};\n  BARRIER;\n"
        "  for (int tessera_half = {2}; tessera_half > 0; tessera_half /= 2) {{\n"
        "    if (THREAD_X < tessera_half) {0}[THREAD_X] = {3};\n    BARRIER;\n  }}\n"
        "  if (THREAD_X == 0) tessera_{1}_to[GROUP_X] = {0}[0];\n",
        of, name(u), kernel_threads / 2, joined(use.reduction, of + "[THREAD_X]", of + "[THREAD_X + tessera_half]"));
  }

  const kernel_shape& m_shape;
  const std::vector<std::string>& m_names;
};

void check_types(const kernel_shape& shape, const std::string& where) {
  const auto check = [&](element_type type) {
    if (c_type(type).empty())
      throw error(error_kind::usage, fmt::format("a kernel cannot have numbers of type {}", name_of(type)), where,
                  "kernels have f32, f64, i32, i64 and u8");
  };
  for (const kernel_use& use : shape.uses) check(use.type);
  for (const element_type value : shape.values) check(value);
}

}  // namespace

std::string kernel_source(std::string_view body, const kernel_shape& shape, const std::string& region,
                          std::source_location site, std::string_view kind) {
  const std::string where = fmt::format("{} '{}', with_kernel at {}:{}", kind, region, site.file_name(), site.line());
  check_types(shape, where);
  body_reader reader(body, shape, where);
  const parsed_body parts = reader.parameters();
  std::string file = fmt::format("{}:{}: text of {} {}", site.file_name(), site.line(), kind, region);
  std::erase_if(file, [](char c) { return c == '"' || c == '\\' || c == '\n'; });
  return kernel_writer(shape, parts.names).write(reader.statements(parts), file, parts.line);
}

}  // namespace tessera::hierarchy

void tessera::detail::refuse_inner(std::int64_t count, std::source_location site) {
  throw error(error_kind::usage, fmt::format("inner({}): there cannot be fewer than 0 indices", count),
              file_and_line(site),
              "inner(n) are the indices 0 to n - 1; inner({first, end}) those from first to end - 1");
}
