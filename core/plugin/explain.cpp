#include "core/plugin/explain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "core/plugin/option_value.hpp"

namespace tessera::plugin {
namespace {

std::string written(const std::variant<bool, std::int64_t, double, std::string>& value) {
  return nlohmann::json(std::visit([](const auto& v) { return nlohmann::json(v); }, value))
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

const char* word_of(tsr_option_type type) {
  switch (type) {
    case TSR_OPTION_BOOL:
      return "bool";
    case TSR_OPTION_INT:
      return "integer";
    case TSR_OPTION_FLOAT:
      return "number";
    case TSR_OPTION_STRING:
      return "string";
    case TSR_OPTION_BYTES:
      return "bytes";
    case TSR_OPTION_RATE:
      return "rate";
    case TSR_OPTION_DURATION:
      return "duration";
    default:
      return "?";
  }
}

}  // namespace

std::string explain(const std::vector<option_schema>& schema) {
  if (schema.empty()) return "  (no options)\n";
  std::vector<std::array<std::string, 5>> rows{{"option", "type", "default", "range or choices", "what it does"}};
  for (const option_schema& option : schema)
    rows.push_back({option.name, word_of(option.type), option.default_text.value_or("(none)"),
                    option.choices.empty() ? range_text(option) : fmt::format("{}", fmt::join(option.choices, " | ")),
                    option.doc});
  std::array<std::size_t, 4> width{};
  for (const auto& row : rows)
    for (std::size_t i = 0; i < width.size(); ++i) width[i] = std::max(width[i], row[i].size());
  std::string text;
  for (const auto& row : rows) {
    std::string line = fmt::format("  {:<{}}  {:<{}}  {:<{}}  {:<{}}  {}", row[0], width[0], row[1], width[1], row[2],
                                   width[2], row[3], width[3], row[4]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string explain(const registry::opened_plugin& plugin) {
  return fmt::format(
      "{} {}: {} plugin by {}, ABI {}.{}\n  file   {}\n  build  {}\n{}Options, in [plugin.{}]:\n{}", plugin.name,
      plugin.version, plugin.kind, plugin.vendor, plugin.abi_major, plugin.abi_minor, plugin.path.string(),
      plugin.build, plugin.absent.empty() ? "" : fmt::format("  here   cannot serve this machine: {}\n", plugin.absent),
      plugin.name, explain(plugin.options));
}

std::string explain_json(const registry::opened_plugin& plugin) {
  using json = nlohmann::ordered_json;
  json made = {{"name", plugin.name},
               {"version", plugin.version},
               {"kind", plugin.kind},
               {"vendor", plugin.vendor},
               {"abi", fmt::format("{}.{}", plugin.abi_major, plugin.abi_minor)},
               {"path", plugin.path.string()},
               {"build", plugin.build},
               {"unavailable", plugin.absent.empty() ? json() : json(plugin.absent)},
               {"options", json::array()}};
  for (const option_schema& option : plugin.options) {
    const bool limits = option.min_value != 0 || option.max_value != 0;
    made["options"].push_back({{"name", option.name},
                               {"type", word_of(option.type)},
                               {"default", option.default_text ? json(*option.default_text) : json()},
                               {"minimum", limits ? json(option.min_value) : json()},
                               {"maximum", limits ? json(option.max_value) : json()},
                               {"choices", option.choices},
                               {"what", option.doc}});
  }
  // Texts come from plugins: what is not UTF-8 is replaced.
  return made.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::vector<explained_option> explain_options(const std::string& plugin, const std::vector<option_schema>& schema,
                                              const std::vector<raw_option>& values) {
  check_options(plugin, schema, values);
  std::vector<explained_option> all;
  for (const auto& [name, option] : existing_options(schema, values)) {
    const auto given =
        std::find_if(values.begin(), values.end(), [&, &name = name](const raw_option& v) { return v.name == name; });
    const bool is_text = option->type == TSR_OPTION_STRING || option->type == TSR_OPTION_BYTES ||
                         option->type == TSR_OPTION_RATE || option->type == TSR_OPTION_DURATION;
    if (given != values.end())
      all.push_back({name, written(given->value), false, given->where});
    else if (!option->default_text)
      all.push_back({name, "(none)", true, "default"});
    else
      all.push_back({name, is_text ? written(*option->default_text) : *option->default_text, true, "default"});
  }
  return all;
}

}  // namespace tessera::plugin
