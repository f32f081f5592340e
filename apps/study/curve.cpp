#include "apps/study/curve.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/common/plot.hpp"
#include "core/base/units.hpp"

namespace tessera::apps::study {
namespace {

constexpr double width = 820, height = 420, left = 84, right = 150, top = 56, bottom = 60;

const char* const style = R"(<style>
  .study { --paper: #fbfbfa; --ink: #1d2126; --quiet: #5b636d; --grid: #e3e5e8; --line: #3b6fb6; --best: #d9822b; }
  @media (prefers-color-scheme: dark) {
    .study { --paper: #15181c; --ink: #e7e9ec; --quiet: #9ba4ae; --grid: #2d333a; --line: #6f9fe0; --best: #e59a4f; }
  }
  .study text { font: 13px system-ui, "Segoe UI", "Liberation Sans", "DejaVu Sans", sans-serif; fill: var(--ink); }
  .study .quiet { fill: var(--quiet); font-size: 12px; }
  .study .title { font-size: 16px; font-weight: 600; }
  .study .paper { fill: var(--paper); }
  .study .grid { stroke: var(--grid); }
  .study .curve { fill: none; stroke: var(--line); stroke-width: 2; }
  .study .bar { stroke: var(--line); stroke-width: 1.2; }
  .study .dot { fill: var(--line); }
  .study .best { fill: none; stroke: var(--best); stroke-width: 2.5; }
  .study .other { stroke: var(--quiet); stroke-dasharray: 6 4; }
</style>
)";

/// From figures to places in the picture.
struct scale {
  explicit scale(const curve& drawn)
      : x(drawn.points.front().at.x, drawn.points.back().at.x, left, width - right),
        y(0, most(drawn), height - bottom, top) {}
  plot_axis x, y;

 private:
  static double most(const curve& drawn) {
    double seconds = 0;
    for (const auto* all : {&drawn.points, &drawn.others})
      for (const measured_point& p : *all) seconds = std::max(seconds, p.slowest());
    return seconds > 0 ? seconds * 1.05 : 1;
  }
};

std::string axes(const curve& drawn, const scale& at) {
  std::string out;
  for (const double tick : at.y.marks())
    out += fmt::format(
        "<line class=\"grid\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
        "<text class=\"quiet\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
        left, width - right, at.y.place(tick), at.y.place(tick), left - 10, at.y.place(tick) + 4,
        tick == 0 ? "0" : format_seconds(tick));
  const std::size_t every = (drawn.points.size() + 11) / 12;
  for (std::size_t k = 0; k < drawn.points.size(); k += every)
    out += fmt::format("<text class=\"quiet\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:g}</text>\n",
                       at.x.place(drawn.points[k].at.x), height - bottom + 20, drawn.points[k].at.x);
  out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", (left + width - right) / 2,
                     height - 14, html_escaped(drawn.axis));
  return out;
}

std::string comparisons(const curve& drawn, const scale& at) {
  std::vector<double> lines, wanted;
  for (const measured_point& p : drawn.others) {
    lines.push_back(at.y.place(p.median()));
    wanted.push_back(lines.back() + 4);
  }
  const std::vector<double> labels = places_of_labels(wanted, 15);
  std::string out;
  for (std::size_t k = 0; k < lines.size(); ++k)
    out += fmt::format(
        "<line class=\"other\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
        "<text class=\"quiet\" x=\"{:.1f}\" y=\"{:.1f}\">{} {}</text>\n",
        left, width - right, lines[k], lines[k], width - right + 8, labels[k], html_escaped(drawn.others[k].at.label),
        format_seconds(drawn.others[k].median()));
  return out;
}

std::string line(const curve& drawn, const scale& at) {
  std::string path, marks;
  for (const measured_point& p : drawn.points) {
    const double x = at.x.place(p.at.x), y = at.y.place(p.median());
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : " L", x, y);
    marks += fmt::format(
        "<line class=\"bar\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
        "<circle class=\"dot\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"><title>{}: {}</title></circle>\n",
        x, x, at.y.place(p.slowest()), at.y.place(p.fastest()), x, y, html_escaped(p.at.label),
        format_seconds(p.median()));
  }
  const measured_point& best = drawn.best();
  return fmt::format(
      "<path class=\"curve\" d=\"{}\"/>\n{}<circle class=\"best\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"8\"/>\n", path, marks,
      at.x.place(best.at.x), at.y.place(best.median()));
}

std::string row(const measured_point& p, double best) {
  return fmt::format(
      "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{:.2f}</td>"
      "</tr>\n",
      html_escaped(p.at.label), format_seconds(p.median()), format_seconds(p.fastest()), format_seconds(p.slowest()),
      p.median() / best);
}

}  // namespace

double measured_point::median() const {
  std::vector<double> sorted = seconds;
  std::ranges::sort(sorted);
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 != 0 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

double measured_point::fastest() const { return *std::ranges::min_element(seconds); }
double measured_point::slowest() const { return *std::ranges::max_element(seconds); }

const measured_point& curve::best() const { return *std::ranges::min_element(points, {}, &measured_point::median); }

std::string to_svg(const curve& drawn) {
  const scale at(drawn);
  const measured_point& best = drawn.best();
  return fmt::format(
      "<svg class=\"study\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\">\n{}"
      "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n"
      "<text class=\"title\" x=\"{:.0f}\" y=\"24\">{}</text>\n"
      "<text class=\"quiet\" x=\"{:.0f}\" y=\"42\">best: {}, {}</text>\n{}{}{}</svg>\n",
      width, height, style, left, html_escaped(drawn.title), left, html_escaped(best.at.label),
      format_seconds(best.median()), axes(drawn, at), comparisons(drawn, at), line(drawn, at));
}

std::string to_html(const curve& drawn, const std::string& command) {
  const double best = drawn.best().median();
  std::string rows;
  for (const auto* all : {&drawn.points, &drawn.others})
    for (const measured_point& p : *all) rows += row(p, best);
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n<style>\n"
      "  :root {{ color-scheme: light dark; }}\n"
      "  body {{ font: 15px/1.5 system-ui, \"Segoe UI\", \"Liberation Sans\", sans-serif; max-width: 900px; "
      "margin: 28px auto; padding: 0 24px; }}\n"
      "  svg {{ width: 100%; }} code {{ overflow-wrap: anywhere; }}\n"
      "  table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}\n"
      "  th, td {{ padding: 3px 18px 3px 0; text-align: left; }} .n {{ text-align: right; }}\n"
      "</style></head><body>\n{1}<table><thead><tr><th></th><th class=\"n\">median</th><th class=\"n\">fastest</th>"
      "<th class=\"n\">slowest</th><th class=\"n\">of the best</th></tr></thead><tbody>\n{2}</tbody></table>\n"
      "<p>Made by <code>{3}</code></p>\n</body></html>\n",
      html_escaped(drawn.title), to_svg(drawn), rows, html_escaped(command));
}

}  // namespace tessera::apps::study
