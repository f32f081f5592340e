#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "apps/cli/commands.hpp"

namespace tessera::cli {

void add_apps(command_table& to) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const command_table& one : to.commands) all.emplace_back(one.name, one.line);
  auto json = std::make_shared<std::string>();
  command_table& sub = to.add_command("apps", "List the applications, one line each");
  sub.add({{"--json", json.get(), "FILE", "write the list as JSON; - is standard output"}});
  sub.footer = "Example:\n  tessera apps";
  sub.run = [all = std::move(all), json] {
    auto rows = nlohmann::ordered_json::array();
    std::string text;
    for (const auto& [name, line] : all) {
      rows.push_back({{"name", name}, {"line", line}});
      text += fmt::format("{:<14} {}\n", name, line);
    }
    const auto all_json = [&] {
      return nlohmann::ordered_json{{"applications", rows}}.dump(2, ' ', false,
                                                                 nlohmann::ordered_json::error_handler_t::replace) +
             "\n";
    };
    apps::write_results({{*json, all_json}, {apps::unless_json(*json), [&] { return text; }}});
    return 0;
  };
}

}  // namespace tessera::cli
