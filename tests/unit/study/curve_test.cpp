#include "apps/study/curve.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::apps::study {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

measured_point measured(double x, std::vector<double> seconds, std::string label = "p") {
  return {{x, std::move(label), {}}, std::move(seconds)};
}

curve valley() {
  return {.title = "app: a <curve>",
          .axis = "share",
          .points = {measured(0, {4}, "0,100"), measured(50, {1, 2, 9}, "50,50"), measured(100, {6}, "100,0")},
          .others = {measured(0, {2.5}, "static"), measured(0, {2.4}, "auto")}};
}

TEST(study_curve, has_medians_and_ends) {
  const measured_point odd = measured(0, {5, 1, 3}), even = measured(0, {4, 1, 2, 9});
  EXPECT_EQ(odd.median(), 3);
  EXPECT_EQ(even.median(), 3);
  EXPECT_EQ(even.fastest(), 1);
  EXPECT_EQ(even.slowest(), 9);
}

TEST(study_curve, knows_its_best_point_by_the_median) { EXPECT_EQ(valley().best().at.label, "50,50"); }

TEST(study_curve, is_drawn_the_same_every_time_with_its_names_escaped) {
  const std::string svg = to_svg(valley());
  EXPECT_EQ(svg, to_svg(valley()));
  EXPECT_THAT(svg, HasSubstr("app: a &lt;curve&gt;"));
  EXPECT_THAT(svg, Not(HasSubstr("<curve>")));
  EXPECT_THAT(svg, HasSubstr("best: 50,50"));
  EXPECT_THAT(svg, HasSubstr("static"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(study_curve, higher_times_are_drawn_higher) {
  const std::string svg = to_svg(valley());
  std::vector<double> heights;  // of the dots, in the order of x; y grows downwards
  for (std::size_t at = 0; (at = svg.find("class=\"dot\"", at)) != std::string::npos; ++at)
    heights.push_back(std::stod(svg.substr(svg.find("cy=\"", at) + 4)));
  ASSERT_EQ(heights.size(), 3u);
  EXPECT_GT(heights[1], heights[0]);
  EXPECT_GT(heights[0], heights[2]);
}

TEST(study_curve, of_one_point_or_of_no_time_is_drawn_too) {
  const curve one{.title = "t", .axis = "a", .points = {measured(7, {0})}, .others = {}};
  const std::string svg = to_svg(one);
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
}

TEST(study_curve, has_a_page_with_a_row_for_each_point) {
  const std::string html = to_html(valley(), "tessera study percentage --app x");
  for (const char* label : {"0,100", "50,50", "100,0", "static", "auto"})
    EXPECT_THAT(html, HasSubstr(std::string("<tr><td>") + label + "</td>"));
  EXPECT_THAT(html, HasSubstr("tessera study percentage --app x"));
  EXPECT_THAT(html, HasSubstr("<td class=\"n\">3.00</td>")) << "6 s where the best takes 2 s";
}

}  // namespace
}  // namespace tessera::apps::study
