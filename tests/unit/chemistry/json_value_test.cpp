// JSON texts: values, and where they are.
#include "libraries/chemistry/molecule/json_value.hpp"

#include "tests/unit/chemistry/expect_error.hpp"

namespace tessera::chemistry {
namespace {

using testing::ElementsAre;

TEST(json_value, values_have_their_types_and_places) {
  const json_document document(
      "\xef\xbb\xbf{\"a\": [1, -2.5e1,\n  true, null],\r\n \"b\\\"\": {\"c\": \"x\\ny\"}, \"d\": 1.0}", "a.json");
  const json_value root = document.root(), list = root.at("a");
  EXPECT_THAT(root.keys(), ElementsAre("a", "b\"", "d"));
  ASSERT_EQ(list.size(), 4u);
  EXPECT_EQ(list.at(0).whole(), 1);
  EXPECT_EQ(list.at(1).number(), -25);
  EXPECT_TRUE(list.at(2).flag());
  EXPECT_TRUE(list.at(3).is_null());
  EXPECT_EQ(root.at("b\"").at("c").text(), "x\ny");
  EXPECT_EQ(root.at("d").whole(0, 1), 1);
  EXPECT_EQ(list.at(2).where(), "a.json:2:3: a[2]");
  EXPECT_EQ(list.at(3).where(), "a.json:2:9: a[3]");
  EXPECT_EQ(root.at("b\"").at("c").where(), "a.json:3:15: b\".c");
  EXPECT_EQ(root.at("d").where(), "a.json:3:29: d");
}

TEST(json_value, a_part_stays_where_it_is) {
  const json_document document("{\"a\": 1,\n \"b\": {\"c\": [2,\n 3], \"d\": \"}\"}}", "a.json");
  const std::string part = document.root().at("b").text_at_its_place();
  EXPECT_EQ(part, "\n      {\"c\": [2,\n 3], \"d\": \"}\"}");
  const json_document again(part, "a.json");
  EXPECT_EQ(again.root().at("c").at(1).where(), "a.json:3:2: c[1]");
}

TEST(json_value, other_types_are_refused) {
  const json_document document("{\"a\": [1, 2.5, 1e3], \"n\": null}", "a.json");
  const json_value root = document.root();
  expect_refused([&] { (void)root.at("a").text(); }, "text is expected, and it is a list", "a.json:1:7: a");
  expect_refused([&] { (void)root.at("a").at(1).whole(); }, "a whole number", "a.json:1:11: a[1]");
  expect_refused([&] { (void)root.at("a").at(1).whole(0, 9); }, "from 0 to 9", "a.json:1:11: a[1]");
  expect_refused([&] { (void)root.at("a").at(2).whole(0, 9); }, "it is 1000", "a.json:1:16: a[2]");
  expect_refused([&] { (void)root.at("a").at(3); }, "it has 3 elements", "a.json:1:7: a");
  expect_refused([&] { (void)root.at("n"); }, "'n' is missing", "a.json:1:1");
  expect_refused([&] { (void)root.size(); }, "a list is expected, and it is an object", "a.json:1:1");
}

class json_mistake : public testing::TestWithParam<wrong_text> {};

TEST_P(json_mistake, is_found_at_its_place) {
  const wrong_text& one = GetParam();
  expect_refused([&] { json_document(one.text, "a.json"); }, one.message, std::string("a.json:") + one.where, one.hint);
}

INSTANTIATE_TEST_SUITE_P(
    texts, json_mistake,
    testing::Values(wrong_text{"empty", "", "this is no JSON: syntax error", "1:1"},
                    wrong_text{"word", "{\n \"a\": nul}", "this is no JSON: syntax error", "2:10"},
                    wrong_text{"nan", "[NaN]", "this is no JSON", "1:2"},
                    wrong_text{"large", "[1e999]", "number overflow", "1:6"},
                    wrong_text{"more", "{} {}", "this is no JSON", "1:4"},
                    wrong_text{"twice", "{\"a\": 1,\n\"b\": {\"a\": 2},\n  \"a\": 3}", "the key 'a' is given twice",
                               "3:3", "it is in line 1 already"},
                    wrong_text{"twice_inside", "[{\"a\": [1], \"a\": []}]", "the key 'a' is given twice", "1:13"},
                    wrong_text{"deep", std::string(200, '[') + std::string(200, ']'), "more than 100 values", "1:101"}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace tessera::chemistry
