#include "core/config/document.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/environment.hpp"
#include "core/config/layers.hpp"
#include "core/config/quote.hpp"
#include "core/config/schema.hpp"
#include "core/config/toml.hpp"

namespace tessera::config {
namespace {

std::string show(const std::variant<bool, std::int64_t, double, std::string>& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using type = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<type, bool>)
          return v ? "true" : "false";
        else if constexpr (std::is_same_v<type, std::string>)
          return in_quotes(v);
        else
          return fmt::format("{}", v);
      },
      value);
}

}  // namespace

document document::load(const sources& from) {
  document made;
  layers onto(made);
  const auto variables = from.environment ? *from.environment : environment_variables({"TESSERA_", "GECKO_"});
  std::vector<std::filesystem::path> files = from.files;
  if (files.empty() && from.text.empty())
    for (const auto& [name, value] : variables)
      if (name == "TESSERA_CONFIG" && !value.empty()) files.emplace_back(value);
  for (const auto& file : files)
    onto.file(parse_toml(from.read ? from.read(file) : read_text_file(file), file.string()), file.parent_path());
  if (!from.text.empty()) onto.file(parse_toml(from.text, "text"), {});
  onto.environment(variables);
  for (const std::string& assignment : from.set) onto.set(assignment);
  if (from.workers) onto.workers(*from.workers);
  return made;
}

document document::parse(std::string_view toml, const std::string& name) {
  document made;
  layers(made).file(parse_toml(toml, name), {});
  return made;
}

const std::vector<plugin_value>& document::plugin_values(const std::string& plugin) const {
  static const std::vector<plugin_value> none;
  const auto found = std::ranges::find(m_plugins, plugin, &plugin_table::name);
  return found == m_plugins.end() ? none : found->values;
}

std::vector<std::pair<std::string, std::string>> document::plugins_with_values() const {
  std::vector<std::pair<std::string, std::string>> names;
  for (const plugin_table& p : m_plugins) names.emplace_back(p.name, p.where);
  return names;
}

std::string document::origin(const std::string& key) const {
  const auto found = m_origins.find(key);
  return found == m_origins.end() ? "default" : found->second;
}

std::vector<explained> document::explain() const {
  std::vector<explained> lines;
  for (const key& k : schema()) {
    const std::string name = k.full_name();
    lines.push_back({name, config::show(m_settings, k), !m_origins.contains(name), origin(name)});
  }
  for (const plugin_table& plugin : m_plugins)
    for (const plugin_value& v : plugin.values)
      lines.push_back({"plugin." + plugin.name + "." + v.name, show(v.value), false, v.where});
  for (const checksum& sum : m_checksums)
    lines.push_back({"checksums." + sum.plugin, in_quotes(sum.sha256), false, sum.where});
  for (const loctype& type : m_declared.loctypes)
    lines.push_back({"loctype", in_quotes(type.name.value), false, type.name.where});
  for (const location& place : m_declared.locations)
    for (const auto& name : place.names) lines.push_back({"location", in_quotes(name.value), false, name.where});
  for (const hierarchy& edge : m_declared.hierarchies)
    for (const auto& child : edge.children)
      lines.push_back({"hierarchy",
                       fmt::format("\"{} {} {}\"", edge.parent.value, edge.attach ? ">" : "x", child.value), false,
                       child.where});
  return lines;
}

std::string to_text(const std::vector<explained>& lines) {
  std::size_t key_width = 3, value_width = 5;
  for (const explained& line : lines) {
    key_width = std::max(key_width, line.key.size());
    value_width = std::max(value_width, std::min<std::size_t>(line.value.size(), 40));
  }
  std::string text = fmt::format("{:<{}}  {:<{}}  from\n", "key", key_width, "value", value_width);
  for (const explained& line : lines)
    text += fmt::format("{:<{}}  {:<{}}  {}\n", line.key, key_width, line.value, value_width, line.where);
  return text;
}

std::string to_json(const std::vector<explained>& lines) {
  std::string text = "[";
  for (const explained& line : lines)  // in_quotes() escapes as JSON does too
    text +=
        fmt::format("{}\n  {{\"key\": {}, \"value\": {}, \"default\": {}, \"where\": {}}}", text.size() > 1 ? "," : "",
                    in_quotes(line.key), in_quotes(line.value), line.is_default, in_quotes(line.where));
  return text + "\n]\n";
}

}  // namespace tessera::config
