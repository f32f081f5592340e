// tessera history: what placement has learnt about this machine.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
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
  std::string name;     ///< in the names of operations and regions; "": all
  std::size_t top = 0;  ///< lines of a table; 0: all
};

using learnt_rates = std::vector<learnt_rate>;

/// Takes out what --name does not mean, and what stands behind the first lines of each table (--top).
void select(learnt_times& learnt, learnt_rates& rates, const history_options& o) {
  const auto is_other = [&](const std::string& name) { return name.find(o.name) == name.npos; };
  std::erase_if(learnt.sizes, [&](const placement::history_cell& c) { return is_other(c.operation); });
  std::erase_if(learnt.crossovers, [&](const placement::crossover& c) { return is_other(c.operation); });
  std::erase_if(rates, [&](const learnt_rate& r) { return is_other(r.region); });
  if (o.top == 0) return;
  if (learnt.sizes.size() > o.top) {  // the longest, in their order
    std::vector<double> times;
    for (const placement::history_cell& c : learnt.sizes) times.push_back(c.seconds());
    std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(o.top), std::greater());
    const double longest_out = times[o.top];
    std::erase_if(learnt.sizes, [&](const placement::history_cell& c) { return c.seconds() <= longest_out; });
  }
  learnt.crossovers.resize(std::min(learnt.crossovers.size(), o.top));
  std::map<std::string, std::size_t> lines;
  std::erase_if(rates, [&](const learnt_rate& r) { return ++lines[r.program] > o.top; });
}

/// A table for each program.
std::string to_text(const learnt_rates& rates) {
  std::string text, program;
  for (const learnt_rate& r : rates) {
    if (text.empty() || r.program != program)
      text += fmt::format("\nregions of {}\n{:<24} {:<20} {:>18} {:>16}\n", r.program, "region", "location",
                          "iterations/s", "fixed seconds");
    program = r.program;
    text += fmt::format("{:<24} {:<20} {:>18.4g} {:>16.4g}\n", r.region, r.location, r.iterations_per_second,
                        r.fixed_seconds);
  }
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
    regions.push_back({{"program", r.program},
                       {"region", r.region},
                       {"location", r.location},
                       {"iterations_per_second", r.iterations_per_second},
                       {"fixed_seconds", r.fixed_seconds}});
  all["regions"] = std::move(regions);
  return all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

int run(const history_options& o) {
  const machine m = hierarchy::assemble(o.load(), apps::log_to_stderr(o.quiet));
  if (o.clear) {
    const bool any = clear_learnt_times(m);
    fmt::print("{}\n",
               any ? "what was learnt about this machine is forgotten" : "nothing had been learnt about this machine");
    return 0;
  }
  learnt_times learnt = read_learnt_times(m);
  learnt_rates rates = read_learnt_rates(m);
  const bool any = !learnt.sizes.empty() || !rates.empty();
  select(learnt, rates, o);
  const std::string nothing =
      !any ? "nothing has been learnt yet: run with runtime.placement = \"cost\", or loops with the policy auto\n"
      : learnt.sizes.empty() && rates.empty() ? fmt::format("nothing learnt has '{}' in its name\n", o.name)
                                              : "";
  apps::write_results(
      {{o.json, [&] { return to_json_text(learnt, rates); }},
       {apps::unless_json(o.json), [&] { return tessera::to_text(learnt) + to_text(rates) + nothing; }}});
  return 0;
}

}  // namespace

void add_history(command_table& to) {
  auto options = std::make_shared<history_options>();
  command_table& sub =
      to.add_command("history", "Show or clear the times that placement and loops have learnt on this machine");
  options->add_machine_options(sub);
  sub.add({{"--json", &options->json, "FILE", "write it as JSON; - is standard output, instead of the tables"},
           {"--name", &options->name, "TEXT", "only operations and regions with this in their names"},
           {"--top",
            &options->top,
            "N",
            "of operations the N sizes that take longest, of each program the N regions "
            "that were measured last",
            {.range = between(1, 1000000)}},
           {"--clear",
            &options->clear,
            "",
            "forget the times; those of other machines in the same file stay",
            {.excludes = {"--json", "--name", "--top"}}}});
  sub.footer =
      "Times of operations are learnt by runs with runtime.placement = \"cost\" or \"plugin:NAME\", rates of loops by "
      "runs with the policy auto.\nThey are kept where runtime.history says.\n"
      "The machine is recognised by its CPU and its devices, so give the --config of the run.\n"
      "Examples:\n  tessera history --config configs/sim_two.toml\n  tessera history --name gemm --top 20";
  sub.run = [options] { return run(*options); };
}

}  // namespace tessera::cli
