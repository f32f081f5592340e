#include "core/config/layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/error.hpp"
#include "core/base/suggest.hpp"
#include "core/config/quote.hpp"
#include "core/config/schema.hpp"

namespace tessera::config {
namespace {

std::vector<std::string> keys_of(std::string_view section) {
  std::vector<std::string> names;
  for (const key& k : schema())
    if (k.section == section) names.emplace_back(k.name);
  return names;
}

std::vector<std::string> top_level_names() {
  std::vector<std::string> names = sections();
  for (const char* name : {"plugin", "checksums", "loctype", "location", "hierarchy"}) names.emplace_back(name);
  return names;
}

std::string resolved(const std::string& path, const std::filesystem::path& folder) {
  if (path.empty() || std::filesystem::path(path).is_absolute()) return path;
  return (folder / path).lexically_normal().string();
}

/// device = [{memory = 1}] becomes "device[0].memory" = 1.
void flatten(const value& from, const std::string& prefix, std::vector<plugin_value>& to) {
  if (const auto* members = from.get<table>()) {
    for (const auto& [name, member] : *members) flatten(member, prefix.empty() ? name : prefix + "." + name, to);
  } else if (const auto* elements = from.get<array>()) {
    for (std::size_t i = 0; i < elements->size(); ++i) flatten((*elements)[i], fmt::format("{}[{}]", prefix, i), to);
  } else {
    plugin_value flat{prefix, false, from.where};
    std::visit(
        [&](const auto& v) {
          if constexpr (std::is_constructible_v<decltype(flat.value), decltype(v)>) flat.value = v;
        },
        from.content);
    to.push_back(std::move(flat));
  }
}

/// "device[0]" of "device[0].memory"; "" without brackets.
std::string_view array_of(std::string_view name) {
  return name.substr(0, name.find('[') == name.npos ? 0 : name.find('['));
}

/// What a word on the command line is, for options whose schema is not known yet.
std::variant<bool, std::int64_t, double, std::string> guessed(std::string_view text) {
  if (text == "true" || text == "false") return text == "true";
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"')
    return std::string(text.substr(1, text.size() - 2));
  const char* const end = text.data() + text.size();
  std::int64_t integer = 0;
  if (const auto [rest, status] = std::from_chars(text.data(), end, integer);
      status == std::errc{} && rest == end && !text.empty())
    return integer;
  double number = 0;
  if (const auto [rest, status] = std::from_chars(text.data(), end, number);
      status == std::errc{} && rest == end && !text.empty())
    return number;
  return std::string(text);
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

/// Texts are names, paths and words, which are printed in lines and handed to the system: none has a control character.
void require_printable(std::string_view text, const std::string& where) {
  const auto at = std::ranges::find_if(text, is_control);
  if (at == text.end()) return;
  std::string shown(text);
  std::ranges::replace_if(shown, is_control, '?');
  throw error(error_kind::configuration,
              fmt::format("'{}' has the control character U+{:04X}", shown, static_cast<unsigned char>(*at)), where,
              "write it without line ends, tabs and such");
}
/// TESSERA_TRACE=1 means to turn something on, and would write a file "1".
void require_file_name(const key& k, std::string_view given, const std::string& where) {
  if (!k.is_path || (given != "1" && given != "0" && given != "true" && given != "false")) return;
  throw error(error_kind::configuration, fmt::format("{} names a file, not {}", k.short_variable, in_quotes(given)),
              where, fmt::format("write {}=FILE, and leave it out to write none", k.short_variable));
}
void require_printable(const value& from) {
  if (const auto* text = from.get<std::string>()) require_printable(*text, from.where);
  if (const auto* elements = from.get<array>())
    for (const value& one : *elements) require_printable(one);
  if (const auto* members = from.get<table>())
    for (const auto& [name, member] : *members) {
      require_printable(name, member.where);
      require_printable(member);
    }
}

}  // namespace

void unknown(std::string_view what, std::string_view name, const std::vector<std::string>& known,
             const std::string& where) {
  const std::string near = suggest(name, known);
  throw error(
      error_kind::configuration, fmt::format("unknown {} '{}'", what, name), where,
      near.empty() ? fmt::format("known: {}", fmt::join(known, ", ")) : fmt::format("did you mean '{}'?", near));
}

void layers::file(const table& top, const std::filesystem::path& folder) {
  for (const auto& [name, member] : top) {
    require_printable(member);
    if (name == "plugin") {
      const auto* plugins = member.get<table>();
      if (!plugins)
        throw error(error_kind::configuration, fmt::format("'plugin' is a group of tables, not {}", member.type_name()),
                    member.where, "write [plugin.NAME], for example [plugin.sim]");
      for (const auto& [plugin, options] : *plugins) plugin_table(plugin, options);
    } else if (name == "checksums") {
      checksum_table(member);
    } else if (name == "loctype" || name == "location" || name == "hierarchy") {
      read_declarations(name, member, m_document.m_declared);
    } else if (std::ranges::count(sections(), name) != 0) {
      section(name, member, folder);
    } else {
      // A key of a section written above the first header is the common mistake.
      for (const key& k : schema())
        if (k.name == name)
          throw error(error_kind::configuration, fmt::format("unknown table or key '{}'", name), member.where,
                      fmt::format("'{}' belongs below [{}]", name, k.section));
      unknown("table or key", name, top_level_names(), member.where);
    }
  }
}

void layers::section(const std::string& name, const value& from, const std::filesystem::path& folder) {
  const auto* members = from.get<table>();
  if (!members)
    throw error(error_kind::configuration, fmt::format("'{}' is a table, not {}", name, from.type_name()), from.where,
                fmt::format("write [{}] on a line of its own and the keys below it", name));
  for (const auto& [key_name, member] : *members) {
    const key* k = find_key(name, key_name);
    if (k == nullptr) {
      for (const struct key& other : schema())
        if (other.name == key_name)
          throw error(error_kind::configuration, fmt::format("unknown key '{}' in [{}]", key_name, name), member.where,
                      fmt::format("'{}' belongs below [{}]", key_name, other.section));
      unknown(fmt::format("key in [{}]:", name), key_name, keys_of(name), member.where);
    }
    assign(m_document.m_settings, *k, member);
    if (k->is_path) {
      auto& path = *std::get<std::string*>(k->member(m_document.m_settings));
      if (std::ranges::count(k->words(), path) == 0) path = resolved(path, folder);
    }
    m_document.m_origins[k->full_name()] = member.where;
  }
}

document::plugin_table& layers::plugin_entry(const std::string& name, const std::string& where) {
  auto& plugins = m_document.m_plugins;
  const auto found = std::ranges::find(plugins, name, &document::plugin_table::name);
  if (found != plugins.end()) return *found;
  return plugins.emplace_back(document::plugin_table{name, where, {}});
}

void layers::plugin_table(const std::string& name, const value& from) {
  if (!from.get<table>())
    throw error(error_kind::configuration, fmt::format("'plugin.{}' is a table, not {}", name, from.type_name()),
                from.where, fmt::format("write [plugin.{}] and the options below it", name));
  std::vector<plugin_value> given;
  flatten(from, "", given);
  auto& entry = plugin_entry(name, from.where);
  // A later file replaces single options by name and arrays of tables as a whole.
  std::erase_if(entry.values, [&](const plugin_value& old) {
    return std::ranges::any_of(given, [&](const plugin_value& v) {
      return v.name == old.name || (!array_of(v.name).empty() && array_of(v.name) == array_of(old.name));
    });
  });
  entry.values.insert(entry.values.end(), given.begin(), given.end());
}

void layers::checksum_table(const value& from) {
  const auto* members = from.get<table>();
  if (!members)
    throw error(error_kind::configuration, fmt::format("'checksums' is a table, not {}", from.type_name()), from.where);
  for (const auto& [plugin, member] : *members) {
    if (!member.get<std::string>())
      throw error(error_kind::configuration, fmt::format("checksums.{} wants text, not {}", plugin, member.type_name()),
                  member.where);
    add_checksum(plugin, *member.get<std::string>(), member.where);
  }
}

void layers::add_checksum(const std::string& plugin, const std::string& digits, const std::string& where) {
  std::string lower = digits;
  for (char& c : lower)
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  if (lower.size() != 64 || lower.find_first_not_of("0123456789abcdef") != lower.npos)
    throw error(error_kind::configuration, fmt::format("checksums.{} is not a SHA-256", plugin), where,
                "it has 64 hexadecimal digits; sha256sum FILE prints it");
  auto& sums = m_document.m_checksums;
  std::erase_if(sums, [&](const checksum& sum) { return sum.plugin == plugin; });
  sums.push_back({plugin, lower, where});
}

void layers::text(const key& k, std::string_view value_text, const std::string& where) {
  require_printable(value_text, where);
  assign_text(m_document.m_settings, k, value_text, where);
  m_document.m_origins[k.full_name()] = where;
}

void layers::set(const std::string& assignment) {
  const std::string where = "command line";
  require_printable(assignment, where);
  const auto equals = assignment.find('=');
  const std::string path = assignment.substr(0, std::min(equals, assignment.size()));
  const auto dot = path.find('.');
  if (equals == assignment.npos || dot == path.npos || dot == 0 || dot + 1 == path.size())
    throw error(error_kind::usage, fmt::format("--set wants section.key=value, not '{}'", assignment), where,
                "for example --set runtime.workers=4");
  const std::string first = path.substr(0, dot), rest = path.substr(dot + 1), given = assignment.substr(equals + 1);
  if (first == "plugin") return set_plugin_option(rest, given, where);
  if (first == "checksums") return add_checksum(rest, given, where);
  const auto known = sections();
  if (std::ranges::count(known, first) == 0) {
    if (first == "loctype" || first == "location" || first == "hierarchy")
      throw error(error_kind::configuration, fmt::format("'{}' cannot be given with --set", path), where,
                  "declarations are made in a file");
    std::vector<std::string> all = known;
    all.insert(all.end(), {"plugin", "checksums"});
    unknown("section", first, all, where);
  }
  const key* k = find_key(first, rest);
  if (k == nullptr) unknown(fmt::format("key in [{}]:", first), rest, keys_of(first), where);
  text(*k, given, where);
}

void layers::set_plugin_option(std::string_view path, std::string_view value_text, const std::string& where) {
  const auto dot = path.find('.');
  if (dot == path.npos || dot == 0 || dot + 1 == path.size())
    throw error(error_kind::usage, fmt::format("--set plugin.{} names no option", path), where,
                "write --set plugin.NAME.option=value");
  const std::string name(path.substr(dot + 1));
  auto& entry = plugin_entry(std::string(path.substr(0, dot)), where);
  if (const auto list = array_of(name); !list.empty()) {
    const auto close = name.find(']');
    std::size_t index = 0, count = 0;
    const char* const digits = name.data() + list.size() + 1;
    const bool bad = close == name.npos ||
                     std::from_chars(digits, name.data() + close, index).ptr != name.data() + close ||
                     digits == name.data() + close;
    for (const plugin_value& v : entry.values) {
      std::size_t present = 0;
      if (array_of(v.name) != list) continue;
      std::from_chars(v.name.data() + list.size() + 1, v.name.data() + v.name.size(), present);
      count = std::max(count, present + 1);
    }
    if (bad || index > count)
      throw error(error_kind::configuration, fmt::format("plugin.{}: there is no such entry of '{}'", path, list),
                  where, fmt::format("numbers are 0 to {}; {} adds one", count == 0 ? 0 : count - 1, count));
  }
  std::erase_if(entry.values, [&](const plugin_value& old) { return old.name == name; });
  entry.values.push_back({name, guessed(value_text), where});
}

void layers::workers(std::uint32_t count) {
  text(*find_key("runtime", "workers"), std::to_string(count), "command line");
}

void layers::environment(const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> known{"TESSERA_CONFIG"};
  for (const key& k : schema()) {
    known.push_back(k.environment_variable());
    if (!k.short_variable.empty()) known.emplace_back(k.short_variable);
  }
  // The ancestor's two variables first: a variable of our own beats them.
  for (const auto& [name, value_text] : variables) {
    if (value_text.empty()) continue;
    if (name == "GECKO_CONFIG_FILE") text(*find_key("topology", "declarations"), value_text, "environment " + name);
    if (name == "GECKO_POLICY") text(*find_key("region", "policy"), value_text, "environment " + name);
  }
  const auto has = [&](const std::string& variable) {
    return std::ranges::any_of(variables, [&](const auto& one) { return one.first == variable; });
  };
  for (const auto& [name, value_text] : variables) {
    if (!name.starts_with("TESSERA_") || name == "TESSERA_CONFIG") continue;
    const std::string where = "environment " + name;
    const key* mine = nullptr;
    for (const key& k : schema())
      if (k.environment_variable() == name || k.short_variable == name) mine = &k;
    if (mine != nullptr) {
      const bool is_short = mine->short_variable == name;
      if (is_short) require_file_name(*mine, value_text, where);
      if (!is_short || !has(mine->environment_variable())) text(*mine, value_text, where);
      continue;
    }
    // Ours or somebody else's? A variable in one of our sections, near a known one, or called like a key is a mistake.
    const std::string_view rest = std::string_view(name).substr(8);
    std::string suggestion = suggest(name, known);
    bool in_section = rest.starts_with("PLUGIN_") && rest != "PLUGIN_DIR";
    for (const key& k : schema()) {
      const std::string variable = k.environment_variable();
      const std::string section_prefix = variable.substr(8, k.section.size() + 1);
      in_section = in_section || rest.starts_with(section_prefix);
      if (variable.ends_with(fmt::format("_{}", rest)) && suggestion.empty()) suggestion = variable;
    }
    if (!in_section && suggestion.empty()) continue;
    throw error(error_kind::configuration, fmt::format("unknown environment variable {}", name), where,
                !suggestion.empty() ? fmt::format("did you mean {}?", suggestion)
                : rest.starts_with("PLUGIN_")
                    ? "options of plugins are given in a file or with --set plugin.NAME.option=value"
                    : "each key [section] name has the variable TESSERA_SECTION_NAME");
  }
}

}  // namespace tessera::config
