#include "core/plugin/explain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "core/plugin/option_value.hpp"

namespace tessera::plugin {
namespace {

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

}  // namespace tessera::plugin
