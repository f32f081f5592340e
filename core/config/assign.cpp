// Values to members, with the checks of the schema, and back to text.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <type_traits>

#include "core/base/error.hpp"
#include "core/base/suggest.hpp"
#include "core/base/units.hpp"
#include "core/config/quote.hpp"
#include "core/config/schema.hpp"

namespace tessera::config {
namespace {

[[noreturn]] void wrong(const key& k, std::string_view got, const std::string& where, std::string hint = {}) {
  throw error(error_kind::configuration, fmt::format("{} wants {}, not {}", k.full_name(), description_of(k.type), got),
              where, std::move(hint));
}

std::string show_number(const key& k, std::uint64_t number) {
  if (k.type == key_type::size) return exact_bytes(number);
  if (k.type == key_type::duration) return exact_duration(number);
  return std::to_string(number);
}

void set_number(settings& to, const key& k, std::uint64_t number, const std::string& written,
                const std::string& where) {
  if (number < k.minimum || number > k.maximum)
    throw error(error_kind::configuration,
                fmt::format("{} = {} is out of range: it must be {} to {}", k.full_name(), written,
                            show_number(k, k.minimum), show_number(k, k.maximum)),
                where);
  std::visit(
      [&](auto* member) {
        using type = std::remove_pointer_t<decltype(member)>;
        if constexpr (std::is_integral_v<type> && !std::is_same_v<type, bool>) *member = static_cast<type>(number);
      },
      k.member(to));
}

void set_integer(settings& to, const key& k, std::int64_t number, const std::string& where) {
  if (number < 0)
    throw error(error_kind::configuration, fmt::format("{} = {} must not be negative", k.full_name(), number), where);
  set_number(to, k, static_cast<std::uint64_t>(number), std::to_string(number), where);
}

/// A size or duration written with a unit.
void set_quantity(settings& to, const key& k, std::string_view text, const std::string& where) {
  const auto number = k.type == key_type::size ? parse_bytes(text) : parse_duration(text);
  if (!number) {
    const bool negative = text.find_first_not_of(" \t") != text.npos && text[text.find_first_not_of(" \t")] == '-';
    wrong(k, in_quotes(text), where,
          negative ? "it must not be negative"
          : k.type == key_type::size
              ? "units are B, KiB, MiB, GiB, TiB (powers of 1024) and kB, MB, GB, TB; below 8 EiB"
              : "units are ns, us, ms, s, min");
  }
  set_number(to, k, static_cast<std::uint64_t>(*number), in_quotes(text), where);
}

void set_text(settings& to, const key& k, std::string text, const std::string& where) {
  if (!k.choices.empty() && !k.is_path) {
    const std::vector<std::string> words = k.words();
    const auto allowed = [&](const std::string& word) {  // "plugin:*" allows what goes on after the ':'
      return word.ends_with('*') ? text.starts_with(word.substr(0, word.size() - 1)) && text.size() >= word.size()
                                 : text == word;
    };
    if (std::none_of(words.begin(), words.end(), allowed)) {
      const std::string near = suggest(text, words);
      throw error(error_kind::configuration,
                  fmt::format("{} = {} is not one of: {}", k.full_name(), in_quotes(text), fmt::join(words, ", ")),
                  where, near.empty() ? "" : fmt::format("did you mean \"{}\"?", near));
    }
  }
  *std::get<std::string*>(k.member(to)) = std::move(text);
}

void set_list(settings& to, const key& k, std::vector<std::string> list, const std::string& where) {
  for (const std::string& item : list) {
    if (item.empty())
      throw error(error_kind::configuration, fmt::format("{} has an empty entry", k.full_name()), where);
    if (k.name == "plugin_path" && !std::filesystem::path(item).is_absolute())
      throw error(error_kind::configuration,
                  fmt::format("{} has the relative directory {}", k.full_name(), in_quotes(item)), where,
                  "plugins run with all your rights, so their directories are given from the root: \"/usr/lib/...\"");
  }
  std::set<std::string_view> seen;
  for (const std::string& item : list) {
    const bool may_be_absent = k.name == "plugins" && item.ends_with('?');  // "cuda" and "cuda?" are one plugin
    if (!seen.insert(std::string_view(item).substr(0, item.size() - (may_be_absent ? 1 : 0))).second)
      throw error(error_kind::configuration, fmt::format("{} has {} twice", k.full_name(), in_quotes(item)), where,
                  "leave one of them out");
  }
  *std::get<std::vector<std::string>*>(k.member(to)) = std::move(list);
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string> split_list(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  std::vector<std::string> items;
  while (!trimmed(text).empty()) {
    const auto end = std::min(text.find(','), text.size());
    std::string_view item = trimmed(text.substr(0, end));
    if (item.size() >= 2 && item.front() == '"' && item.back() == '"') item = item.substr(1, item.size() - 2);
    items.emplace_back(item);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return items;
}

}  // namespace

void assign(settings& to, const key& k, const value& from) {
  switch (k.type) {
    case key_type::boolean:
      if (const auto* boolean = from.get<bool>()) {
        *std::get<bool*>(k.member(to)) = *boolean;
        return;
      }
      break;
    case key_type::size:
    case key_type::duration:
      if (const auto* text = from.get<std::string>()) return set_quantity(to, k, *text, from.where);
      // A bare number of a size is bytes; a duration without its unit could be anything.
      if (k.type == key_type::duration) break;
      [[fallthrough]];
    case key_type::integer:
      if (const auto* integer = from.get<std::int64_t>()) return set_integer(to, k, *integer, from.where);
      if (from.get<std::string>()) wrong(k, from.type_name(), from.where, "write the number without quotes");
      break;
    case key_type::text:
      if (const auto* text = from.get<std::string>()) return set_text(to, k, *text, from.where);
      break;
    case key_type::text_list:
      if (const auto* list = from.get<array>()) {
        std::vector<std::string> items;
        for (const value& item : *list) {
          if (!item.get<std::string>()) wrong(k, fmt::format("{} in the list", item.type_name()), item.where);
          items.push_back(*item.get<std::string>());
        }
        return set_list(to, k, std::move(items), from.where);
      }
      break;
  }
  wrong(k, from.type_name(), from.where);
}

void assign_text(settings& to, const key& k, std::string_view text, const std::string& where) {
  switch (k.type) {
    case key_type::boolean:
      if (text != "true" && text != "false" && text != "1" && text != "0") wrong(k, in_quotes(text), where);
      *std::get<bool*>(k.member(to)) = text == "true" || text == "1";
      return;
    case key_type::integer: {
      std::int64_t number = 0;
      const std::string_view digits = trimmed(text);
      const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
      if (status != std::errc{} || end != digits.data() + digits.size() || digits.empty())
        wrong(k, in_quotes(text), where);
      return set_integer(to, k, number, where);
    }
    case key_type::size:
    case key_type::duration:
      return set_quantity(to, k, text, where);
    case key_type::text:
      return set_text(to, k, std::string(text), where);
    case key_type::text_list:
      return set_list(to, k, split_list(text), where);
  }
}

std::string show(const settings& from, const key& k) {
  // The schema's accessor works on mutable settings; here it is only read through.
  settings copy = from;
  return std::visit(
      [&](auto* member) -> std::string {
        using type = std::remove_pointer_t<decltype(member)>;
        if constexpr (std::is_same_v<type, bool>) {
          return *member ? "true" : "false";
        } else if constexpr (std::is_same_v<type, std::string>) {
          return in_quotes(*member);
        } else if constexpr (std::is_same_v<type, std::vector<std::string>>) {
          std::vector<std::string> items;
          for (const std::string& item : *member) items.push_back(in_quotes(item));
          return fmt::format("[{}]", fmt::join(items, ", "));
        } else {
          const std::string text = show_number(k, *member);
          return k.type == key_type::integer || text.find(' ') == text.npos ? text : in_quotes(text);
        }
      },
      k.member(copy));
}

}  // namespace tessera::config
