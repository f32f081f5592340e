#pragma once
// Pictures of curves, as SVG for pages that stand alone.
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::apps {

/// `&`, `<`, `>` and `"` as HTML and SVG write them.
std::string html_escaped(std::string_view text);

/// From numbers to places in a picture, with marks at round numbers.
class plot_axis {
 public:
  enum class scale : std::uint8_t {
    linear,
    logarithmic
  };
  /// `least` is at the place `begin`, `most` at `end`. Equal numbers are in the middle. Logarithmic: numbers above 0.
  plot_axis(double least, double most, double begin, double end, scale how = scale::linear);

  double place(double number) const;
  /// Round numbers from least to most, ascending: four to ten of them, where powers of ten allow it.
  std::vector<double> marks() const;

 private:
  double part_of(double number) const { return m_scale == scale::linear ? number : std::log10(number); }
  double m_least, m_most, m_begin, m_end;
  scale m_scale;
};

/// Places of labels beside a picture, in the order of `wanted`: moved down, at least `gap` apart.
std::vector<double> places_of_labels(const std::vector<double>& wanted, double gap);

/// Points joined by a line.
struct plot_line {
  std::string label;
  std::vector<std::pair<double, double>> points;  ///< in the order of x; what cannot be drawn is left out
  int colour = 0;                                 ///< lines of one number look alike
  bool dashed = false;
};

/// What to draw.
struct line_plot {
  std::string title, x_name, y_name;
  std::vector<plot_line> lines = {};
  plot_axis::scale y_scale = plot_axis::scale::linear;
  /// What is drawn of y; by default all.
  std::optional<std::pair<double, double>> y_range = {};
};

/// The lines with their axes; up to twelve are labelled at their ends. The same plot gives the same text.
std::string to_svg(const line_plot& drawn);

}  // namespace tessera::apps
