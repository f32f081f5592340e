#include "core/plugin/option_value.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/suggest.hpp"
#include "core/base/units.hpp"

namespace tessera::plugin {
namespace {

std::optional<std::int64_t> integer_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [rest, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || rest != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  const auto [rest, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || rest != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<bool> truth_of(std::string_view text) {
  if (text == "true" || text == "on" || text == "yes" || text == "1") return true;
  if (text == "false" || text == "off" || text == "no" || text == "0") return false;
  return std::nullopt;
}

/// The value as the option's type, or nothing. Texts are read for every type: the environment and the command line have
/// nothing else.
std::optional<option_value> converted(tsr_option_type type, const raw_option& raw) {
  option_value result{raw.name, type, 0, 0, {}};
  const auto* truth = std::get_if<bool>(&raw.value);
  const auto* whole = std::get_if<std::int64_t>(&raw.value);
  const auto* number = std::get_if<double>(&raw.value);
  const auto* text = std::get_if<std::string>(&raw.value);
  const auto take = [&result](auto& field, const auto& value) -> std::optional<option_value> {
    if (!value) return std::nullopt;
    field = static_cast<std::remove_reference_t<decltype(field)>>(*value);
    return result;
  };
  switch (type) {
    case TSR_OPTION_BOOL:
      if (truth != nullptr) return take(result.integer, truth);
      return text != nullptr ? take(result.integer, truth_of(*text)) : std::nullopt;
    case TSR_OPTION_INT:
      if (whole != nullptr) return take(result.integer, whole);
      return text != nullptr ? take(result.integer, integer_of(*text)) : std::nullopt;
    case TSR_OPTION_FLOAT:
      if (whole != nullptr) return take(result.number, whole);
      if (number != nullptr) return std::isfinite(*number) ? take(result.number, number) : std::nullopt;
      return text != nullptr ? take(result.number, number_of(*text)) : std::nullopt;
    case TSR_OPTION_STRING:
      if (text == nullptr) return std::nullopt;
      result.text = *text;
      return result;
    case TSR_OPTION_BYTES:
      if (whole != nullptr) return take(result.integer, whole);
      return text != nullptr ? take(result.integer, parse_bytes(*text)) : std::nullopt;
    case TSR_OPTION_RATE:
      if (whole != nullptr) return take(result.number, whole);
      if (number != nullptr) return std::isfinite(*number) ? take(result.number, number) : std::nullopt;
      return text != nullptr ? take(result.number, parse_rate(*text)) : std::nullopt;
    case TSR_OPTION_DURATION:
      if (whole != nullptr) return take(result.integer, whole);
      if (text == nullptr) return std::nullopt;
      if (const auto plain = integer_of(*text)) return take(result.integer, plain);
      return take(result.integer, parse_duration(*text));
    default:
      return std::nullopt;
  }
}

std::string as_written(const raw_option& raw) {
  if (const auto* text = std::get_if<std::string>(&raw.value)) return fmt::format("\"{}\"", *text);
  if (const auto* truth = std::get_if<bool>(&raw.value)) return *truth ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&raw.value)) return fmt::format("{}", *whole);
  return fmt::format("{}", std::get<double>(raw.value));
}

std::string bound_text(tsr_option_type type, double bound) {
  switch (type) {
    case TSR_OPTION_BYTES:
      return format_bytes(bound);
    case TSR_OPTION_RATE:
      return format_bytes(bound) + "/s";
    case TSR_OPTION_DURATION:
      return bound == 0 ? "0" : format_seconds(bound * 1e-9);
    default:
      return fmt::format("{:g}", bound);
  }
}

bool is_integer(tsr_option_type type) {
  return type == TSR_OPTION_INT || type == TSR_OPTION_BYTES || type == TSR_OPTION_DURATION;
}

/// What there is none of below 0, also where a plugin gives no limits.
bool is_amount(tsr_option_type type) {
  return type == TSR_OPTION_BYTES || type == TSR_OPTION_RATE || type == TSR_OPTION_DURATION;
}

}  // namespace

std::string_view description_of(tsr_option_type type) noexcept {
  switch (type) {
    case TSR_OPTION_BOOL:
      return "true or false";
    case TSR_OPTION_INT:
      return "a whole number";
    case TSR_OPTION_FLOAT:
      return "a number";
    case TSR_OPTION_STRING:
      return "a text in quotes";
    case TSR_OPTION_BYTES:
      return "a size such as \"64 MiB\"";
    case TSR_OPTION_RATE:
      return "a rate such as \"12 GiB/s\" or \"2 TFLOP/s\"";
    case TSR_OPTION_DURATION:
      return "a time such as \"5 us\"";
    default:
      return "a value";
  }
}

std::string range_text(const option_schema& schema) {
  if (schema.min_value == 0 && schema.max_value == 0) return {};
  const std::string low = bound_text(schema.type, schema.min_value);
  // Schemas write "no upper limit" as a very large number.
  if (schema.max_value >= 0x1p62) return "at least " + low;
  return low + " .. " + bound_text(schema.type, schema.max_value);
}

option_value check_value(const std::string& plugin, const option_schema& schema, const raw_option& value) {
  const auto fail = [&](const std::string& problem, const std::string& hint) {
    throw error(error_kind::configuration,
                fmt::format("option \"{}\" of plugin \"{}\" is {}, {}", value.name, plugin, as_written(value), problem),
                value.where, hint);
  };
  const std::optional<option_value> result = converted(schema.type, value);
  if (!result) {
    const auto* text = std::get_if<std::string>(&value.value);
    if (schema.type == TSR_OPTION_BYTES && text != nullptr && parse_rate(*text) && !text->ends_with("/s"))
      fail("which is out of range: sizes are below 8 EiB", schema.doc);
    fail(fmt::format("but must be {}", description_of(schema.type)), schema.doc);
  }
  const bool numeric = is_integer(schema.type) || schema.type == TSR_OPTION_FLOAT || schema.type == TSR_OPTION_RATE;
  if (numeric) {
    const double number = is_integer(schema.type) ? static_cast<double>(result->integer) : result->number;
    const bool limits = schema.min_value != 0 || schema.max_value != 0;
    if (limits && (number < schema.min_value || number > schema.max_value))
      fail(fmt::format("which is outside {}", range_text(schema)), schema.doc);
    if (!limits && is_amount(schema.type) && number < 0) fail("which is below 0", schema.doc);
  }
  if (schema.type == TSR_OPTION_STRING && !schema.choices.empty() &&
      std::find(schema.choices.begin(), schema.choices.end(), result->text) == schema.choices.end()) {
    const std::string near = suggest(result->text, schema.choices);
    fail(fmt::format("which is none of {}", fmt::join(schema.choices, ", ")),
         near.empty() ? schema.doc : fmt::format("did you mean \"{}\"?", near));
  }
  return *result;
}

}  // namespace tessera::plugin
