#pragma once
// What a study has measured, and its picture.
#include <string>
#include <vector>

#include "apps/study/points.hpp"

namespace tessera::apps::study {

/// A point and the times of its runs, in seconds; not empty.
struct measured_point {
  point at;
  std::vector<double> seconds;

  double median() const;
  double fastest() const;
  double slowest() const;
};

/// A curve over an axis, and what to compare it with.
struct curve {
  std::string title;                   ///< "hotspot: time over the share of host"
  std::string axis;                    ///< what x is: "share of host in percent"
  std::vector<measured_point> points;  ///< in the order of x; not empty
  std::vector<measured_point> others;  ///< policies: lines across the picture

  /// The point with the least median.
  const measured_point& best() const;
};

/// The curve as SVG: medians joined by a line, from the fastest to the slowest run a bar, the best point marked, other
/// policies as dashed lines. The same curve gives the same text.
std::string to_svg(const curve& drawn);

/// A page with the picture and a table of its figures.
std::string to_html(const curve& drawn, const std::string& command);

}  // namespace tessera::apps::study
