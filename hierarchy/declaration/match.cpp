#include "hierarchy/declaration/match.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/suggest.hpp"
#include "core/base/units.hpp"

namespace tessera::hierarchy {
namespace {

const std::vector<std::string> attributes{"name",         "plugin",   "pci",      "memory",    "compute_units",
                                          "copy_engines", "peak_f32", "peak_f64", "numa_node", "cc"};
constexpr std::array<std::string_view, 7> operators{"==", "!=", "<=", ">=", "<", ">", "~"};

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::optional<double> number_of(std::string_view attribute, std::string_view text) {
  if (attribute == "memory") {
    const auto bytes = parse_bytes(text);
    return bytes ? std::optional(static_cast<double>(*bytes)) : std::nullopt;
  }
  if (attribute.starts_with("peak_")) return parse_rate(text, rate_of::operations);
  double number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || status != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

double number_of(std::string_view attribute, const found_device& d) {
  if (attribute == "memory") return d.own_space() ? static_cast<double>(d.own_space()->bytes) : 0;
  if (attribute == "compute_units") return d.compute_units;
  if (attribute == "copy_engines") return d.copy_engines;
  if (attribute == "peak_f32") return d.peak_f32;
  if (attribute == "peak_f64") return d.peak_f64;
  return d.numa_node;
}

bool compare(double a, std::string_view by, double b) {
  if (by == "==") return a == b;
  if (by == "!=") return a != b;
  if (by == "<=") return a <= b;
  if (by == ">=") return a >= b;
  return by == "<" ? a < b : a > b;
}

bool compare(std::string_view a, std::string_view by, std::string_view b) {
  if (by == "~") return a.find(b) != a.npos;
  return (a == b) == (by == "==");
}

bool meets(std::string_view condition, const config::placed<std::string>& all, const found_device& d) {
  const auto refuse = [&](std::string message, std::string hint) {
    throw error(error_kind::configuration, std::move(message), all.where, std::move(hint));
  };
  const auto position = condition.find_first_of("=!<>~");
  const std::string_view attribute = trimmed(condition.substr(0, position));
  std::string_view by;
  if (position != condition.npos)
    for (const std::string_view candidate : operators)
      if (by.empty() && condition.substr(position).starts_with(candidate)) by = candidate;
  if (by.empty())
    refuse(fmt::format("'{}' is not a condition", trimmed(condition)),
           "a condition is: attribute operator value, for "
           "example memory>=8 GiB");
  if (std::find(attributes.begin(), attributes.end(), attribute) == attributes.end()) {
    const std::string near = suggest(attribute, attributes);
    refuse(fmt::format("devices have no attribute '{}'", attribute),
           near.empty() ? fmt::format("they have: {}", fmt::join(attributes, ", "))
                        : fmt::format("did you mean '{}'?", near));
  }
  const std::string_view wanted = trimmed(condition.substr(position + by.size()));
  if (attribute == "name" || attribute == "plugin" || attribute == "pci") {
    if (by != "==" && by != "!=" && by != "~")
      refuse(fmt::format("'{}' does not compare texts", by), "use ==, != or ~ (contains)");
    if (attribute == "plugin") return compare(d.plugin, by, wanted);
    if (attribute == "pci") return compare(d.pci_address, by, wanted);
    const bool own = compare(d.name, by, wanted), vendors = compare(d.description, by, wanted);
    return by == "!=" ? own && vendors : own || vendors;
  }
  const auto number = number_of(attribute, wanted);
  if (!number)
    refuse(fmt::format("'{}' is not a value for '{}'", wanted, attribute),
           attribute == "memory"            ? "it is compared with a size, such as 8 GiB"
           : attribute.starts_with("peak_") ? "it is compared with a rate, such as 2 TFLOP/s"
                                            : "it is compared with a number, such as 8 or 8.0");
  if (by == "~") refuse("'~' does not compare numbers", "use ==, !=, <, <=, > or >=");
  if (attribute == "cc") return d.capability && compare(*d.capability, by, *number);
  return compare(number_of(attribute, d), by, *number);
}

}  // namespace

bool matches(const config::placed<std::string>& conditions, const found_device& device) {
  bool all = true;
  for (std::string_view rest = conditions.value;;) {
    const auto comma = rest.find(',');
    all = meets(rest.substr(0, comma), conditions, device) && all;
    if (comma == rest.npos) return all;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace tessera::hierarchy
