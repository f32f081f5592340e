#include "apps/common/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace tessera::apps {
namespace {

constexpr double width = 900, height = 340, left = 84, right = 130, top = 40, bottom = 52;
constexpr std::size_t max_labels = 12;
constexpr int colours = 8;

const char* const style = R"(<style>
  .plot { --paper: #fbfbfa; --ink: #1d2126; --quiet: #5b636d; --grid: #e3e5e8; --c0: #3b6fb6; --c1: #d9822b;
    --c2: #3f9b63; --c3: #b94a5c; --c4: #7d62b5; --c5: #8d6e52; --c6: #c76aa8; --c7: #2fa3b0; }
  @media (prefers-color-scheme: dark) {
    .plot { --paper: #15181c; --ink: #e7e9ec; --quiet: #9ba4ae; --grid: #2d333a; --c0: #6f9fe0; --c1: #e59a4f;
      --c2: #62b985; --c3: #df7786; --c4: #a48ddb; --c5: #b8977a; --c6: #e08fc4; --c7: #56c2cf; }
  }
  .plot text { font: 12px system-ui, "Segoe UI", "Liberation Sans", "DejaVu Sans", sans-serif; fill: var(--quiet); }
  .plot .title { font-size: 15px; font-weight: 600; fill: var(--ink); }
  .plot .grid { stroke: var(--grid); }
  .plot path { fill: none; stroke-width: 1.6; }
  .plot .dashed { stroke-dasharray: 5 4; stroke-width: 1; }
</style>
)";

/// 1, 2 or 5 times a power of ten, so that `length` has between four and ten of it.
double round_step(double length) {
  const double power = std::pow(10.0, std::floor(std::log10(length / 4)));
  for (const double factor : {5.0, 2.0})
    if (length / (factor * power) >= 4) return factor * power;
  return power;
}

std::string text_of(double mark, plot_axis::scale how) {
  const bool power = how == plot_axis::scale::logarithmic && (mark < 1e-3 || mark > 1e4);
  return power ? fmt::format("1e{:.0f}", std::log10(mark)) : fmt::format("{:.10g}", mark);
}

bool drawable(const line_plot& of, double y) {
  if (!std::isfinite(y) || (of.y_scale == plot_axis::scale::logarithmic && y <= 0)) return false;
  return !of.y_range || (y >= of.y_range->first && y <= of.y_range->second);
}

struct span_of_numbers {
  double least = std::numeric_limits<double>::infinity(), most = -std::numeric_limits<double>::infinity();
  void note(double number) { least = std::min(least, number), most = std::max(most, number); }
  bool empty() const { return least > most; }
};

class picture {
 public:
  explicit picture(const line_plot& drawn) : m_drawn(drawn), m_x(axis_of_x()), m_y(axis_of_y()) {}

  std::string text() const {
    return fmt::format(
        "<svg class=\"plot\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" "
        "aria-label=\"{}\">\n{}<text class=\"title\" x=\"{:.0f}\" y=\"20\">{}</text>\n{}{}{}</svg>\n",
        width, height, html_escaped(m_drawn.title), style, left, html_escaped(m_drawn.title), axes(), lines(),
        labels());
  }

 private:
  plot_axis axis_of_x() const {
    span_of_numbers all;
    for (const plot_line& l : m_drawn.lines)
      for (const auto& [x, y] : l.points) all.note(x);
    if (all.empty()) all = {0, 1};
    return {all.least, all.most, left, width - right};
  }
  plot_axis axis_of_y() const {
    const bool logarithmic = m_drawn.y_scale == plot_axis::scale::logarithmic;
    span_of_numbers all;
    for (const plot_line& l : m_drawn.lines)
      for (const auto& [x, y] : l.points)
        if (drawable(m_drawn, y)) all.note(y);
    if (all.empty()) all = {1, 2};
    const double room = logarithmic ? 1.3 : 0.05 * (all.most - all.least);
    return {logarithmic ? all.least / room : all.least - room, logarithmic ? all.most * room : all.most + room,
            height - bottom, top, m_drawn.y_scale};
  }

  std::string axes() const {
    std::string out;
    for (const double mark : m_y.marks())
      out += fmt::format(
          "<line class=\"grid\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
          "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
          left, width - right, m_y.place(mark), m_y.place(mark), left - 8, m_y.place(mark) + 4,
          text_of(mark, m_drawn.y_scale));
    for (const double mark : m_x.marks())
      out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{:.10g}</text>\n", m_x.place(mark),
                         height - bottom + 18, mark);
    return out + fmt::format(
                     "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n"
                     "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
                     (left + width - right) / 2, height - 14, html_escaped(m_drawn.x_name), width - right, top - 20,
                     html_escaped(m_drawn.y_name));
  }

  std::string lines() const {
    std::string out;
    for (const plot_line& l : m_drawn.lines) {
      std::string path;
      bool joined = false;
      for (const auto& [x, y] : l.points) {
        if (drawable(m_drawn, y))
          path += fmt::format("{}{:.1f} {:.1f}", joined ? " L" : " M", m_x.place(x), m_y.place(y));
        joined = drawable(m_drawn, y);
      }
      if (!path.empty())
        out +=
            fmt::format("<path{} style=\"stroke: var(--c{})\" d=\"{}\"><title>{}</title></path>\n",
                        l.dashed ? " class=\"dashed\"" : "", l.colour % colours, path.substr(1), html_escaped(l.label));
    }
    return out;
  }

  std::string labels() const {
    std::vector<const plot_line*> named;
    std::vector<double> ends;
    for (const plot_line& l : m_drawn.lines) {
      const auto last = std::ranges::find_if(l.points.rbegin(), l.points.rend(),
                                             [&](const auto& p) { return drawable(m_drawn, p.second); });
      if (last == l.points.rend() || l.label.empty()) continue;
      named.push_back(&l), ends.push_back(m_y.place(last->second) + 4);
    }
    if (named.size() > max_labels) return {};
    const std::vector<double> at = places_of_labels(ends, 14);
    std::string out;
    for (std::size_t k = 0; k < named.size(); ++k)
      out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" style=\"fill: var(--c{})\">{}</text>\n", width - right + 8,
                         at[k], named[k]->colour % colours, html_escaped(named[k]->label));
    return out;
  }

