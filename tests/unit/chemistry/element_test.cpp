// Symbols and numbers of the elements.
#include "libraries/chemistry/molecule/element.hpp"

#include "tests/unit/chemistry/expect_error.hpp"

namespace tessera::chemistry {
namespace {

TEST(elements, have_numbers_and_symbols) {
  EXPECT_EQ(element_number("H"), 1);
  EXPECT_EQ(element_number("He"), 2);
  EXPECT_EQ(element_number("Xe"), 54);
  EXPECT_EQ(element_number("Rn"), 86);
  EXPECT_EQ(element_number("Og"), 118);
  EXPECT_EQ(symbol_of(26), "Fe");
  for (int number = 1; number <= last_element; ++number) EXPECT_EQ(element_number(symbol_of(number)), number);
}

TEST(elements, do_not_mind_case) {
  EXPECT_EQ(element_number("HE"), 2);
  EXPECT_EQ(element_number("he"), 2);
  EXPECT_EQ(element_number("cL"), 17);
}

TEST(elements, are_refused_with_the_nearest) {
  expect_refused([] { (void)element_number("Hx"); }, "'Hx'", "", "did you mean 'H'?");
  expect_refused([] { (void)element_number("zm"); }, "'zm'", "", "'Zn'");
  expect_refused([] { (void)element_number("water"); }, "'water'", "", "symbols of elements");
  expect_refused([] { (void)element_number(""); }, "''", "");
  EXPECT_EQ(find_element("Hx"), 0);
  EXPECT_EQ(find_element(""), 0);
}

TEST(elements, have_numbers_from_1_to_118) {
  for (const int number : {0, -1, 119}) EXPECT_THROW((void)symbol_of(number), error);
}

}  // namespace
}  // namespace tessera::chemistry
