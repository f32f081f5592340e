#include "apps/cli/plugin_layouts.hpp"

#include <fmt/format.h>
#include <tessera/plugin.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "core/plugin/layouts.hpp"

namespace tessera::cli {

std::string layouts_text() {
  std::string text = fmt::format("ABI {}.{}, {}-bit pointers\n", TSR_ABI_MAJOR, TSR_ABI_MINOR, 8 * sizeof(void*));
  const auto to = std::back_inserter(text);
  const auto since = [](std::uint32_t minor) {
    return minor == 0 ? std::string() : fmt::format("  since {}.{}", TSR_ABI_MAJOR, minor);
  };
  for (const plugin::struct_layout& s : plugin::struct_layouts()) {
    fmt::format_to(to, "{}: {} bytes, aligned to {}{}\n", s.name, s.bytes, s.alignment, since(s.since));
    for (const plugin::field_layout& f : s.fields)
      fmt::format_to(to, "  {:>6} {:>6}  {}: {}{}\n", f.offset, f.bytes, f.name, f.type,
                     s.since == f.since ? "" : since(f.since));
  }
  for (const plugin::constant_value& c : plugin::constant_values())
    fmt::format_to(to, "{} = {}{}\n", c.name, c.value, since(c.since));
  return text;
}

std::string layouts_json() {
  const auto version = [](std::uint32_t minor) { return fmt::format("{}.{}", TSR_ABI_MAJOR, minor); };
  nlohmann::ordered_json structs = nlohmann::ordered_json::array(), constants = nlohmann::ordered_json::array();
  for (const plugin::struct_layout& s : plugin::struct_layouts()) {
    nlohmann::ordered_json fields = nlohmann::ordered_json::array();
    for (const plugin::field_layout& f : s.fields)
      fields.push_back(
          {{"name", f.name}, {"type", f.type}, {"offset", f.offset}, {"bytes", f.bytes}, {"since", version(f.since)}});
    structs.push_back({{"name", s.name},
                       {"bytes", s.bytes},
                       {"alignment", s.alignment},
                       {"since", version(s.since)},
                       {"fields", std::move(fields)}});
  }
  for (const plugin::constant_value& c : plugin::constant_values())
    constants.push_back({{"name", c.name}, {"value", c.value}, {"since", version(c.since)}});
  return nlohmann::ordered_json{{"abi", version(TSR_ABI_MINOR)},
                                {"pointer_bytes", sizeof(void*)},
                                {"structs", std::move(structs)},
                                {"constants", std::move(constants)}}
             .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

}  // namespace tessera::cli
