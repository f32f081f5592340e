#include "libraries/chemistry/molecule/json_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>

#include "core/base/error.hpp"

namespace tessera::chemistry {

/// A value, and the bytes of the text that it is.
struct json_tree {
  using list = std::vector<json_tree>;
  using object = std::vector<std::pair<std::string, json_tree>>;
  std::variant<std::monostate, bool, std::int64_t, double, std::string, list, object> value;
  std::size_t begin = 0, end = 0;
};

/// A text, and what it says.
struct json_source {
  std::string text, name;
  json_tree root;

  text_place place_of(std::size_t byte) const {
    const std::string_view before = std::string_view(text).substr(0, std::min(byte, text.size()));
    const auto line_begin = before.rfind('\n');
    return {1 + static_cast<std::size_t>(std::ranges::count(before, '\n')),
            before.size() - (line_begin == before.npos ? 0 : line_begin + 1) + 1};
  }
  [[noreturn]] void fail_at(std::size_t byte, std::string message, std::string hint = {}) const {
    const text_place at = place_of(byte);
    throw error(error_kind::input, std::move(message), fmt::format("{}:{}:{}", name, at.line, at.column),
                std::move(hint));
  }
};

namespace {

using nlohmann::json;

constexpr std::size_t max_levels = 100;

/// Builds the tree from what the parser finds. Each of its tokens is the next one of the text.
class json_builder {
 public:
  explicit json_builder(json_source& to) : m_to(to), m_behind(to.text.starts_with(byte_order_mark) ? 3 : 0) {}

