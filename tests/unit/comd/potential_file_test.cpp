#include "apps/comd/potential_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "core/base/error.hpp"
#include "tests/unit/comd/potential_text.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace tessera::testing {
namespace {

using namespace apps::comd;
using ::testing::HasSubstr;

void expect_same_functions(const embedded_atom& seen, const embedded_atom& expected) {
  EXPECT_DOUBLE_EQ(seen.mass, expected.mass);
  EXPECT_DOUBLE_EQ(seen.lattice_constant, expected.lattice_constant);
  EXPECT_DOUBLE_EQ(seen.cutoff, expected.cutoff);
  const auto same = [](const samples& a, const samples& b) {
    EXPECT_DOUBLE_EQ(a.step, b.step);
    ASSERT_EQ(a.values.size(), b.values.size());
    for (std::size_t k = 1; k < a.values.size(); ++k)
      ASSERT_NEAR(a.values[k], b.values[k], 1e-12 * std::max(1.0, std::abs(b.values[k]))) << k;
  };
  same(seen.density, expected.density);
  same(seen.pair, expected.pair);
  same(seen.embedding, expected.embedding);
}

TEST(comd_potential_file, setfl_is_read) {
  const plugin_test::folder place;
  const embedded_atom copper = sutton_chen_copper();
  const embedded_atom seen = read_potential(place.write("cu.alloy", comd_test::setfl_text(copper, 1)));
  EXPECT_EQ(seen.name, "cu.alloy");
  expect_same_functions(seen, copper);
}

TEST(comd_potential_file, of_several_elements_the_first_is_taken) {
  const plugin_test::folder place;
  const embedded_atom copper = sutton_chen_copper();
  expect_same_functions(read_potential(place.write("two.alloy", comd_test::setfl_text(copper, 2))), copper);
}

TEST(comd_potential_file, funcfl_is_read) {
  const plugin_test::folder place;
  const embedded_atom copper = sutton_chen_copper();
  expect_same_functions(read_potential(place.write("cu.eam", comd_test::funcfl_text(copper))), copper);
}

struct wrong_potential {
  const char* name;
  std::string text;
  std::vector<std::string> parts;
};
void PrintTo(const wrong_potential& c, std::ostream* out) { *out << c.name; }

class comd_wrong_potential : public ::testing::TestWithParam<wrong_potential> {};

TEST_P(comd_wrong_potential, is_refused_with_the_line) {
  const plugin_test::folder place;
  try {
    read_potential(place.write("bad.eam", GetParam().text));
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::input);
    for (const std::string& part : GetParam().parts) EXPECT_THAT(e.what(), HasSubstr(part));
  }
}

const std::string head = "a\nb\nc\n1 Cu\n", five = "1 2 3 4 5\n";

INSTANTIATE_TEST_SUITE_P(
    all, comd_wrong_potential,
    ::testing::Values(
        wrong_potential{"empty", "", {"the file ends", "bad.eam:1"}},
        wrong_potential{"comments_alone", "a\nb\nc\n", {"the file ends", "the number of elements", "bad.eam:4"}},
        wrong_potential{"no_elements", "a\nb\nc\n0\n", {"from 1 to", "bad.eam:4"}},
        wrong_potential{
            "few_samples", head + "4 1 5 1 2\n", {"the number of samples of the density is 4", "bad.eam:5"}},
        wrong_potential{"no_step", head + "5 1 5 0 2\n", {"the step of the distance is 0", "bad.eam:5"}},
        wrong_potential{"far_cutoff", head + "5 1 5 1 5.1\n", {"the cutoff is 5.1", "reach to 5", "bad.eam:5"}},
        wrong_potential{"no_mass", head + "5 1 5 1 5\n29 -1 3.6 fcc\n", {"the mass is -1", "bad.eam:6"}},
        wrong_potential{"lattice", head + "5 1 5 1 5\n26 55 2.8 BCC\n", {"'bcc'", "should be fcc", "bad.eam:6"}},
        wrong_potential{"word", head + "5 1 5 1 5\n29 63 3.6 fcc\n1 2 3\n4 x", {"'x' is no number", "bad.eam:8"}},
        wrong_potential{"short", head + "5 1 5 1 5\n29 63 3.6 fcc\n" + five + five, {"the pair energy", "bad.eam:9"}},
        wrong_potential{"more",
                        head + "5 1 5 1 5\n29 63 3.6 fcc\n" + five + five + five + "6\n",
                        {"something follows", "bad.eam:10"}},
        wrong_potential{"funcfl_short",
                        "a\n29 63 3.6 fcc\n5 1 5 1 5\n" + five + five + "1 2 3\n",
                        {"a sample of the density", "bad.eam:7"}},
        wrong_potential{"funcfl_charge", "a\n29 63 3.6 fcc\n5 1 5 1 5\n" + five + "1 2 nan", {"'nan'", "bad.eam:5"}}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace tessera::testing
