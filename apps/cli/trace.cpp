// tessera trace summary: the figures of a recorded run.
#include "core/trace/summary.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <sstream>

#include "apps/cli/commands.hpp"
#include "core/trace/chrome.hpp"
#include "core/trace/report.hpp"

namespace tessera::cli {
namespace {

struct trace_options {
  std::string file, json, report;
};

int summary(const trace_options& o) {
  if (!o.json.empty()) apps::require_writable(o.json);
  if (!o.report.empty()) apps::require_writable(o.report);
  const trace::timeline recorded = trace::read_chrome(o.file);
  const trace::summary figures = trace::summarize(recorded);
  if (o.json != "-") apps::write_text("-", trace::to_text(recorded, figures));
  if (!o.json.empty()) apps::write_text(o.json, trace::to_json(recorded, figures));
  if (!o.report.empty()) {
    std::ostringstream page;
    trace::write_report(page, recorded, figures);
    apps::write_text(o.report, page.str());
  }
  return 0;
}

}  // namespace

void add_trace(CLI::App& to, command& selected) {
  auto options = std::make_shared<trace_options>();
  CLI::App& sub = *to.add_subcommand("trace", "Look at recorded runs");
  sub.require_subcommand(1);
  sub.footer("Example:\n  tessera trace summary run.json");
  CLI::App& summary_command =
      *sub.add_subcommand("summary", "Print the figures of a run, why its tasks waited, and what limits it");
  summary_command.add_option("file", options->file, "a file that --trace has written")->type_name("FILE")->required();
  summary_command
      .add_option("--json", options->json, "write the figures as JSON; - is standard output, instead of the text")
      ->type_name("FILE");
  summary_command.add_option("--report", options->report, "write the page that --report of a run writes")
      ->type_name("FILE");
  summary_command.footer(
      "docs/reading_a_report.md explains the figures.\n"
      "Example:\n  tessera cholesky --n 2000 --config configs/sim_two.toml --trace run.json && tessera trace summary "
      "run.json");
  summary_command.callback([options, &selected] { selected = [options] { return summary(*options); }; });
}

}  // namespace tessera::cli
