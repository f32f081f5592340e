#include "apps/study/curve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

/// 1, 2 or 5 times a power of ten, so that `most` has between four and ten of it.
double round_step(double most) {
  const double power = std::pow(10.0, std::floor(std::log10(most / 4)));
  for (const double factor : {5.0, 2.0})
    if (most / (factor * power) >= 4) return factor * power;
  return power;
}

/// From figures to positions in the picture.
class scale {
 public:
  explicit scale(const curve& drawn) : m_first(drawn.points.front().at.x), m_last(drawn.points.back().at.x) {
    for (const auto* all : {&drawn.points, &drawn.others})
      for (const measured_point& p : *all) m_most = std::max(m_most, p.slowest());
    m_most = m_most > 0 ? m_most * 1.05 : 1;
  }
  double most() const { return m_most; }
  double x(double value) const {
    const double part = m_last > m_first ? (value - m_first) / (m_last - m_first) : 0.5;
    return left + part * (width - left - right);
  }
  double y(double seconds) const { return height - bottom - seconds / m_most * (height - top - bottom); }

 private:
  double m_first, m_last, m_most = 0;
};

std::string axes(const curve& drawn, const scale& at) {
  std::string out;
  const double step = round_step(at.most());
  for (double tick = 0; tick <= at.most(); tick += step)
    out += fmt::format(
        "<line class=\"grid\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
        "<text class=\"quiet\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
        left, width - right, at.y(tick), at.y(tick), left - 10, at.y(tick) + 4, tick == 0 ? "0" : format_seconds(tick));
  const std::size_t every = (drawn.points.size() + 11) / 12;
  for (std::size_t k = 0; k < drawn.points.size(); k += every)
    out += fmt::format("<text class=\"quiet\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:g}</text>\n",
                       at.x(drawn.points[k].at.x), height - bottom + 20, drawn.points[k].at.x);
  out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", (left + width - right) / 2,
                     height - 14, escaped(drawn.axis));
  return out;
}

/// Labels of lines that are close to each other are moved apart.
std::string comparisons(const curve& drawn, const scale& at) {
  std::vector<const measured_point*> lines;
  for (const measured_point& p : drawn.others) lines.push_back(&p);
  std::ranges::sort(lines, {}, [](const measured_point* p) { return -p->median(); });
  std::string out;
  double lowest = 0;
  for (const measured_point* p : lines) {
    const double y = at.y(p->median()), label = std::max(y + 4, lowest + 15);
    lowest = label;
    out += fmt::format(
        "<line class=\"other\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
        "<text class=\"quiet\" x=\"{:.1f}\" y=\"{:.1f}\">{} {}</text>\n",
        left, width - right, y, y, width - right + 8, label, escaped(p->at.label), format_seconds(p->median()));
  }
  return out;
}

std::string line(const curve& drawn, const scale& at) {
  std::string path, marks;
  for (const measured_point& p : drawn.points) {
    const double x = at.x(p.at.x), y = at.y(p.median());
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : " L", x, y);
    marks += fmt::format(
        "<line class=\"bar\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
        "<circle class=\"dot\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\"><title>{}: {}</title></circle>\n",
        x, x, at.y(p.slowest()), at.y(p.fastest()), x, y, escaped(p.at.label), format_seconds(p.median()));
  }
  const measured_point& best = drawn.best();
  return fmt::format(
      "<path class=\"curve\" d=\"{}\"/>\n{}<circle class=\"best\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"8\"/>\n", path, marks,
      at.x(best.at.x), at.y(best.median()));
}

std::string row(const measured_point& p, double best) {
  return fmt::format(
      "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{:.2f}</td>"
      "</tr>\n",
      escaped(p.at.label), format_seconds(p.median()), format_seconds(p.fastest()), format_seconds(p.slowest()),
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
      width, height, style, left, escaped(drawn.title), left, escaped(best.at.label), format_seconds(best.median()),
      axes(drawn, at), comparisons(drawn, at), line(drawn, at));
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
      escaped(drawn.title), to_svg(drawn), rows, escaped(command));
}

}  // namespace tessera::apps::study
