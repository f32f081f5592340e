// tessera trace: recorded runs as figures, as a graph, and two of them side by side.
#include <CLI/CLI.hpp>
#include <memory>
#include <sstream>

#include "apps/cli/commands.hpp"
#include "core/trace/chrome.hpp"
#include "core/trace/compare.hpp"
#include "core/trace/dot.hpp"
#include "core/trace/report.hpp"
#include "core/trace/summary.hpp"

namespace tessera::cli {
namespace {

constexpr const char* written_by_trace = "a file that --trace has written";

struct trace_options {
  std::string file, other, json, report;
  std::size_t tasks = 2000;
};

int summary(const trace_options& o) {
  if (!o.json.empty()) apps::require_writable(o.json);
  if (!o.report.empty()) apps::require_writable(o.report);
  const trace::timeline recorded = trace::read_chrome(o.file);
  const trace::summary figures = trace::summarize(recorded);
  const auto page = [&] {
    std::ostringstream text;
    trace::write_report(text, recorded, figures);
    return std::move(text).str();
  };
  apps::write_results({{o.json, [&] { return trace::to_json(recorded, figures); }},
                       {o.report, page},
                       {apps::unless_json(o.json), [&] { return trace::to_text(recorded, figures); }}});
  return 0;
}

int compare(const trace_options& o) {
  if (!o.json.empty()) apps::require_writable(o.json);
  const trace::timeline first = trace::read_chrome(o.file), second = trace::read_chrome(o.other);
  const trace::summary of_first = trace::summarize(first), of_second = trace::summarize(second);
  const trace::compared_run a{o.file, first, of_first}, b{o.other, second, of_second};
  apps::write_results({{o.json, [&] { return trace::compare_json(a, b); }},
                       {apps::unless_json(o.json), [&] { return trace::compare_text(a, b); }}});
  return 0;
}

int graph(const trace_options& o) {
  const std::string to = o.report.empty() && o.json != "-" ? "-" : o.report;
  for (const std::string& file : {to, o.json})
    if (!file.empty()) apps::require_writable(file);
  const trace::timeline recorded = trace::read_chrome(o.file);
  const auto dot = [&] {
    std::ostringstream text;
    trace::write_dot(text, recorded, o.tasks);
    return std::move(text).str();
  };
  apps::write_results({{to, dot}, {o.json, [&] { return trace::graph_json(recorded, o.tasks); }}});
  return 0;
}

}  // namespace

void add_trace(CLI::App& to, command& selected) {
  CLI::App& sub = *to.add_subcommand("trace", "Look at recorded runs");
  sub.require_subcommand(1);
  sub.footer("Example:\n  tessera trace summary run.json");

  auto options = std::make_shared<trace_options>();
  CLI::App& summary_command =
      *sub.add_subcommand("summary", "Print the figures of a run, why its tasks waited, and what limits it");
  summary_command.add_option("file", options->file, written_by_trace)->type_name("FILE")->required();
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

  auto compared = std::make_shared<trace_options>();
  CLI::App& compare_command = *sub.add_subcommand("compare", "Print the figures of two runs side by side");
  compare_command.add_option("first", compared->file, written_by_trace)->type_name("FILE")->required();
  compare_command.add_option("second", compared->other, written_by_trace)->type_name("FILE")->required();
  compare_command
      .add_option("--json", compared->json, "write the figures as JSON; - is standard output, instead of the text")
      ->type_name("FILE");
  compare_command.footer("Example:\n  tessera trace compare before.json after.json");
  compare_command.callback([compared, &selected] { selected = [compared] { return compare(*compared); }; });

  auto drawn = std::make_shared<trace_options>();
  CLI::App& graph_command = *sub.add_subcommand("graph", "Write the graph of a run's tasks for Graphviz (DOT)");
  graph_command.add_option("file", drawn->file, written_by_trace)->type_name("FILE")->required();
  graph_command.add_option("--dot", drawn->report, "write the graph there; - is standard output, the default")
      ->type_name("FILE");
  graph_command.add_option("--json", drawn->json, "write it as JSON; - is standard output, instead of DOT")
      ->type_name("FILE");
  graph_command.add_option("--tasks", drawn->tasks, "at most so many tasks, the first that were submitted")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1000000}))
      ->capture_default_str();
  graph_command.footer("Example:\n  tessera trace graph run.json --dot run.dot && dot -Tsvg run.dot -o run.svg");
  graph_command.callback([drawn, &selected] { selected = [drawn] { return graph(*drawn); }; });
}

}  // namespace tessera::cli
