#include "apps/sparse/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/common/plot.hpp"
#include "apps/sparse/printed_value.hpp"
#include "core/base/units.hpp"

namespace tessera::apps {
namespace {

using namespace sparse;

/// What the loops of a run did, as rates.
struct speed {
  explicit speed(const loop_outcome& loop)
      : iterations(std::max(loop.iterations, 1)),
        seconds(loop.seconds),
        flops(loop.work.flops),
        bytes(loop.work.bytes) {}
  double iterations, seconds, flops, bytes;
  bool known() const { return seconds > 0 && flops > 0; }
  double gflops() const { return flops / seconds * 1e-9; }
  double gigabytes_per_second() const { return bytes / seconds * 1e-9; }
};

std::string beside_triad(const solver_run& run, const speed& s) {
  if (!run.triad) return {};
  return fmt::format(", {:.2f} of STREAM's triad ({:.2f} GB/s)", s.bytes / s.seconds / *run.triad, *run.triad * 1e-9);
}

std::string figure(const std::string& number, const std::string& what) {
  return fmt::format("<div><b>{}</b><span>{}</span></div>\n", html_escaped(number), html_escaped(what));
}

/// Colours go round, so that pairs that are beside each other look different.
plot_line line_of_pair(std::size_t pair, bool dashed = false) {
  return {
      .label = fmt::format("lambda {}", pair + 1), .points = {}, .colour = static_cast<int>(pair), .dashed = dashed};
}

std::vector<plot_line> lines_of(const solver_run& run, double pair_progress::*number) {
  std::vector<plot_line> lines;
  for (const solver_moment& m : run.moments)
    for (std::size_t pair = 0; pair < m.now.of_pairs.size(); ++pair) {
      if (pair == lines.size()) lines.push_back(line_of_pair(pair));
      lines[pair].points.emplace_back(m.now.iteration, m.now.of_pairs[pair].*number);
    }
  return lines;
}

std::string residual_plot(const solver_run& run) {
  line_plot drawn{.title = "Residuals", .x_name = run.step, .y_name = "||Ax - lambda x||"};
  drawn.y_scale = plot_axis::scale::logarithmic;
  drawn.lines = lines_of(run, &pair_progress::residual);
  for (plot_line& wanted : lines_of(run, &pair_progress::wanted)) {
    wanted.label.clear();
    wanted.dashed = true;
    drawn.lines.push_back(std::move(wanted));
  }
  return to_svg(drawn);
}

/// The first values are those of random vectors, far from everything: the picture is of the second half of the run.
std::string value_plot(const solver_run& run) {
  line_plot drawn{.title = "Eigenvalues", .x_name = run.step, .y_name = "Ritz values"};
  drawn.lines = lines_of(run, &pair_progress::value);
  double least = INFINITY, most = -INFINITY;
  for (std::size_t k = run.moments.size() / 2; k < run.moments.size(); ++k)
    for (const pair_progress& p : run.moments[k].now.of_pairs)
      if (std::isfinite(p.value)) least = std::min(least, p.value), most = std::max(most, p.value);
  const double room = most > least ? most - least : std::max(std::abs(most), 1e-300) * 1e-3;
  drawn.y_range = {least - room, most + room};
  return to_svg(drawn);
}

std::string table_of_pairs(const solver_run& run) {
  std::string rows;
  for (std::size_t k = 0; k < run.found.values.size(); ++k) {
    const eigenvalue& e = run.found.values[k];
    const printed_value text(e.value, e.error_bound);
    const std::string_view doubt = doubt_of(e);
    rows += fmt::format(
        "<tr><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{:.1e}</td>"
        "<td class=\"n\">{}</td><td>{}{}</td></tr>\n",
        k + 1, text.value, text.bound, e.residual, k < run.known.size() ? fmt::format("{:.17g}", run.known[k]) : "",
        !e.converged    ? "not converged"
        : e.at_rounding ? "to rounding"
                        : "converged",
        doubt.empty() ? std::string() : fmt::format(", {}", doubt));
  }
  const bool known = !run.known.empty();
  return fmt::format(
      "<div class=\"scroll\"><table><thead><tr><th class=\"n\"></th><th class=\"n\">eigenvalue</th>"
      "<th class=\"n\">error bound</th><th class=\"n\">residual</th><th class=\"n\">{}</th><th></th></tr></thead>"
      "<tbody>\n{}</tbody></table></div>\n",
      known ? "by formula" : "", rows);
}

std::string figures_of_graph(const solver_run& run) {
  const loop_outcome& loop = run.found.loop;
  const speed s(loop);
  std::string text = figure(std::to_string(run.matrix.rows), "rows") +
                     figure(std::to_string(run.matrix.nonzeros()), "nonzeros") +
                     figure(std::to_string(run.found.block), "vectors in a block");
  if (run.found.dense) return text;
  text += figure(std::to_string(run.found.panels), "panels of rows") +
          figure(std::to_string(loop.passes), "passes over the rows") +
          figure(std::to_string(loop.tasks), fmt::format("tasks per {}", run.step)) +
          figure(format_seconds(loop.build_seconds), "to record it and make its graph") +
          figure(std::to_string(loop.iterations), fmt::format("{}s", run.step)) +
          figure(format_seconds(loop.seconds), "in them");
  if (!s.known()) return text;
  text += figure(format_seconds(s.seconds / s.iterations), fmt::format("per {}", run.step)) +
          figure(fmt::format("{:.2f}", s.gflops()), "GFLOP/s") +
          figure(fmt::format("{:.2f}", s.gigabytes_per_second()), "GB/s, counted") +
          figure(format_bytes(s.bytes / s.iterations), fmt::format("counted per {}", run.step));
  if (run.triad) text += figure(fmt::format("{:.2f}", *run.triad * 1e-9), "GB/s of STREAM's triad");
  return text;
}

}  // namespace

void add_speed(report& to, const solver_run& run) {
  const speed s(run.found.loop);
  if (!s.known()) return;
  to.add("build_seconds", "graph",
         fmt::format("{} before the first iteration", format_seconds(run.found.loop.build_seconds)),
         run.found.loop.build_seconds);
  to.add("gflops", "GFLOP/s",
         fmt::format("{:.2f}  ({:.4g} million operations each)", s.gflops(), s.flops / s.iterations * 1e-6),
         s.gflops());
  to.add("gigabytes_per_second", "bandwidth",
         fmt::format("{:.2f} GB/s{}  ({} each: what a pass reads and writes, once)", s.gigabytes_per_second(),
                     beside_triad(run, s), format_bytes(s.bytes / s.iterations)),
         s.gigabytes_per_second());
  if (run.triad) to.note("triad_gigabytes_per_second", *run.triad * 1e-9);
  to.note("flops_per_iteration", s.flops / s.iterations);
  to.note("bytes_per_iteration", s.bytes / s.iterations);
}

void note_convergence(report& to, const solver_run& run) {
  auto rows = nlohmann::ordered_json::array();
  for (const solver_moment& m : run.moments) {
    auto values = nlohmann::ordered_json::array(), residuals = nlohmann::ordered_json::array();
    for (const pair_progress& p : m.now.of_pairs) values.push_back(p.value), residuals.push_back(p.residual);
    rows.push_back({{"iteration", m.now.iteration},
                    {"seconds", m.seconds},
                    {"converged", m.now.converged},
                    {"largest_residual", m.now.largest_residual},
                    {"values", std::move(values)},
                    {"residuals", std::move(residuals)}});
  }
  to.note("convergence", rows);
}

std::string page_sections(const solver_run& run) {
  std::string text = fmt::format(
      "<section>\n<h2>Eigenpairs</h2>\n<p class=\"quiet\">Within its bound of each value there is an eigenvalue of "
      "the matrix, rounding included. Orthogonality: largest |X'X - I| {:.1e}.</p>\n{}</section>\n",
      run.found.orthogonality, table_of_pairs(run));
  if (!run.moments.empty())
    text += fmt::format(
        "<section>\n<h2>Convergence</h2>\n<p class=\"quiet\">A line per pair; dashed, the residual that is small "
        "enough. Values: the end of the run, and what is near to it.</p>\n{}{}</section>\n",
        residual_plot(run), value_plot(run));
  return text +
         fmt::format(
             "<section>\n<h2>The task graph</h2>\n<p class=\"quiet\">One for all operations of a solver's step, "
             "recorded "
             "once and replayed. Counted bytes: for each pass over the rows the matrix and the vectors that it "
             "reads, once, and the vectors that it writes, once; operations on small matrices do not count.</p>\n"
             "<div class=\"figures\">\n{}</div>\n</section>\n",
             figures_of_graph(run));
}

}  // namespace tessera::apps
