#include "core/plugin/option.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/error.hpp"
#include "core/base/suggest.hpp"
#include "core/plugin/option_value.hpp"

namespace tessera::plugin {
namespace {

/// A name with its indices taken out: "device[1].memory" -> pattern "device[].memory", indices {1}.
struct split_name {
  std::string pattern;
  std::vector<std::uint64_t> indices;
};

split_name split(const std::string& name) {
  split_name result;
  for (std::size_t i = 0; i < name.size(); ++i) {
    result.pattern += name[i];
    if (name[i] != '[') continue;
    const std::size_t end = name.find(']', i);
    if (end == std::string::npos || end == i + 1 || end - i > 10 ||
        !std::all_of(name.begin() + static_cast<std::ptrdiff_t>(i) + 1, name.begin() + static_cast<std::ptrdiff_t>(end),
                     [](char c) { return c >= '0' && c <= '9'; }))
      continue;
    result.indices.push_back(std::stoull(name.substr(i + 1, end - i - 1)));
    i = end - 1;
  }
  return result;
}

/// The reverse: indices go into the pattern from the left; without enough of them the rest stays "[]".
std::string joined(const std::string& pattern, const std::vector<std::uint64_t>& indices) {
  std::string name;
  std::size_t next = 0;
  for (const char c : pattern) {
    name += c;
    if (c == '[' && next < indices.size()) name += std::to_string(indices[next++]);
  }
  return name;
}

/// The pattern of the innermost array that holds an option ("device[].link[]"), "" outside arrays.
std::string array_of(const std::string& pattern) {
  const auto end = pattern.rfind(']');
  return end == std::string::npos ? std::string{} : pattern.substr(0, end + 1);
}

/// Where each table of each array exists: pattern of the array -> indices of its tables.
using tables = std::map<std::string, std::set<std::vector<std::uint64_t>>>;

void note_tables(const split_name& name, tables& all) {
  std::size_t from = 0;
  for (std::size_t depth = 1; depth <= name.indices.size(); ++depth) {
    from = name.pattern.find(']', from);
    if (from == std::string::npos) return;
    ++from;
    all[name.pattern.substr(0, from)].insert(
        {name.indices.begin(), name.indices.begin() + static_cast<std::ptrdiff_t>(depth)});
  }
}

[[noreturn]] void fail_unknown(const std::string& plugin, const std::vector<option_schema>& schema,
                               const raw_option& value, const split_name& name) {
  std::vector<std::string> known;
  for (const option_schema& option : schema) known.push_back(option.name);
  std::string near = suggest(name.pattern, known);
  if (near.empty()) {  // perhaps right but for the table it stands in
    std::vector<std::string> last;
    for (const std::string& one : known) last.push_back(one.substr(one.rfind('.') + 1));
    const std::string tail = suggest(name.pattern.substr(name.pattern.rfind('.') + 1), last);
    if (!tail.empty()) near = known[static_cast<std::size_t>(std::find(last.begin(), last.end(), tail) - last.begin())];
  }
  throw error(error_kind::configuration, fmt::format("plugin \"{}\" has no option \"{}\"", plugin, value.name),
              value.where,
              near.empty() ? fmt::format("\"tessera plugins explain {}\" lists its options", plugin)
                           : fmt::format("did you mean \"{}\"?", joined(near, name.indices)));
}

}  // namespace

std::vector<std::pair<std::string, const option_schema*>> existing_options(const std::vector<option_schema>& schema,
                                                                           const std::vector<raw_option>& values) {
  tables existing;
  for (const raw_option& value : values) note_tables(split(value.name), existing);
  std::vector<std::pair<std::string, const option_schema*>> all;
  for (const option_schema& option : schema) {
    const std::string array = array_of(option.name);
    if (array.empty())
      all.emplace_back(option.name, &option);
    else if (const auto at = existing.find(array); at != existing.end())
      for (const auto& indices : at->second) all.emplace_back(joined(option.name, indices), &option);
  }
  return all;
}

std::vector<option_value> check_options(const std::string& plugin, const std::vector<option_schema>& schema,
                                        const std::vector<raw_option>& values) {
  std::map<std::string, const raw_option*> given;
  for (const raw_option& value : values) {
    const split_name name = split(value.name);
    const bool known = std::any_of(schema.begin(), schema.end(), [&](const auto& o) { return o.name == name.pattern; });
    const bool table = std::any_of(schema.begin(), schema.end(), [&](const option_schema& option) {
      return option.name.starts_with(name.pattern + ".") && name.pattern.ends_with("[]");
    });
    if (!known && !table) fail_unknown(plugin, schema, value, name);
    if (known) given[value.name] = &value;
  }

  std::vector<option_value> result;
  for (const auto& [name, option] : existing_options(schema, values)) {
    if (const auto at = given.find(name); at != given.end())
      result.push_back(check_value(plugin, *option, *at->second));
    else if (option->default_text && !option->name.ends_with("[]"))
      result.push_back(check_value(plugin, *option, {name, *option->default_text, "the plugin's own default"}));
  }
  return result;
}

}  // namespace tessera::plugin
