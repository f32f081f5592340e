// Basis sets in Gaussian-94 form, and where each mistake in one is found.
#include <fstream>

#include "libraries/chemistry/basis/basis_set.hpp"
#include "tests/unit/chemistry/expect_error.hpp"

namespace tessera::chemistry {
namespace {

using testing::ElementsAre;

TEST(gaussian94, shells_are_read_in_the_order_of_the_table) {
  const basis_set set = parse_gaussian94(
      "\xef\xbb\xbf"
      "cartesian\r\n"
      "! a comment\r\n"
      "****\r\n"
      "H     0\r\n"
      "S    2   1.00      ! two primitives\r\n"
      "      3.42525091D+00   0.15432897\r\n"
      "      .5d0            -1.0e-01\r\n"
      "d 1\r\n"
      "      2.0 1.0\r\n"
      "****\r\n"
      "-he 0\r\n"
      "P 1 1.0\r\n"
      "  1 1\r\n"
      "****\r\n",
      "own");
  EXPECT_EQ(set.name, "own");
  ASSERT_EQ(set.shells_of.size(), 2u);
  const auto& hydrogen = set.shells_of.at(1);
  ASSERT_EQ(hydrogen.size(), 2u);
  EXPECT_EQ(hydrogen[0].momentum, 0);
  EXPECT_THAT(hydrogen[0].exponents, ElementsAre(3.42525091, 0.5));
  EXPECT_THAT(hydrogen[0].coefficients, ElementsAre(0.15432897, -0.1));
  EXPECT_EQ(hydrogen[1].momentum, 2);
  EXPECT_FALSE(hydrogen[1].spherical);
  EXPECT_EQ(functions(hydrogen[1]), 6u);
  EXPECT_EQ(functions(hydrogen), 7u);
  EXPECT_THAT(first_functions(hydrogen), ElementsAre(0u, 1u, 7u));
  EXPECT_EQ(set.shells_of.at(2)[0].momentum, 1);
}

TEST(gaussian94, sets_are_spherical_unless_they_say_otherwise) {
  const char* table = "C 0\nF 1 1.0\n1.0 1.0\n****\n";
  const shell unsaid = parse_gaussian94(table, "b").shells_of.at(6)[0];
  EXPECT_TRUE(unsaid.spherical);
  EXPECT_EQ(functions(unsaid), 7u);
  EXPECT_TRUE(parse_gaussian94(std::string("spherical\n") + table, "b").shells_of.at(6)[0].spherical);
  EXPECT_EQ(functions(parse_gaussian94(std::string("Cartesian\n") + table, "b").shells_of.at(6)), 10u);
}

TEST(gaussian94, sp_shells_are_split) {
  for (const char* type : {"SP", "L", "sp"}) {
    const auto shells =
        parse_gaussian94(std::string("C 0\n") + type + " 2 1.0\n3.0 0.1 0.3\n1.5 0.2 0.4\n****\n", "b").shells_of.at(6);
    ASSERT_EQ(shells.size(), 2u);
    EXPECT_EQ(shells[0].momentum, 0);
    EXPECT_EQ(shells[1].momentum, 1);
    EXPECT_THAT(shells[0].coefficients, ElementsAre(0.1, 0.2));
    EXPECT_THAT(shells[1].coefficients, ElementsAre(0.3, 0.4));
    EXPECT_THAT(shells[1].exponents, ElementsAre(3.0, 1.5));
  }
}

TEST(gaussian94, general_contractions_become_a_shell_per_column) {
  const auto shells =
      parse_gaussian94("C 0\nP 3 1.0\n9.0 0.1 0 0\n3.0 0.2 0.5 0\n1.0 0.3 0.6 1.0\n****\n", "b").shells_of.at(6);
  ASSERT_EQ(shells.size(), 3u);
  EXPECT_THAT(shells[0].exponents, ElementsAre(9.0, 3.0, 1.0));
  EXPECT_THAT(shells[1].exponents, ElementsAre(3.0, 1.0));
  EXPECT_THAT(shells[1].coefficients, ElementsAre(0.5, 0.6));
  EXPECT_THAT(shells[2].exponents, ElementsAre(1.0));
  EXPECT_EQ(functions(shells), 9u);
}

TEST(gaussian94, the_scale_factor_counts_squared) {
  EXPECT_THAT(parse_gaussian94("H 0\nS 1 1.2\n2.0 1.0\n****\n", "b").shells_of.at(1)[0].exponents,
              ElementsAre(2.0 * 1.2 * 1.2));
}

TEST(gaussian94, elements_may_share_shells) {
  const basis_set set = parse_gaussian94("Na Mg 0\nS 1 1.0\n2.0 1.0\n****\n", "b");
  EXPECT_EQ(set.shells_of.size(), 2u);
  EXPECT_EQ(set.shells_of.at(12).size(), 1u);
}

TEST(gaussian94, a_file_that_is_not_there_is_named) {
  expect_refused([] { (void)read_gaussian94("/nowhere/b.gbs"); }, "cannot be read", "/nowhere/b.gbs");
}

class gaussian94_mistake : public testing::TestWithParam<wrong_text> {};

TEST_P(gaussian94_mistake, is_found_at_its_place) {
  const auto& one = GetParam();
  expect_refused([&] { (void)parse_gaussian94(one.text, "b.gbs"); }, one.message, std::string("b.gbs:") + one.where,
                 one.hint);
}

INSTANTIATE_TEST_SUITE_P(
    texts, gaussian94_mistake,
    testing::Values(
        wrong_text{"empty", "", "no elements", "1:1", "'H 0'"},
        wrong_text{"comments", "spherical\n! nothing\n****\n", "no elements", "3:5"},
        wrong_text{"both_forms", "spherical\ncartesian\n", "spherical and Cartesian", "2:1"},
        wrong_text{"late_form", "H 0\nS 1\n1 1\n****\nspherical\n", "before the first element", "5:1"},
        wrong_text{"element", "Hx 0\n", "'Hx'", "1:1", "did you mean 'H'?"},
        wrong_text{"core_potential", "NA-ECP 2 10\n",
                   "'NA-ECP' begins an effective core potential, which is not supported", "1:1",
                   "a basis for all electrons"},
        wrong_text{"core_potential_behind", "NA 0\nS 1\n1 1\n****\n\nNA     0\nNA-ECP     2     10\nd potential\n",
                   "'NA-ECP' begins an effective core potential", "7:1"},
        wrong_text{"core_potential_alone", "NA 0\nna-ecp 2 10\n", "'na-ecp' begins an effective core potential", "2:1"},
        wrong_text{"no_element", "0\n", "the element is missing", "1:1"},
        wrong_text{"no_zero", "H\n", "0 is missing", "1:2", "'H 0'"},
        wrong_text{"more", "H 0 1\n", "'1' is more", "1:5"},
        wrong_text{"twice", "H 0\nS 1\n1 1\n****\nh 0\nS 1\n1 1\n****\n", "H is given twice", "5:1"},
        wrong_text{"twice_in_a_line", "H H 0\n", "H is given twice", "1:3"},
        wrong_text{"no_shells", "H 0\n****\n", "the element H has no shells", "2:1", "'S 3 1.00'"},
        wrong_text{"no_end", "H 0\nS 1\n1 1\n", "the file ends among the shells of H", "3:3", "'****'"},
        wrong_text{"no_end_between", "H 0\nS 1\n1 1\nHe 0\n", "'He' is no momentum", "4:1", "'****' ends"},
        wrong_text{"momentum", "H 0\nSPD 1 1.0\n", "'SPD' is no momentum", "2:1", "sp or l"},
        wrong_text{"no_count", "H 0\nS\n", "the number of primitives is missing", "2:2"},
        wrong_text{"empty_shell", "H 0\nS 0 1.0\n****\n", "the number of primitives is '0'", "2:3"},
        wrong_text{"negative_count", "H 0\nS -1 1.0\n****\n", "the number of primitives is '-1'", "2:3"},
        wrong_text{"scale", "H 0\nS 1 0.0\n1 1\n****\n", "the scale factor is not positive", "2:5"},
        wrong_text{"two_scales", "H 0\nS 1 1.0 1.0\n", "'1.0' is more", "2:9"},
        wrong_text{"cut", "H 0\nS 2 1.0\n1 1\n", "ends after 1 of 2 primitives", "3:3"},
        wrong_text{"absurd_count", "H 0\nS 2000000000\n1 1\n", "after 1 of 2000000000 primitives", "3:3"},
        wrong_text{"short", "H 0\nS 2 1.0\n1 1\n****\n", "the element ends after 1 of 2 primitives", "4:1"},
        wrong_text{"long", "H 0\nS 1 1.0\n1 1\n2 1\n****\n", "'2' is no momentum", "4:1"},
        wrong_text{"no_coefficient", "H 0\nS 1 1.0\n1\n****\n", "the coefficient is missing", "3:2"},
        wrong_text{"columns", "H 0\nS 2 1.0\n3 1\n1 1 0\n****\n", "2 coefficients, and the shell 1 columns", "4:5"},
        wrong_text{"sp_of_one", "C 0\nSP 1 1.0\n1 1\n****\n", "2 coefficients, not 1", "3:3"},
        wrong_text{"sp_of_three", "C 0\nSP 1 1.0\n1 1 1 1\n****\n", "2 coefficients, not 3", "3:7"},
        wrong_text{"zero_exponent", "H 0\nS 1 1.0\n0.0 1\n****\n", "the exponent is not positive", "3:1"},
        wrong_text{"negative_exponent", "H 0\nS 1 1.0\n-1.0D+00 1\n****\n", "the exponent is not positive", "3:1"},
        wrong_text{"large_exponent", "H 0\nS 1\n1e12 1\n****\n",
                   "the exponent is 1e+12, and not between 1e-06 and 1e+11", "3:1"},
        wrong_text{"scaled_exponent", "H 0\nS 1 1e200\n1e20 1\n****\n", "the exponent is inf", "3:1"},
        wrong_text{"small_exponent", "H 0\nS 1\n1e-7 1\n****\n", "the exponent is 1e-07", "3:1"},
        wrong_text{"large_coefficient", "H 0\nS 1\n1 2e6\n****\n", "the coefficient is 2e+06", "3:3"},
        wrong_text{"cancelling", "H 0\nS 2\n1 1\n1 -1\n****\n", "the shell vanishes", "2:1"},
        wrong_text{"small_coefficient", "H 0\nS 1\n1 1e-12\n****\n", "the shell vanishes", "2:1"},
        wrong_text{"infinite_exponent", "H 0\nS 1 1.0\ninf 1\n****\n", "'inf', which is not finite", "3:1"},
        wrong_text{"nan", "H 0\nS 1 1.0\n1 nan\n****\n", "'nan', which is not finite", "3:3"},
        wrong_text{"word", "H 0\nS 1 1.0\n1.0D 1\n****\n", "'1.0D', which is not a number", "3:1"},
        wrong_text{"nothing", "H 0\nS 2 1.0\n2 0 1\n1 0 1\n****\n", "all coefficients of a shell are 0", "2:1"}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace tessera::chemistry
