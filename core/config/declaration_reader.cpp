// [[loctype]], [[location]], [[hierarchy]]: values to plain structs with places.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/base/units.hpp"
#include "core/config/layers.hpp"
#include "core/config/quote.hpp"

namespace tessera::config {
namespace {

/// One table being read: takes its members by name and complains about the rest.
class reader {
 public:
  reader(std::string name, const table& members, std::string where, std::vector<std::string> known)
      : m_name(std::move(name)), m_members(members), m_where(std::move(where)) {
    for (const auto& [key, member] : members)
      if (std::ranges::count(known, key) == 0) unknown(fmt::format("key in [[{}]]:", m_name), key, known, member.where);
  }

  const value* find(std::string_view key) const {
    for (const auto& [name, member] : m_members)
      if (name == key) return &member;
    return nullptr;
  }

  optionally<std::string> text(std::string_view key) const {
    const value* member = find(key);
    if (!member) return std::nullopt;
    if (!member->get<std::string>()) wrong(key, "text in quotes", *member);
    if (member->get<std::string>()->empty()) throw_at(fmt::format("{} is empty", full(key)), *member);
    return placed<std::string>{*member->get<std::string>(), member->where};
  }

  placed<std::string> required_text(std::string_view key) const {
    if (auto found = text(key)) return *found;
    throw error(error_kind::configuration, fmt::format("this [[{}]] has no '{}'", m_name, key), m_where);
  }

  std::vector<placed<std::string>> required_texts(std::string_view key) const {
    const value* member = find(key);
    const auto* list = member ? member->get<array>() : nullptr;
    if (!list) return {required_text(key)};
    std::vector<placed<std::string>> texts;
    for (const value& item : *list) {
      if (!item.get<std::string>() || item.get<std::string>()->empty()) wrong(key, "names in quotes", item);
      texts.push_back({*item.get<std::string>(), item.where});
    }
    if (texts.empty()) throw_at(fmt::format("{} is an empty list", full(key)), *member);
    return texts;
  }

  bool boolean(std::string_view key) const {
    const value* member = find(key);
    if (!member) return false;
    if (!member->get<bool>()) wrong(key, "true or false", *member);
    return *member->get<bool>();
  }

  optionally<std::uint64_t> count(std::string_view key, std::uint64_t minimum, std::uint64_t maximum) const {
    const value* member = find(key);
    if (!member) return std::nullopt;
    const auto* integer = member->get<std::int64_t>();
    if (!integer) wrong(key, "an integer", *member);
    return in_range(key, *integer, minimum, maximum, *member);
  }

  optionally<std::uint64_t> bytes(std::string_view key) const {
    const value* member = find(key);
    if (!member) return std::nullopt;
    std::optional<std::int64_t> bytes;
    if (const auto* integer = member->get<std::int64_t>()) bytes = *integer;
    if (const auto* text = member->get<std::string>()) bytes = parse_bytes(*text);
    if (!bytes) wrong(key, "a size such as \"16 GiB\"", *member);
    return in_range(key, *bytes, 1, 1ull << 50, *member);
  }

  optionally<double> rate(std::string_view key) const {
    const value* member = find(key);
    if (!member) return std::nullopt;
    std::optional<double> rate;
    if (const auto* integer = member->get<std::int64_t>()) rate = static_cast<double>(*integer);
    if (const auto* number = member->get<double>()) rate = *number;
    if (const auto* text = member->get<std::string>()) rate = parse_rate(*text, rate_of::bytes);
    if (!rate || !std::isfinite(*rate) || *rate <= 0) wrong(key, "a rate above zero such as \"12 GiB/s\"", *member);
    return placed<double>{*rate, member->where};
  }

  optionally<double> duration(std::string_view key) const {
    const value* member = find(key);
    if (!member) return std::nullopt;
    const auto* text = member->get<std::string>();
    const auto ns = text ? parse_duration(*text) : std::nullopt;
    if (!ns) wrong(key, "a duration such as \"5 us\"", *member);
    return placed<double>{static_cast<double>(*ns), member->where};
  }

 private:
  std::string m_name;
  const table& m_members;
  std::string m_where;

