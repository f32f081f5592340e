// tessera config explain: each setting, its value, and where that came from.
#include <fmt/format.h>

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

void add_config(command_table& to) {
  auto options = std::make_shared<config_options>();
  command_table& sub = to.add_command("config", "Look at the configuration");
  sub.footer = "Example:\n  tessera config explain --config configs/sim_one.toml --changed";
  command_table& explain_command = sub.add_command("explain", "Print each setting, its value and where that came from");
  options->add_machine_options(explain_command);
  explain_command.add(
      {{"--workers", &options->workers, "N", "as for the commands that run tasks", {.range = between(0, 65535)}},
       {"--changed", &options->changed, "", "leave out settings that have their default"},
       {"--json", &options->json, "FILE", "write the settings as JSON; - is standard output, instead of the table"}});
  explain_command.footer =
      "Precedence: default < files, in order < environment (TESSERA_...) < --set < --workers.\n"
      "Example:\n  TESSERA_RUNTIME_WORKERS=2 tessera config explain --config configs/sim_one.toml --changed";
  explain_command.run = [options] { return explain(*options); };
}

}  // namespace tessera::cli
