// tessera config explain: each setting, its value, and where that came from.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "apps/cli/commands.hpp"
#include "hierarchy/machine/explain.hpp"

namespace tessera::cli {
namespace {

struct config_options : apps::command_options {
  bool changed = false;
};

int explain(const config_options& o) {
  std::vector<std::string> notes;
  std::vector<config::explained> lines = hierarchy::explain(o.load(), notes);
  for (const std::string& note : notes) fmt::print(stderr, "note: {}\n", note);
  if (o.changed) std::erase_if(lines, [](const config::explained& line) { return line.is_default; });
  apps::write_results({{o.json, [&] { return config::to_json(lines); }},
                       {apps::unless_json(o.json), [&] { return config::to_text(lines); }}});
  return 0;
}

}  // namespace

void add_config(CLI::App& to, command& selected) {
  auto options = std::make_shared<config_options>();
  CLI::App& sub = *to.add_subcommand("config", "Look at the configuration");
  sub.require_subcommand(1);
  sub.footer("Example:\n  tessera config explain --config configs/sim_one.toml --changed");
  CLI::App& explain_command = *sub.add_subcommand("explain", "Print each setting, its value and where that came from");
  options->add_machine_options(explain_command);
  explain_command.add_option("--workers", options->workers, "as for the commands that run tasks")
      ->type_name("N")
      ->check(CLI::Range(0, 65535));
  explain_command.add_flag("--changed", options->changed, "leave out settings that have their default");
  explain_command
      .add_option("--json", options->json, "write the settings as JSON; - is standard output, instead of the table")
      ->type_name("FILE");
  explain_command.footer(
      "Precedence: default < files, in order < environment (TESSERA_...) < --set < --workers.\n"
      "Example:\n  TESSERA_RUNTIME_WORKERS=2 tessera config explain --config configs/sim_one.toml --changed");
  explain_command.callback([options, &selected] { selected = [options] { return explain(*options); }; });
}

}  // namespace tessera::cli
