#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "apps/cli/commands.hpp"

namespace tessera::cli {

void add_apps(CLI::App& to, command& selected) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const CLI::App* sub : to.get_subcommands([](const CLI::App*) { return true; }))
    all.emplace_back(sub->get_name(), sub->get_description());
  auto json = std::make_shared<std::string>();
  CLI::App& sub = *to.add_subcommand("apps", "List the applications, one line each");
  sub.add_option("--json", *json, "write the list as JSON; - is standard output")->type_name("FILE");
  sub.footer("Example:\n  tessera apps");
  sub.callback([all = std::move(all), json, &selected] {
    selected = [all, json] {
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
  });
}

}  // namespace tessera::cli