  std::string full(std::string_view key) const { return fmt::format("{}.{}", m_name, key); }
  [[noreturn]] static void throw_at(std::string message, const value& at) {
    throw error(error_kind::configuration, std::move(message), at.where);
  }
  [[noreturn]] void wrong(std::string_view key, std::string_view wants, const value& got) const {
    const auto* text = got.get<std::string>();
    throw_at(
        fmt::format("{} wants {}, not {}", full(key), wants, text ? in_quotes(*text) : std::string(got.type_name())),
        got);
  }
  optionally<std::uint64_t> in_range(std::string_view key, std::int64_t number, std::uint64_t minimum,
                                     std::uint64_t maximum, const value& at) const {
    if (number < 0) throw_at(fmt::format("{} = {} must not be negative", full(key), number), at);
    const auto positive = static_cast<std::uint64_t>(number);
    if (positive < minimum || positive > maximum)
      throw_at(fmt::format("{} = {} is out of range: it must be {} to {}", full(key), number, minimum, maximum), at);
    return placed<std::uint64_t>{positive, at.where};
  }
};

constexpr std::uint64_t many = 1u << 20;

loctype read_loctype(const table& members, const std::string& where) {
  const reader from("loctype", members, where,
                    {"name", "kind", "plugin", "match", "path", "cores", "memory", "size", "bandwidth", "latency"});
  loctype type;
  type.name = from.required_text("name");
  type.kind = from.required_text("kind");
  type.plugin = from.text("plugin");
  type.match = from.text("match");
  type.path = from.text("path");
  type.cores = from.count("cores", 1, many);
  type.memory = from.bytes("memory");
  if (const auto size = from.bytes("size")) {
    if (type.memory)
      throw error(error_kind::configuration, "a loctype has 'memory' or 'size', not both", size->where,
                  "they mean the same; 'size' reads better for storage");
    type.memory = size;
  }
  type.bandwidth = from.rate("bandwidth");
  type.latency_ns = from.duration("latency");
  return type;
}

void require_one_form(bool all, const optionally<std::uint64_t>& start, const optionally<std::uint64_t>& count,
                      const std::string& where) {
  if (all && (start || count))
    throw error(error_kind::configuration, "'all' and 'start'/'count' exclude each other", where);
  if (start && !count)
    throw error(error_kind::configuration, "'start' needs 'count': how many there are", start->where);
}

location read_location(const table& members, const std::string& where) {
  const reader from("location", members, where, {"name", "type", "all", "start", "count"});
  location made;
  made.names = from.required_texts("name");
  made.type = from.required_text("type");
  made.all = from.boolean("all");
  made.start = from.count("start", 0, many);
  made.count = from.count("count", 1, many);
  made.where = where;
  require_one_form(made.all, made.start, made.count, where);
  return made;
}

hierarchy read_hierarchy(const table& members, const std::string& where) {
  const reader from("hierarchy", members, where, {"parent", "children", "detach", "all", "start", "count"});
  hierarchy made;
  made.parent = from.required_text("parent");
  made.attach = from.find("detach") == nullptr;
  if (!made.attach && from.find("children") != nullptr)
    throw error(error_kind::configuration, "a [[hierarchy]] has 'children' (to attach) or 'detach', not both", where,
                "write two [[hierarchy]] tables");
  made.children = from.required_texts(made.attach ? "children" : "detach");
  made.all = from.boolean("all");
  made.start = from.count("start", 0, many);
  made.count = from.count("count", 1, many);
  made.where = where;
  require_one_form(made.all, made.start, made.count, where);
  return made;
}

}  // namespace

void read_declarations(const std::string& name, const value& from, declarations& to) {
  const auto* list = from.get<array>();
  const bool tables =
      list && std::ranges::all_of(*list, [](const value& item) { return item.get<table>() != nullptr; });
  if (!tables)
    throw error(error_kind::configuration, fmt::format("'{}' is a list of tables", name), from.where,
                fmt::format("write [[{}]] with two brackets", name));
  for (const value& item : *list) {
    const table& members = *item.get<table>();
    if (name == "loctype") to.loctypes.push_back(read_loctype(members, item.where));
    if (name == "location") to.locations.push_back(read_location(members, item.where));
    if (name == "hierarchy") to.hierarchies.push_back(read_hierarchy(members, item.where));
  }
}

}  // namespace tessera::config
