#include "apps/study/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/common/region_options.hpp"
#include "apps/study/application_run.hpp"
#include "apps/study/curve.hpp"
#include "core/base/error.hpp"
#include "core/base/units.hpp"
#include "libraries/progress/progress.hpp"

namespace tessera::apps {
namespace {

struct study_options {
  std::string application;
  std::vector<std::string> arguments;  // of the application
  int repeat = 5;
  std::vector<std::string> compare;
  std::string json, svg, html;
  bool quiet = false;
  study::share_range range;    // percentage
  std::string leaf;            // likewise; "": the last
  std::string by = "workers";  // scaling

  /// The command line of the application at a point.
  std::vector<std::string> command_of(const study::point& p) const {
    std::vector<std::string> words{application};
    words.insert(words.end(), arguments.begin(), arguments.end());
    words.insert(words.end(), p.arguments.begin(), p.arguments.end());
    return words;
  }
};

/// The command line that makes the study again, but for where its results go.
std::string command_line(const study_options& o, const char* kind) {
  const study_options usual;
  std::string text = fmt::format("tessera study {} --app {}", kind, o.application);
  const auto add = [&text](const char* option, const auto& value, const auto& otherwise) {
    if (value != otherwise) text += fmt::format(" {} {}", option, value);
  };
  add("--leaf", o.leaf, usual.leaf);
  add("--from", o.range.from, usual.range.from);
  add("--to", o.range.to, usual.range.to);
  add("--step", o.range.step, usual.range.step);
  add("--by", o.by, usual.by);
  add("--repeat", o.repeat, usual.repeat);
  if (!o.compare.empty()) text += fmt::format(" --compare {}", fmt::join(o.compare, ","));
  return o.arguments.empty() ? text : fmt::format("{} -- {}", text, fmt::join(o.arguments, " "));
}

/// How far the study is, for the line that shows it.
class study_progress {
 public:
  study_progress(std::size_t runs, bool quiet)
      : m_runs(runs),
        m_shown([this](double seconds) { return line(seconds); },
                {.where = quiet ? progress_where::nowhere : progress_where::terminals}) {}
  void next(const std::string& label) {
    const std::lock_guard guard(m_mutex);
    m_label = label;
    ++m_begun;
  }

 private:
  std::string line(double seconds) {
    const std::lock_guard guard(m_mutex);
    if (m_begun < 2) return {};
    const auto done = static_cast<double>(m_begun - 1);
    return fmt::format("study: run {} of {} ({}), about {} left", m_begun, m_runs, m_label,
                       duration_text(seconds / done * (static_cast<double>(m_runs) - done)));
  }

