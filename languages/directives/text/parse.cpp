#include "languages/directives/text/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "core/base/suggest.hpp"

namespace tessera::directive {
namespace {

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

placed_text trimmed(std::string_view text, std::size_t at) {
  while (!text.empty() && is_space(text.front())) {
    text.remove_prefix(1);
    ++at;
  }
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return {std::string(text), at};
}

std::string hint_for(std::string_view written, const std::vector<std::string>& known) {
  const std::string near = suggest(std::string(written), known);
  return near.empty() ? fmt::format("there are: {}", fmt::join(known, ", ")) : fmt::format("did you mean '{}'?", near);
}

/// The end of the bracket that opens at `open`; npos: it does not end.
std::size_t closing(std::string_view text, std::size_t open) {
  std::size_t depth = 0;
  char quote = 0;
  for (std::size_t k = open; k < text.size(); ++k) {
    const char c = text[k];
    if (quote != 0) {
      if (c == '\\') ++k;
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if ((c == ')' || c == ']' || c == '}') && --depth == 0) {
      return k;
    }
  }
  return std::string_view::npos;
}

/// The first of `wanted` outside of brackets and quotes, from `from` on; the end: there is none.
std::size_t find_outside(std::string_view text, std::string_view wanted, std::size_t from = 0) {
  for (std::size_t k = from; k < text.size(); ++k) {
    if (wanted.find(text[k]) != std::string_view::npos) return k;
    if (text[k] == '"' || text[k] == '\'') {
      const std::size_t end = text.find(text[k], k + 1);
      k = end == std::string_view::npos ? text.size() : end;
    } else if (text[k] == '(' || text[k] == '[' || text[k] == '{') {
      const std::size_t end = closing(text, k);
      if (end == std::string_view::npos) return text.size();
      k = end;
    }
  }
  return text.size();
}

/// Reads words and arguments from left to right.
class reader {
 public:
  explicit reader(std::string_view text) : m_text(text) {}

  bool at_end() {
    while (m_at < m_text.size() && (is_space(m_text[m_at]) || m_text[m_at] == ',')) ++m_at;
    return m_at == m_text.size();
  }
  /// A name, with its argument if there is one.
  clause next(const char* what) {
    clause read;
    if (at_end()) throw syntax_error(m_at, fmt::format("{} is missing", what));
    const std::size_t begin = m_at;
    while (m_at < m_text.size() && in_word(m_text[m_at])) ++m_at;
    if (m_at == begin) throw syntax_error(begin, fmt::format("expected {}, not '{}'", what, m_text[begin]));
    read.name = {std::string(m_text.substr(begin, m_at - begin)), begin};
    std::size_t open = m_at;
    while (open < m_text.size() && is_space(m_text[open])) ++open;
    if (open == m_text.size() || m_text[open] != '(') return read;
    const std::size_t end = closing(m_text, open);
    if (end == std::string_view::npos) throw syntax_error(open, "this '(' has no ')'");
    read.argument = trimmed(m_text.substr(open + 1, end - open - 1), open + 1);
    if (read.argument.text.empty())
      throw syntax_error(open, fmt::format("there is nothing between the parentheses of '{}'", read.name.text));
    m_at = end + 1;
    return read;
  }
  std::size_t position() const noexcept { return m_at; }
  void back_to(std::size_t position) noexcept { m_at = position; }

 private:
  std::string_view m_text;
  std::size_t m_at = 0;
};

/// Where the colon of a range is in `first:count`; the end: there is none. A::b and c ? a : b have none.
std::size_t range_colon(std::string_view inside) {
  std::size_t colon = find_outside(inside, ":?");
  while (colon + 1 < inside.size() && inside[colon] == ':' && inside[colon + 1] == ':')
    colon = find_outside(inside, ":?", colon + 2);
  return colon < inside.size() && inside[colon] == '?' ? inside.size() : colon;
}

/// [first:count]... from a bracket to the end of the text.
std::vector<section::range> read_ranges(const placed_text& text, std::size_t open) {
  const std::string_view all = text.text;
  std::vector<section::range> ranges;
  for (std::size_t at = open; at < all.size();) {
    const std::size_t end = all[at] == '[' ? closing(all, at) : std::string_view::npos;
    if (end == std::string_view::npos)
      throw syntax_error(text.at + at, "expected a range such as [0:n]", "for example x[0:n], or a[0:rows][0:columns]");
    const std::string_view inside = all.substr(at + 1, end - at - 1);
    const std::size_t colon = range_colon(inside);
    if (colon == inside.size())
      throw syntax_error(text.at + at, "expected a range [first:count]", "for example x[0:n]");
    section::range range{trimmed(inside.substr(0, colon), 0).text, trimmed(inside.substr(colon + 1), 0).text};
    if (range.first.empty()) range.first = "0";
    for (const std::string* part : {&range.first, &range.count})
      if (is_fraction(*part))
        throw syntax_error(text.at + at + 1, fmt::format("'{}' is no whole number", *part), "for example x[0:n]");
    if (range.count.empty()) throw syntax_error(text.at + at + 1 + colon, "the count of this range is missing");
    ranges.push_back(std::move(range));
    at = end + 1;
    while (at < all.size() && is_space(all[at])) ++at;
  }
  if (ranges.size() > 3) throw syntax_error(text.at, "an array has up to three dimensions");
  return ranges;
}

/// Where the ranges of `a[k].x[0:n]` begin: at the first bracket with a colon. The end: there are none.
std::size_t first_range(std::string_view text) {
  std::size_t open = std::min(text.find('['), text.size());
  while (open < text.size()) {
    const std::size_t end = closing(text, open);
    if (end == std::string_view::npos) return open;
    const std::string_view inside = text.substr(open + 1, end - open - 1);
    if (range_colon(inside) != inside.size()) return open;
    open = std::min(text.find('[', end), text.size());
  }
  return open;
}

/// The first word of "memory allocate", and what is behind it.
std::pair<std::string_view, std::string_view> split_words(std::string_view words) {
  const auto space = words.find(' ');
  if (space == words.npos) return {words, {}};
  return {words.substr(0, space), words.substr(space + 1)};
}

/// The directive that begins with these words; reads its second word where it has one.
const directive_rule* find_rule(reader& in, const clause& family, const clause& first) {
  std::vector<std::string> starts, seconds;
  const directive_rule* alone = nullptr;
  const std::size_t before = in.position();
  std::optional<clause> second;
  if (!in.at_end()) second = in.next("a clause");
  for (const directive_rule& rule : directive_rules()) {
    if (rule.family != family.name.text) continue;
    const auto [one, two] = split_words(rule.words);
    if (std::ranges::find(starts, one) == starts.end()) starts.emplace_back(one);
    if (one != first.name.text) continue;
    if (two.empty()) alone = &rule;
    if (!two.empty()) seconds.emplace_back(two);
    if (!two.empty() && second && two == second->name.text) {
      const bool itself = std::ranges::any_of(rule.clauses, [&](const auto& c) { return c.name == two; });
      if (itself) in.back_to(before);  // it is a clause as well
      return &rule;
    }
  }
  in.back_to(before);
  if (alone != nullptr) {
    if (std::ranges::any_of(alone->clauses, [&](const auto& c) { return c.name == first.name.text; }))
      in.back_to(first.name.at);
    return alone;
  }
  if (seconds.empty())
    throw syntax_error(first.name.at, fmt::format("unknown directive '{} {}'", family.name.text, first.name.text),
                       hint_for(first.name.text, starts));
  if (!second)
    throw syntax_error(first.name.at, fmt::format("'{} {}' is not complete", family.name.text, first.name.text),
                       hint_for("", seconds));
  throw syntax_error(second->name.at,
                     fmt::format("unknown directive '{} {} {}'", family.name.text, first.name.text, second->name.text),
                     hint_for(second->name.text, seconds));
}

void check(const directive_rule& rule, const clause& c, const std::vector<clause>& before) {
  const std::string shown = fmt::format("{} {}", rule.family, rule.words);
  const auto known = std::ranges::find(rule.clauses, std::string_view(c.name.text), &clause_rule::name);
  if (known == rule.clauses.end()) {
    std::vector<std::string> names;
    for (const clause_rule& one : rule.clauses) names.emplace_back(one.name);
    throw syntax_error(c.name.at, fmt::format("'{}' has no clause '{}'", shown, c.name.text),
                       names.empty() ? "it has none" : hint_for(c.name.text, names));
  }
  const bool given = !c.argument.text.empty();
  if (given != (known->takes == clause_rule::form::argument))
    throw syntax_error(c.name.at, given ? fmt::format("'{}' takes no argument", c.name.text)
                                        : fmt::format("'{0}' wants an argument: {0}(...)", c.name.text));
  if (!known->repeats && std::ranges::any_of(before, [&](const clause& b) { return b.name.text == c.name.text; }))
    throw syntax_error(c.name.at, fmt::format("'{}' is given twice", c.name.text));
}

}  // namespace

bool is_fraction(std::string_view text) {
  const std::string_view digits = text.starts_with('-') || text.starts_with('+') ? text.substr(1) : text;
  if (digits.empty() || (std::isdigit(static_cast<unsigned char>(digits.front())) == 0 && digits.front() != '.'))
    return false;
  const bool hexadecimal = digits.starts_with("0x") || digits.starts_with("0X");
  return digits.find_first_not_of("0123456789abcdefABCDEFlLuUxXpP.'+-") == std::string_view::npos &&
         digits.find_first_of(hexadecimal ? ".pP" : ".eE") != std::string_view::npos &&
         (hexadecimal || digits.find_first_of("+-*/") == std::string_view::npos ||
          std::string_view("eE").find(digits[digits.find_first_of("+-") - 1]) != std::string_view::npos);
}

const clause* directive::find(std::string_view name) const noexcept {
  const auto found = std::ranges::find_if(clauses, [&](const clause& c) { return c.name.text == name; });
  return found == clauses.end() ? nullptr : &*found;
}

directive parse_directive(std::string_view text) {
  reader in(text);
  const clause family = in.next("gecko or pointerchain");
  const clause first = in.next("a directive");
  directive read;
  read.rule = find_rule(in, family, first);
  while (!in.at_end()) {
    clause c = in.next("a clause");
    check(*read.rule, c, read.clauses);
    read.clauses.push_back(std::move(c));
  }
  for (const clause_rule& rule : read.rule->clauses)
    if (rule.needed && read.find(rule.name) == nullptr)
      throw syntax_error(first.name.at,
                         fmt::format("'{} {}' wants the clause '{}'", read.rule->family, read.rule->words, rule.name),
                         fmt::format("for example #pragma {}", read.rule->example));
  return read;
}

std::vector<placed_text> parse_list(const placed_text& list) {
  std::vector<placed_text> parts;
  const std::string_view text = list.text;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = find_outside(text, ",", begin);
    parts.push_back(trimmed(text.substr(begin, end - begin), list.at + begin));
    if (parts.back().text.empty()) throw syntax_error(list.at + begin, "a name is missing here");
    begin = end + 1;
  }
  return parts;
}

section parse_section(const placed_text& text) {
  const std::size_t open = std::min(text.text.find('['), text.text.size());
  section read{trimmed(std::string_view(text.text).substr(0, open), text.at), read_ranges(text, open)};
  if (read.name.text.empty()) throw syntax_error(text.at, "the array's name is missing");
  if (read.ranges.empty())
    throw syntax_error(text.at, fmt::format("'{}' wants a range", read.name.text),
                       fmt::format("for example {}[0:n]", read.name.text));
  return read;
}

reduction_clause parse_reduction(const placed_text& text) {
  static const std::vector<std::string> known = {"+", "*", "min", "max", "&&", "||"};
  const std::size_t colon = text.text.find(':');
  if (colon == std::string::npos)
    throw syntax_error(text.at, "a reduction is an operation, a colon and names", "for example reduction(+:sum)");
  const placed_text operation = trimmed(std::string_view(text.text).substr(0, colon), text.at);
  if (std::ranges::find(known, operation.text) == known.end())
    throw syntax_error(operation.at, fmt::format("unknown operation '{}' of a reduction", operation.text),
                       fmt::format("there are: {}", fmt::join(known, ", ")));
  return {operation.text, parse_list({text.text.substr(colon + 1), text.at + colon + 1})};
}

std::size_t parse_collapse(const placed_text& text) {
  if (text.text != "1" && text.text != "2" && text.text != "3")
    throw syntax_error(text.at, fmt::format("collapse of '{}' loops", text.text),
                       "a region has 1, 2 or 3: collapse(2)");
  return static_cast<std::size_t>(text.text.front() - '0');
}

std::vector<chain> parse_chains(const placed_text& text) {
  std::vector<chain> chains;
  for (const placed_text& one : parse_list(text)) {
    const std::size_t open = one.text.find('{');
    if (open == std::string::npos || one.text.back() != '}')
      throw syntax_error(one.at, fmt::format("the type of the chain '{}' is missing", one.text),
                         fmt::format("for example {}{{double*}}", one.text));
    const placed_text where = trimmed(std::string_view(one.text).substr(0, open), one.at);
    const std::size_t ranges = first_range(where.text);
    chain read{trimmed(std::string_view(where.text).substr(0, ranges), where.at), read_ranges(where, ranges), {}};
    std::string_view type = std::string_view(one.text).substr(open + 1, one.text.size() - open - 2);
    read.type =
        trimmed(type.substr(0, type.find(':')), 0).text;  // behind a colon: restrict, which changes nothing here
    if (read.type.empty()) throw syntax_error(one.at + open, "the type of this chain is missing");
    for (const section::range& r : read.ranges)
      if (r.first != "0")
        throw syntax_error(one.at + ranges, fmt::format("the chain '{}' begins at {}", read.path.text, r.first),
                           "its ranges begin at 0: x[0:n]");
    if (!read.ranges.empty() && !read.type.ends_with('*'))
      throw syntax_error(one.at + ranges,
                         fmt::format("the chain '{}' has a range, and no pointer's type", read.path.text),
                         fmt::format("for example {}[0:n]{{double*}}", read.path.text));
    chains.push_back(std::move(read));
  }
  return chains;
}

std::string unquoted(std::string_view text) {
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  return std::string(text);
}

}  // namespace tessera::directive
