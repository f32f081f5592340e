#include "core/base/units.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace tessera {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

struct quantity {
  double number;
  std::string_view unit;
};

std::optional<quantity> split(std::string_view text) {
  text = trimmed(text);
  double number = 0;
  const auto [rest, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc{} || !std::isfinite(number) || number < 0) return std::nullopt;
  return quantity{number, trimmed(text.substr(static_cast<std::size_t>(rest - text.data())))};
}

constexpr std::array<std::pair<char, int>, 7> prefixes{
    {{'k', 1}, {'K', 1}, {'M', 2}, {'G', 3}, {'T', 4}, {'P', 5}, {'E', 6}}};

/// Factor of a prefix that starts `unit`, and what is left of it.
std::pair<double, std::string_view> prefix_of(std::string_view unit) {
  for (const auto& [letter, power] : prefixes) {
    if (unit.empty() || unit.front() != letter) continue;
    unit.remove_prefix(1);
    const bool binary = !unit.empty() && unit.front() == 'i';
    if (binary) unit.remove_prefix(1);
    return {std::pow(binary ? 1024.0 : 1000.0, power), unit};
  }
  return {1.0, unit};
}

}  // namespace

std::optional<std::int64_t> parse_bytes(std::string_view text) {
  const auto parts = split(text);
  if (!parts) return std::nullopt;
  const auto [factor, unit] = prefix_of(parts->unit);
  if (!unit.empty() && unit != "B") return std::nullopt;
  const double bytes = parts->number * factor;
  if (bytes >= 0x1p63) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(bytes));
}

std::optional<double> parse_rate(std::string_view text, rate_of what) {
  auto parts = split(text);
  if (!parts) return std::nullopt;
  if (parts->unit.ends_with("/s")) parts->unit.remove_suffix(2);
  const auto [factor, unit] = prefix_of(parts->unit);
  if (!unit.empty() && unit != "B" && unit != "FLOP" && unit != "FLOPS") return std::nullopt;
  if (!unit.empty() && what != rate_of::any && (unit == "B") != (what == rate_of::bytes)) return std::nullopt;
  return parts->number * factor;
}

std::optional<std::int64_t> parse_duration(std::string_view text) {
  const auto parts = split(text);
  if (!parts) return std::nullopt;
  static constexpr std::array<std::pair<std::string_view, double>, 5> units{
      {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}}};
  for (const auto& [name, factor] : units) {
    const double ns = parts->number * factor;
    if (parts->unit == name && ns < 0x1p63) return static_cast<std::int64_t>(std::llround(ns));
  }
  return std::nullopt;
}

std::string format_bytes(double bytes) {
  static constexpr std::array<const char*, 7> names{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t power = 0;
  while (bytes >= 1024 && power + 1 < names.size()) bytes /= 1024, ++power;
  if (bytes >= 1000) return fmt::format("{:.0f} {}", bytes, names[power]);  // never "1e+03"
  return fmt::format("{:.3g} {}", bytes, names[power]);
}

std::string format_seconds(double seconds) {
  if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.3g} ms", seconds * 1e3);
  if (seconds >= 1e-6) return fmt::format("{:.3g} us", seconds * 1e6);
  return fmt::format("{:.3g} ns", seconds * 1e9);
}

}  // namespace tessera
