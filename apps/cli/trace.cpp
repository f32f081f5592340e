// tessera trace: recorded runs as figures, as a graph, and two of them side by side.
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

void add_trace(command_table& to) {
  command_table& sub = to.add_command("trace", "Look at recorded runs");
  sub.footer = "Example:\n  tessera trace summary run.json";

  auto options = std::make_shared<trace_options>();
  command_table& summary_command =
      sub.add_command("summary", "Print the figures of a run, why its tasks waited, and what limits it");
  summary_command.add(
      {{"file", &options->file, "FILE", written_by_trace, {.required = true}},
       {"--json", &options->json, "FILE", "write the figures as JSON; - is standard output, instead of the text"},
       {"--report", &options->report, "FILE", "write the page that --report of a run writes"}});
  summary_command.footer =
      "docs/reading_a_report.md explains the figures.\n"
      "Example:\n  tessera cholesky --n 2000 --config configs/sim_two.toml --trace run.json && tessera trace summary "
      "run.json";
  summary_command.run = [options] { return summary(*options); };

  auto compared = std::make_shared<trace_options>();
  command_table& compare_command = sub.add_command("compare", "Print the figures of two runs side by side");
  compare_command.add(
      {{"first", &compared->file, "FILE", written_by_trace, {.required = true}},
       {"second", &compared->other, "FILE", written_by_trace, {.required = true}},
       {"--json", &compared->json, "FILE", "write the figures as JSON; - is standard output, instead of the text"}});
  compare_command.footer = "Example:\n  tessera trace compare before.json after.json";
  compare_command.run = [compared] { return compare(*compared); };

  auto drawn = std::make_shared<trace_options>();
  command_table& graph_command = sub.add_command("graph", "Write the graph of a run's tasks for Graphviz (DOT)");
  graph_command.add({{"file", &drawn->file, "FILE", written_by_trace, {.required = true}},
                     {"--dot", &drawn->report, "FILE", "write the graph there; - is standard output, the default"},
                     {"--json", &drawn->json, "FILE", "write it as JSON; - is standard output, instead of DOT"},
                     {"--tasks",
                      &drawn->tasks,
                      "N",
                      "at most so many tasks, the first that were submitted",
                      {.range = between(std::size_t{1}, std::size_t{1000000}), .shows_default = true}}});
  graph_command.footer = "Example:\n  tessera trace graph run.json --dot run.dot && dot -Tsvg run.dot -o run.svg";
  graph_command.run = [drawn] { return graph(*drawn); };
}

}  // namespace tessera::cli