  const line_plot& m_drawn;
  plot_axis m_x, m_y;
};

}  // namespace

std::string html_escaped(std::string_view text) {
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

plot_axis::plot_axis(double least, double most, double begin, double end, scale how)
    : m_least(least), m_most(most), m_begin(begin), m_end(end), m_scale(how) {}

double plot_axis::place(double number) const {
  const double length = part_of(m_most) - part_of(m_least);
  const double part = length > 0 ? (part_of(number) - part_of(m_least)) / length : 0.5;
  return m_begin + part * (m_end - m_begin);
}

std::vector<double> plot_axis::marks() const {
  const double from = part_of(m_least), to = part_of(m_most);
  if (!(to > from)) return {m_least};
  // So near to each other there are no round numbers between them that a double tells apart.
  if (to - from < 1e-13 * std::max(std::abs(from), std::abs(to))) return {m_least, m_most};
  double step = round_step(to - from);
  if (m_scale == scale::logarithmic) step = std::max(1.0, std::ceil((to - from) / 10));
  std::vector<double> made;
  for (double k = std::ceil(from / step - 1e-9) + 0.0; k * step <= to + 1e-9 * step; ++k)
    made.push_back(m_scale == scale::linear ? k * step : std::pow(10.0, k * step));
  return made;
}

std::vector<double> places_of_labels(const std::vector<double>& wanted, double gap) {
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t k) { return wanted[k]; });
  std::vector<double> made(wanted.size());
  double free_from = -std::numeric_limits<double>::infinity();
  for (const std::size_t k : order) {
    made[k] = std::max(wanted[k], free_from);
    free_from = made[k] + gap;
  }
  return made;
}

std::string to_svg(const line_plot& drawn) { return picture(drawn).text(); }

}  // namespace tessera::apps