  const std::size_t m_runs;
  std::size_t m_begun = 0;
  std::string m_label;
  std::mutex m_mutex;
  progress m_shown;
};

/// Every round runs every point once, so that a drift of the machine's speed touches all alike.
void measure(const study::application_runner& runner, const study_options& o, study::curve& of) {
  study_progress shown((of.points.size() + of.others.size()) * static_cast<std::size_t>(o.repeat), o.quiet);
  for (int round = 0; round < o.repeat; ++round)
    for (auto* all : {&of.points, &of.others})
      for (study::measured_point& p : *all) {
        shown.next(p.at.label);
        p.seconds.push_back(runner.run(o.command_of(p.at)).seconds);
      }
}

nlohmann::ordered_json to_json(const std::vector<study::measured_point>& points) {
  auto rows = nlohmann::ordered_json::array();
  for (const study::measured_point& p : points)
    rows.push_back({{"label", p.at.label},
                    {"x", p.at.x},
                    {"median_seconds", p.median()},
                    {"fastest_seconds", p.fastest()},
                    {"slowest_seconds", p.slowest()},
                    {"seconds", p.seconds}});
  return rows;
}

std::string to_text(const study::curve& of) {
  std::string text = of.title + "\n";
  const double best = of.best().median();
  for (const auto* all : {&of.points, &of.others})
    for (const study::measured_point& p : *all)
      text += fmt::format("  {:<20} {:>10}   {:>10} to {:<10} {:5.2f} of the best{}\n", p.at.label,
                          format_seconds(p.median()), format_seconds(p.fastest()), format_seconds(p.slowest()),
                          p.median() / best, &p == &of.best() ? "  <" : "");
  return text;
}

void write(const study_options& o, const study::curve& of, const std::string& command) {
  const nlohmann::ordered_json all{{"command", "study"},
                                   {"application", o.application},
                                   {"arguments", o.arguments},
                                   {"title", of.title},
                                   {"axis", of.axis},
                                   {"repeat", o.repeat},
                                   {"best", of.best().at.label},
                                   {"points", to_json(of.points)},
                                   {"policies", to_json(of.others)}};
  write_results(
      {{o.svg, [&] { return study::to_svg(of); }},
       {o.html, [&] { return study::to_html(of, command); }},
       {o.json, [&] { return all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n"; }},
       {o.quiet ? "" : unless_json(o.json), [&] { return to_text(of); }}});
}

/// Measures and writes. `plan` makes the points, given the leaves of the application's loops, and names the curve.
int run(const study_options& o, const char* kind,
        const std::function<std::vector<study::point>(const std::vector<std::string>& leaves, study::curve&)>& plan) {
  for (const std::string& file : {o.json, o.svg, o.html})
    if (!file.empty()) require_writable(file);
  const study::application_runner runner("/proc/self/exe");
  // The first run tells of mistakes in the arguments, and which leaves the loops have; it fills caches and is not
  // counted.
  const std::vector<std::string> leaves = runner.run(o.command_of(study::policy("flatten"))).leaves;
  study::curve measured;
  for (study::point& p : plan(leaves, measured)) measured.points.push_back({std::move(p), {}});
  for (const std::string& name : study::policies_of(o.compare)) measured.others.push_back({study::policy(name), {}});
  measure(runner, o, measured);
  write(o, measured, command_line(o, kind));
  return 0;
}

/// The position of the leaf whose share is varied.
std::size_t varied_leaf(const study_options& o, const std::vector<std::string>& leaves) {
  if (o.leaf.empty()) return leaves.empty() ? 0 : leaves.size() - 1;
  const auto found = std::ranges::find(leaves, o.leaf);
  if (found == leaves.end())
    throw error(error_kind::usage, fmt::format("the loops have no leaf '{}'", o.leaf), "study percentage",
                fmt::format("their leaves are {}", fmt::join(leaves, ", ")));
  return static_cast<std::size_t>(found - leaves.begin());
}

int run_percentage(const study_options& o) {
  return run(o, "percentage", [&](std::vector<std::string> leaves, study::curve& drawn) {
    const std::size_t varied = varied_leaf(o, leaves);
    std::vector<study::point> points = study::shares_of_leaf(varied, leaves.size(), o.range);
    const std::string name = leaves[varied];
    leaves.erase(leaves.begin() + static_cast<std::ptrdiff_t>(varied));
    drawn.title = fmt::format("{}: time over the share of {}", o.application, name);
    drawn.axis = fmt::format("percent of the iterations on {}; the rest on {}", name, fmt::join(leaves, ", "));
    return points;
  });
}

int run_scaling(const study_options& o) {
  return run(o, "scaling", [&](const std::vector<std::string>& leaves, study::curve& drawn) {
    drawn.title = fmt::format("{}: time over the number of {}", o.application, o.by);
    drawn.axis = o.by == "workers" ? "workers of the host" : fmt::format("leaves of {}", fmt::join(leaves, ", "));
    return o.by == "workers" ? study::numbers_of_workers(std::max(1u, std::thread::hardware_concurrency()))
                             : study::numbers_of_leaves(leaves.size());
  });
}

void add_common(command_table& sub, study_options& o) {
  sub.add({{"--app", &o.application, "NAME", "the application; `tessera apps` lists them", {.required = true}},
           {"--repeat",
            &o.repeat,
            "N",
            "runs of each point; the table has their medians",
            {.range = between(1, 1000), .shows_default = true}},
           {"--compare",
            &o.compare,
            "POLICY,...",
            "policies to run as well, e.g. static,auto",
            {.one_each = true, .by_commas = true}},
           {"--json", &o.json, "FILE", "write all figures as JSON; - is standard output"},
           {"--svg", &o.svg, "FILE", "draw the curve"},
           {"--html", &o.html, "FILE", "write a page with the curve and its table"},
           {"--quiet", &o.quiet, "", "print no progress and no table (errors are still printed)"},
           {"arguments", &o.arguments, "ARGUMENT", "after --: further arguments of the application"}});
}

}  // namespace

void add_study(command_table& to) {
  command_table& sub = to.add_command("study", "Run an application with many settings and draw its times");
  sub.footer =
      "Example:\n  tessera study percentage --app pathfinder --html study.html -- --config configs/opencl.toml";

  auto shares = std::make_shared<study_options>();
  command_table& percentage =
      sub.add_command("percentage", "The time over the share of the iterations that a leaf gets");
  add_common(percentage, *shares);
  percentage.add(
      {{"--from", &shares->range.from, "", "its least share, in percent", {.shows_default = true}},
       {"--to", &shares->range.to, "", "its largest share", {.shows_default = true}},
       {"--step", &shares->range.step, "", "from one share to the next", {.shows_default = true}},
       {"--leaf", &shares->leaf, "NAME", "the leaf; by default the last, which is a device where there is one"}});
  percentage.footer =
      "Example:\n  tessera study percentage --app pathfinder --step 5 --compare static,auto --html study.html -- "
      "--config configs/opencl.toml\nEvery run is a process of its own; --policy is the study's.";
  percentage.check = [shares, &to] { require_region_application(to, shares->application); };
  percentage.run = [shares] { return run_percentage(*shares); };

  auto scale = std::make_shared<study_options>();
  command_table& scaling = sub.add_command("scaling", "The time over the number of workers, or of leaves");
  add_common(scaling, *scale);
  scaling.add({{"--by",
                &scale->by,
                "",
                "what grows: workers of the host, or leaves of the loops",
                {.choices = {"workers", "leaves"}, .shows_default = true}}});
  scaling.footer = "Example:\n  tessera study scaling --app hotspot --svg scaling.svg -- --size 1024 --rounds 100";
  scaling.check = [scale, &to] { require_region_application(to, scale->application); };
  scaling.run = [scale] { return run_scaling(*scale); };
}

}  // namespace tessera::apps
