// Axes and lines of pictures.
#include "apps/common/plot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace tessera::apps {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(plot_axis, has_round_marks) {
  EXPECT_THAT(plot_axis(0, 5, 0, 100).marks(), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(plot_axis(-3, 45, 0, 1).marks(), ElementsAre(0, 10, 20, 30, 40));
  const auto logarithmic = plot_axis::scale::logarithmic;
  EXPECT_THAT(plot_axis(2e-3, 50, 0, 1, logarithmic).marks(),
              ElementsAre(testing::DoubleNear(1e-2, 1e-15), testing::DoubleNear(0.1, 1e-12), 1, 10));
  EXPECT_LE(plot_axis(1e-300, 1, 0, 1, logarithmic).marks().size(), 11u);
  EXPECT_THAT(plot_axis(3, 3, 0, 1).marks(), ElementsAre(3));
  // Neighbours among doubles: a round step between them would be lost to rounding, and counting would not end.
  const double next = std::nextafter(70.3, 71.0);
  EXPECT_THAT(plot_axis(70.3, next, 0, 1).marks(), ElementsAre(70.3, next));
}

TEST(plot_axis, puts_numbers_between_its_ends) {
  const plot_axis up(0, 10, 200, 100);
  EXPECT_EQ(up.place(0), 200);
  EXPECT_EQ(up.place(10), 100);
  EXPECT_EQ(plot_axis(1e-4, 1, 0, 400, plot_axis::scale::logarithmic).place(1e-3), 100);
  EXPECT_EQ(plot_axis(3, 3, 0, 100).place(3), 50);
}

TEST(places_of_labels, are_moved_down_where_they_are_close) {
  EXPECT_THAT(places_of_labels({100, 50, 52, 51}, 10), ElementsAre(100, 50, 70, 60));
}

line_plot residuals(std::size_t lines) {
  line_plot made{.title = "a <title>", .x_name = "x", .y_name = "y"};
  made.y_scale = plot_axis::scale::logarithmic;
  for (std::size_t k = 0; k < lines; ++k)
    made.lines.push_back({"line " + std::to_string(k), {{1, 1}, {2, 1e-3}, {3, 0}, {4, INFINITY}, {5, 1e-6}}});
  return made;
}

TEST(line_plot, leaves_out_what_a_logarithm_does_not_have) {
  const std::string svg = to_svg(residuals(1));
  EXPECT_EQ(svg, to_svg(residuals(1)));
  EXPECT_THAT(svg, HasSubstr("a &lt;title&gt;"));
  for (const char* wrong : {"nan", "inf", "<title>a", "url("}) EXPECT_THAT(svg, Not(HasSubstr(wrong)));
  const std::string path = svg.substr(svg.find("d=\"M"), 60);
  EXPECT_EQ(std::ranges::count(path, 'M'), 2) << "the line is broken where there is nothing: " << path;
}

TEST(line_plot, names_few_lines_at_their_ends) {
  EXPECT_THAT(to_svg(residuals(12)), HasSubstr(">line 11</text>"));
  EXPECT_THAT(to_svg(residuals(13)), Not(HasSubstr(">line 11</text>")));
}

TEST(line_plot, of_a_range_leaves_out_the_rest) {
  line_plot values = residuals(1);
  values.y_scale = plot_axis::scale::linear;
  values.lines[0].points = {{0, 1e9}, {1, 5}, {2, 6}};
  values.y_range = {4, 7};
  EXPECT_THAT(to_svg(values), Not(HasSubstr("1000000000")));
  values.lines.clear();
  EXPECT_THAT(to_svg(values), Not(HasSubstr("nan"))) << "nothing to draw";
}

}  // namespace
}  // namespace tessera::apps
