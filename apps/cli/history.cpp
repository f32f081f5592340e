// tessera history: what placement has learnt about this machine.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/cli/commands.hpp"
#include "apps/common/report.hpp"
#include "apps/common/session.hpp"
#include "core/runtime/learnt_rates.hpp"
#include "core/runtime/learnt_times.hpp"
#include "hierarchy/machine/assemble.hpp"

namespace tessera::cli {
namespace {

struct history_options : apps::command_options {
  bool clear = false;
};

using learnt_rates = std::vector<learnt_rate>;

std::string to_text(const learnt_rates& rates) {
  if (rates.empty()) return {};
  std::string text =
      fmt::format("\n{:<24} {:<20} {:>18} {:>16}\n", "region", "location", "iterations/s", "fixed seconds");
  for (const learnt_rate& r : rates)
    text += fmt::format("{:<24} {:<20} {:>18.4g} {:>16.4g}\n", r.region, r.location, r.iterations_per_second,
                        r.fixed_seconds);
  return text;
}

std::string to_json_text(const learnt_times& learnt, const learnt_rates& rates) {
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
  auto regions = nlohmann::ordered_json::array();
  for (const learnt_rate& r : rates)
    regions.push_back({{"region", r.region},
                       {"location", r.location},
                       {"iterations_per_second", r.iterations_per_second},
                       {"fixed_seconds", r.fixed_seconds}});
  all["regions"] = std::move(regions);
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
  const learnt_rates rates = read_learnt_rates(m);
  const std::string nothing = learnt.sizes.empty() && rates.empty()
                                  ? "nothing has been learnt yet: run with runtime.placement = \"cost\", or loops with "
                                    "the policy auto\n"
                                  : "";
  if (o.json != "-") apps::write_text("-", tessera::to_text(learnt) + to_text(rates) + nothing);
  if (!o.json.empty()) apps::write_text(o.json, to_json_text(learnt, rates));
  return 0;
}

}  // namespace

void add_history(CLI::App& to, command& selected) {
  auto options = std::make_shared<history_options>();
  CLI::App& sub =
      *to.add_subcommand("history", "Show or clear the times that placement and loops have learnt on this machine");
  options->add_machine_options(sub);
  auto* json = sub.add_option("--json", options->json, "write it as JSON; - is standard output, instead of the tables")
                   ->type_name("FILE");
  sub.add_flag("--clear", options->clear, "forget the times; those of other machines in the same file stay")
      ->excludes(json);
  sub.footer(
      "Times of operations are learnt by runs with runtime.placement = \"cost\" or a policy plugin, rates of loops by "
      "runs with the policy auto.\nThey are kept where runtime.history says.\n"
      "The machine is recognised by its CPU and its devices, so give the --config of the run.\n"
      "Example:\n  tessera history --config configs/sim_two.toml");
  sub.callback([options, &selected] { selected = [options] { return run(*options); }; });
}

}  // namespace tessera::cli
