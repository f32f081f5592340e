#include <gtest/gtest.h>

#include "languages/directives/text/reach.hpp"

namespace {

using namespace tessera::directive;

polynomial n(const std::string& name) { return polynomial::name(name); }
polynomial c(std::int64_t value) { return polynomial::constant(value); }

/// Of a loop over i; j goes from 0 to less than m.
subscript_names of_a_row() { return {"i", {{"j", {c(0), n("m") - c(1)}}}, {}}; }

TEST(polynomial, arithmetic_and_text) {
  const polynomial p = (n("i") + c(1)) * n("m") - n("i") * n("m") + c(2);
  EXPECT_EQ(p, n("m") + c(2));
  EXPECT_EQ(p.text(), "2 + m");
  EXPECT_EQ((n("a") * n("b") - c(3) * n("n / 2")).text(), "a * b - 3 * (n / 2)");
  EXPECT_EQ((p - p).text(), "0");
  EXPECT_TRUE((p - n("m")).is_constant());
  EXPECT_TRUE(p.has("m"));
  EXPECT_FALSE(p.has("i"));
}

TEST(reach, of_one_dimension) {
  const subscript_names names{"i", {}, {}};
  const row_reach own = reach_of(n("i"), names);
  EXPECT_FALSE(own.whole);
  EXPECT_EQ(own.lowest, 0);
  EXPECT_EQ(own.row_elements, c(1));
  EXPECT_TRUE(own.covers_row);
  EXPECT_EQ(reach_of(n("i") - c(2), names).lowest, -2);
  EXPECT_EQ(reach_of(c(1) + n("i"), names).lowest, 1);
  EXPECT_EQ(reach_of(c(1) + n("i"), names).highest, 1);
  const subscript_names around{"i", {{"k", {c(-1), c(2)}}}, {}};
  EXPECT_EQ(reach_of(n("i") + n("k"), around).lowest, -1);
  EXPECT_EQ(reach_of(n("i") + n("k"), around).highest, 2);
  EXPECT_FALSE(reach_of(n("i") + n("k"), around).covers_row);
  EXPECT_TRUE(reach_of(n("k"), names).whole);
  EXPECT_TRUE(reach_of(n("i") + n("k"), names).whole);
  EXPECT_TRUE(reach_of(c(0) - n("i"), names).whole);
  EXPECT_TRUE(reach_of(n("i") * n("i"), names).whole);
  EXPECT_TRUE(reach_of(n("i") + n("index[i]"), {"i", {}, {"index[i]"}}).whole);
}

TEST(reach, of_rows) {
  const row_reach row = reach_of(n("i") * n("m") + n("j"), of_a_row());
  EXPECT_FALSE(row.whole);
  EXPECT_EQ(row.row_elements, n("m"));
  EXPECT_TRUE(row.covers_row);
  EXPECT_EQ(reach_of((n("i") + c(1)) * n("m") + n("j"), of_a_row()).lowest, 1);
  EXPECT_EQ(reach_of(n("i") * n("m") + n("j") - n("m"), of_a_row()).lowest, -1);
  // It may leave the row.
  EXPECT_TRUE(reach_of(n("i") * n("m") + n("j") + c(1), of_a_row()).whole);
  EXPECT_TRUE(reach_of(n("i") * n("m") + n("k"), of_a_row()).whole);
  // It does not, where j leaves the edges out; and then it does not cover the row.
  const subscript_names inside{"i", {{"j", {c(1), n("m") - c(2)}}}, {}};
  const row_reach right = reach_of(n("i") * n("m") + n("j") + c(1), inside);
  EXPECT_FALSE(right.whole);
  EXPECT_EQ(right.lowest, 0);
  EXPECT_FALSE(right.covers_row);
  EXPECT_FALSE(reach_of(n("i") * n("m") + n("j"), inside).covers_row);
  EXPECT_TRUE(reach_of(n("i") * n("m") + n("j") + c(2), inside).whole);
}

TEST(reach, of_rows_of_constant_and_of_composed_length) {
  const subscript_names names{"i", {}, {}};
  const row_reach third = reach_of(c(3) * n("i") + c(2), names);
  EXPECT_FALSE(third.whole);
  EXPECT_EQ(third.row_elements, c(3));
  EXPECT_EQ(third.lowest, 0);
  EXPECT_FALSE(third.covers_row);
  EXPECT_EQ(reach_of(c(3) * n("i") - c(1), names).lowest, -1);
  const subscript_names numbers{"i", {{"j", {c(1), c(28)}}}, {}};
  const row_reach left = reach_of(c(30) * n("i") + n("j") - c(1), numbers);
  EXPECT_FALSE(left.whole);
  EXPECT_EQ(left.lowest, 0);
  EXPECT_FALSE(left.covers_row);
  EXPECT_EQ(reach_of(c(30) * n("i") + n("j") + c(30), numbers).lowest, 1);
  EXPECT_EQ(reach_of(c(30) * n("i") + n("j") + c(2), numbers).highest, 1);
  EXPECT_TRUE(reach_of(c(28) * n("i") + n("j") - c(1), numbers).covers_row);
  const polynomial wide = n("m") + c(2);
  const row_reach padded = reach_of((n("i") + c(1)) * wide + n("j") + c(1), of_a_row());
  EXPECT_FALSE(padded.whole);
  EXPECT_EQ(padded.lowest, 1);
  EXPECT_EQ(padded.row_elements, wide);
  const subscript_names planes{"i", {{"j", {c(0), n("m") - c(1)}}, {"k", {c(0), n("l") - c(1)}}}, {}};
  const row_reach plane = reach_of((n("i") * n("m") + n("j")) * n("l") + n("k"), planes);
  EXPECT_FALSE(plane.whole);
  EXPECT_EQ(plane.row_elements, n("l") * n("m"));
}

TEST(reach, a_bound_that_depends_on_the_index_is_not_known) {
  const subscript_names triangle{"i", {{"j", {c(0), n("i")}}}, {}};
  EXPECT_TRUE(reach_of(n("i") * n("m") + n("j"), triangle).whole);
}

TEST(reach, leaves_a_dimension) {
  const subscript_names names{"i", {{"j", {c(0), c(29)}}}, {}};
  EXPECT_FALSE(leaves_dimension({n("i"), n("j")}, {30}, names));
  EXPECT_TRUE(leaves_dimension({n("i"), n("j") + c(1)}, {30}, names));
  EXPECT_TRUE(leaves_dimension({n("i"), n("j") - c(1)}, {30}, names));
  EXPECT_TRUE(leaves_dimension({n("i"), c(0), c(7)}, {30, 7}, names));
  EXPECT_FALSE(leaves_dimension({n("i"), n("k")}, {30}, names));
}

TEST(reach, of_several_subscripts) {
  const subscript_names names{"i", {{"j", {c(0), c(29)}}}, {}};
  const row_reach all = reach_of({n("i"), n("j")}, {30}, names);
  EXPECT_FALSE(all.whole);
  EXPECT_TRUE(all.covers_row);
  EXPECT_EQ(reach_of({n("i") - c(1), n("k")}, {30}, names).lowest, -1);
  EXPECT_FALSE(reach_of({n("i"), n("j") + c(1)}, {30}, names).covers_row);
  EXPECT_TRUE(reach_of({n("j"), n("i")}, {30}, names).whole);
  const subscript_names two{"i", {{"j", {c(0), c(29)}}, {"k", {c(0), c(29)}}}, {}};
  EXPECT_FALSE(reach_of({n("i"), n("j"), n("j")}, {30, 30}, two).covers_row);
  EXPECT_TRUE(reach_of({n("i"), n("j"), n("k")}, {30, 30}, two).covers_row);
}

TEST(place, of_an_iteration_of_all_loops) {
  const std::vector<std::string> both = {"i", "j"};
  const polynomial own = n("i") * n("m") + n("j");
  ASSERT_TRUE(place_of(own, both, of_a_row()));
  EXPECT_NE(place_of(own, both, of_a_row()), place_of(own + n("m"), both, of_a_row())) << "another row";
  EXPECT_FALSE(place_of(n("i"), both, of_a_row())) << "all j meet there";
  EXPECT_FALSE(place_of(n("i") * n("m") + c(2) * n("j") + c(1), both, of_a_row())) << "it may leave the row";
  const subscript_names inside{"i", {{"j", {c(1), n("m") - c(2)}}}, {}};
  EXPECT_NE(place_of(own, both, inside), place_of(own + c(1), both, inside)) << "that of the next j";
  const subscript_names deeper{"i", {{"j", {c(0), n("m") - c(1)}}, {"k", {c(0), c(2)}}}, {}};
  EXPECT_TRUE(place_of(c(3) * own + n("k"), both, deeper)) << "three of each";
  EXPECT_FALSE(place_of(c(2) * own + n("k"), both, deeper)) << "some of the next one";
}

TEST(place, of_several_subscripts) {
  const std::vector<std::string> both = {"i", "j"};
  EXPECT_EQ(place_of({n("i"), n("j"), n("k")}, both, {"i", {}, {}}),
            place_of({n("i"), n("j"), c(0)}, both, {"i", {}, {}}));
  EXPECT_NE(place_of({n("i"), n("j")}, both, {"i", {}, {}}), place_of({n("i"), n("j") + c(1)}, both, {"i", {}, {}}));
  EXPECT_FALSE(place_of({n("i"), n("k")}, both, {"i", {}, {}}));
  EXPECT_FALSE(place_of({n("i")}, both, {"i", {}, {}}));
}

}  // namespace