  bool null() { return add({}, 4); }
  bool boolean(bool is) { return add(is, is ? 4 : 5); }
  bool number_integer(std::int64_t is) { return add(is, number_length()); }
  bool number_unsigned(std::uint64_t is) {
    return is > INT64_MAX ? add(static_cast<double>(is), number_length())
                          : add(static_cast<std::int64_t>(is), number_length());
  }
  bool number_float(double is, const std::string& /*written*/) { return add(is, number_length()); }
  bool string(std::string& is) { return add(std::move(is), string_length()); }
  bool binary(json::binary_t& /*none*/) { return false; }
  bool start_object(std::size_t /*unknown*/) { return open(json_tree::object()); }
  bool start_array(std::size_t /*unknown*/) { return open(json_tree::list()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& is) {
    const std::size_t at = begin();
    m_behind = at + string_length();
    const auto [first, is_new] = m_keys.back().emplace(is, at);
    if (!is_new)
      m_to.fail_at(at, fmt::format("the key {} is given twice", in_quotes(is)),
                   fmt::format("it is in line {} already", m_to.place_of(first->second).line));
    m_key = std::move(is);
    return true;
  }

  bool parse_error(std::size_t read, const std::string& /*token*/, const json::exception& why) {
    std::string_view words = why.what();  // "[json...] parse error at line 1, column 2: syntax error"
    if (const auto end = words.find("] "); end != words.npos) words.remove_prefix(end + 2);
    if (const auto place = words.find(": "); words.starts_with("parse error") && place != words.npos)
      words.remove_prefix(place + 2);
    m_to.fail_at(read == 0 ? 0 : read - 1, fmt::format("this is no JSON: {}", words));
  }

 private:
  std::size_t begin() const { return std::min(m_to.text.find_first_not_of(" \t\r\n,:", m_behind), m_to.text.size()); }
  std::size_t number_length() const {
    return std::min(m_to.text.find_first_not_of("0123456789+-.eE", begin()), m_to.text.size()) - begin();
  }
  std::size_t string_length() const {
    std::size_t at = begin() + 1;
    while (at < m_to.text.size() && m_to.text[at] != '"') at += m_to.text[at] == '\\' ? 2 : 1;
    return at + 1 - begin();
  }
  json_tree& place_for_next() {
    if (m_open.empty()) return m_to.root;
    if (auto* const list = std::get_if<json_tree::list>(&m_open.back()->value)) return list->emplace_back();
    return std::get<json_tree::object>(m_open.back()->value).emplace_back(std::move(m_key), json_tree()).second;
  }
  json_tree& put(decltype(json_tree::value) value, std::size_t length) {
    json_tree& next = place_for_next();
    next.value = std::move(value);
    next.begin = begin();
    next.end = m_behind = next.begin + length;
    return next;
  }
  bool add(decltype(json_tree::value) value, std::size_t length) {
    put(std::move(value), length);
    return true;
  }
  bool open(decltype(json_tree::value) empty) {
    if (m_open.size() == max_levels)
      m_to.fail_at(begin(), fmt::format("more than {} values are inside each other", max_levels));
    m_open.push_back(&put(std::move(empty), 1));  // it stays where it is until it is closed
    m_keys.emplace_back();
    return true;
  }
  bool close() {
    m_behind = begin() + 1;
    m_open.back()->end = m_behind;
    m_open.pop_back();
    m_keys.pop_back();
    return true;
  }

  json_source& m_to;
  std::size_t m_behind;  // of the last token
  std::vector<json_tree*> m_open;
  std::vector<std::map<std::string, std::size_t>> m_keys;  // of the open values, with their places
  std::string m_key;
};

}  // namespace

json_document::json_document(std::string_view text, const std::string& name)
    : m_source(std::make_unique<json_source>(json_source{std::string(text), name, {}})) {
  json_builder builder(*m_source);
  (void)json::sax_parse(m_source->text, &builder);
}
json_document::~json_document() = default;

json_value json_document::root() const { return {*m_source, m_source->root, {}}; }

json_value::json_value(const json_source& from, const json_tree& at, std::string path)
    : m_from(&from), m_at(&at), m_path(std::move(path)) {}

std::string json_value::where() const {
  const text_place at = m_from->place_of(m_at->begin);
  return fmt::format("{}:{}:{}{}{}", m_from->name, at.line, at.column, m_path.empty() ? "" : ": ", m_path);
}

void json_value::fail(std::string message, std::string hint) const {
  throw error(error_kind::input, std::move(message), where(), std::move(hint));
}

void json_value::fail_type(const char* expected) const {
  constexpr std::array names{"null", "true or false", "a number", "a number", "text", "a list", "an object"};
  fail(fmt::format("{} is expected, and it is {}", expected, names.at(m_at->value.index())));
}

bool json_value::is_null() const noexcept { return std::holds_alternative<std::monostate>(m_at->value); }
bool json_value::is_flag() const noexcept { return std::holds_alternative<bool>(m_at->value); }
bool json_value::is_whole() const noexcept { return std::holds_alternative<std::int64_t>(m_at->value); }
bool json_value::is_number() const noexcept { return is_whole() || std::holds_alternative<double>(m_at->value); }
bool json_value::is_text() const noexcept { return std::holds_alternative<std::string>(m_at->value); }
bool json_value::is_list() const noexcept { return std::holds_alternative<json_tree::list>(m_at->value); }
bool json_value::is_object() const noexcept { return std::holds_alternative<json_tree::object>(m_at->value); }

bool json_value::flag() const {
  if (!is_flag()) fail_type("true or false");
  return std::get<bool>(m_at->value);
}

std::int64_t json_value::whole() const {
  if (!is_whole()) fail_type("a whole number");
  return std::get<std::int64_t>(m_at->value);
}

double json_value::number() const {
  if (is_whole()) return static_cast<double>(std::get<std::int64_t>(m_at->value));
  if (!is_number()) fail_type("a number");
  return std::get<double>(m_at->value);
}

const std::string& json_value::text() const {
  if (!is_text()) fail_type("text");
  return std::get<std::string>(m_at->value);
}

std::int64_t json_value::whole(std::int64_t least, std::int64_t most) const {
  if (!is_number()) fail_type("a whole number");
  const double value = number();
  if (value != std::floor(value) || !(value >= static_cast<double>(least)) || !(value <= static_cast<double>(most)))
    fail(fmt::format("a whole number from {} to {} is expected, and it is {}", least, most, value));
  return static_cast<std::int64_t>(value);
}

std::size_t json_value::size() const {
  if (!is_list()) fail_type("a list");
  return std::get<json_tree::list>(m_at->value).size();
}

json_value json_value::at(std::size_t n) const {
  if (n >= size()) fail(fmt::format("it has {} elements, and one more is expected", size()));
  return {*m_from, std::get<json_tree::list>(m_at->value)[n], fmt::format("{}[{}]", m_path, n)};
}

std::vector<std::string> json_value::keys() const {
  if (!is_object()) fail_type("an object");
  std::vector<std::string> all;
  for (const auto& [key, value] : std::get<json_tree::object>(m_at->value)) all.push_back(key);
  return all;
}

bool json_value::has(std::string_view key) const {
  if (!is_object()) fail_type("an object");
  return std::ranges::any_of(std::get<json_tree::object>(m_at->value), [&](const auto& member) {
    return member.first == key && !std::holds_alternative<std::monostate>(member.second.value);
  });
}

json_value json_value::at(std::string_view key) const {
  if (!has(key)) fail(fmt::format("{} is missing", in_quotes(key)));
  const auto& members = std::get<json_tree::object>(m_at->value);
  const auto found = std::ranges::find_if(members, [&](const auto& member) { return member.first == key; });
  return {*m_from, found->second, m_path.empty() ? std::string(key) : fmt::format("{}.{}", m_path, key)};
}

std::string json_value::text_at_its_place() const {
  const text_place at = m_from->place_of(m_at->begin);
  return std::string(at.line - 1, '\n') + std::string(at.column - 1, ' ') +
         m_from->text.substr(m_at->begin, m_at->end - m_at->begin);
}

}  // namespace tessera::chemistry
