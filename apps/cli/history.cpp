// tessera history: what placement has learnt about this machine.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/cli/commands.hpp"
#include "apps/common/report.hpp"
#include "apps/common/session.hpp"
#include "core/runtime/learnt_times.hpp"
#include "hierarchy/machine/assemble.hpp"

namespace tessera::cli {
namespace {

struct history_options : apps::command_options {
  bool clear = false;
};

std::string to_json_text(const learnt_times& learnt) {
  nlohmann::ordered_json all;
  all["file"] = learnt.file;
  all["machine"] = learnt.machine;
  all["refused"] = learnt.refused;
  auto sizes = nlohmann::ordered_json::array();
  for (const placement::history_cell& c : learnt.sizes)
    sizes.push_back({{"operation", c.operation},
                     {"type", name_of(c.type)},
                     {"place", c.place},
                     {"unit", c.counts_operations ? "operations" : "bytes"},
                     {"amount", c.amount},
                     {"block_bytes", c.block_bytes},
                     {"seconds", c.seconds()},
                     {"measured", c.samples.size()}});
  all["sizes"] = std::move(sizes);
  all["crossovers"] = apps::crossovers_json(learnt.crossovers);
  return all.dump(2) + "\n";
}

int run(const history_options& o) {
  const machine m = hierarchy::assemble(o.load(), apps::log_to_stderr(o.quiet));
  if (o.clear) {
    const bool any = clear_learnt_times(m);
    fmt::print("{}\n",
               any ? "what was learnt about this machine is forgotten" : "nothing had been learnt about this machine");
    return 0;
  }
  const learnt_times learnt = read_learnt_times(m);
  if (o.json != "-") apps::write_text("-", to_text(learnt));
  if (!o.json.empty()) apps::write_text(o.json, to_json_text(learnt));
  return 0;
}

}  // namespace

void add_history(CLI::App& to, command& selected) {
  auto options = std::make_shared<history_options>();
  CLI::App& sub = *to.add_subcommand("history", "Show or clear the times that placement has learnt on this machine");
  options->add_machine_options(sub);
  auto* json = sub.add_option("--json", options->json, "write it as JSON; - is standard output, instead of the tables")
                   ->type_name("FILE");
  sub.add_flag("--clear", options->clear, "forget the times; those of other machines in the same file stay")
      ->excludes(json);
  sub.footer(
      "Times are learnt by runs with runtime.placement = \"cost\" or a policy plugin, and kept where runtime.history "
      "says.\n"
      "The machine is recognised by its CPU and its devices, so give the --config of the run.\n"
      "Example:\n  tessera history --config configs/sim_two.toml");
  sub.callback([options, &selected] { selected = [options] { return run(*options); }; });
}

}  // namespace tessera::cli
