// The text form of initialization data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "languages/sial/data/init_file.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/random_init.hpp"

namespace tessera::sial {
namespace {

using test_support::message_of;
using testing::AllOf;
using testing::HasSubstr;

std::string refusal(const std::string& text) {
  return message_of([&] { from_toml(text, "job.toml"); }, error_kind::input);
}

TEST(sial_toml, every_part) {
  const init_data data = from_toml(R"(
programs = ["scf.siox", "CC.siox"]
[ints]
Norb = 2
big = 1_099_511_627_776
[scalars]
scf_conv = 1e-10
damp = 3
[segments]
ao = [5, 6]
moa = [1, 4, 6]
[float_arrays]
short = [1, 2.5]
[float_arrays.coords]
dims = [3, 2]
data = [0.0, 0.1, -0.2, 1.5, -1.5, 1e300]
[int_arrays.atom]
data = [1, 2, 2]
[options."scf.siox"]
No_Servers = "f"
)",
                                   "job.toml");
  EXPECT_THAT(data.programs, testing::ElementsAre("scf.siox", "CC.siox"));
  EXPECT_EQ(data.ints, (std::map<std::string, std::int64_t>{{"norb", 2}, {"big", std::int64_t{1} << 40}}));
  EXPECT_EQ(data.scalars, (std::map<std::string, double>{{"scf_conv", 1e-10}, {"damp", 3.0}}));
  EXPECT_THAT(data.segments_of(index_kind::moa), testing::ElementsAre(1, 4, 6));
  EXPECT_EQ(data.float_arrays.at("short"), (init_array<double>{{2}, {1.0, 2.5}}));
  EXPECT_EQ(data.float_arrays.at("coords").dims, (std::vector<std::int64_t>{3, 2}));
  EXPECT_EQ(data.int_arrays.at("atom"), (init_array<std::int64_t>{{3}, {1, 2, 2}}));
  EXPECT_EQ(data.options.at("scf.siox").at("no_servers"), "f");
}

TEST(sial_toml, places_of_what_is_wrong_and_of_arrays) {
  EXPECT_EQ(test_support::error_of([] { from_toml("[segments]\nao = [2,\n 0]\n", "i.toml"); }).where(), "i.toml:3:2");
  const init_data data = from_toml("[int_arrays]\nc = [1, 2]\n[float_arrays.d]\ndata = [1.0]\n", "i.toml");
  EXPECT_EQ(data.int_arrays.at("c").where, "i.toml:2:1");
  EXPECT_EQ(data.float_arrays.at("d").where.substr(0, 9), "i.toml:3:");
}

TEST(sial_toml, random_contents_come_back_and_the_text_is_the_same_again) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300; ++round) {
    const init_data data = test_support::random_init(random);
    const std::string text = to_toml(data);
    const init_data again = from_toml(text, "job.toml");
    ASSERT_EQ(again, data) << text;
    ASSERT_EQ(to_toml(again), text);
    for (const auto& [name, value] : data.scalars) ASSERT_EQ(std::signbit(again.scalars.at(name)), std::signbit(value));
  }
}

TEST(sial_toml, both_forms_hold_the_same) {
  std::mt19937_64 random(5);
  const init_data data = test_support::random_init(random);
  EXPECT_EQ(to_binary(from_toml(to_toml(from_binary(to_binary(data), "x")), "x")), to_binary(data));
}

TEST(sial_toml, control_characters_in_texts) {
  init_data data;
  data.options["p"]["o"] = "a\x01\x7f\r\n\"\\ \xc3\xa9";
  EXPECT_EQ(from_toml(to_toml(data), "job.toml"), data);
}

TEST(sial_toml, no_number) {
  init_data data;
  data.scalars["x"] = std::nan("");
  EXPECT_TRUE(std::isnan(from_toml(to_toml(data), "job.toml").scalars.at("x")));
}

TEST(sial_toml, bytes_that_are_no_text) {
  init_data data;
  data.programs = {"a\xff.siox"};
  EXPECT_THAT(message_of([&] { to_toml(data); }, error_kind::input), HasSubstr("is not UTF-8"));
}

TEST(sial_toml, wrong_keys_have_their_line) {
  EXPECT_THAT(refusal("\n[intz]\nn = 1\n"),
              AllOf(HasSubstr("unknown key 'intz'"), HasSubstr("did you mean 'ints'"), HasSubstr("job.toml:2:2")));
  EXPECT_THAT(refusal("[segments]\naos = [1]\n"),
              AllOf(HasSubstr("unknown kind of segments 'aos'"), HasSubstr("job.toml:2:1")));
  EXPECT_THAT(refusal("[float_arrays.a]\ndim = [1]\ndata = [1]\n"), HasSubstr("unknown key of float array 'a': 'dim'"));
}

TEST(sial_toml, wrong_types) {
  EXPECT_THAT(refusal("programs = \"a\"\n"), HasSubstr("the list of programs is text, not a list"));
  EXPECT_THAT(refusal("programs = [1]\n"),
              HasSubstr("an element of the list of programs is an integer, not text in quotes"));
  EXPECT_THAT(refusal("[ints]\nn = 1.0\n"),
              AllOf(HasSubstr("int constant 'n' is a number with a point, not an integer"), HasSubstr("job.toml:2:1")));
  EXPECT_THAT(refusal("[scalars]\nx = \"1\"\n"), HasSubstr("scalar constant 'x' is text, not a number"));
  EXPECT_THAT(refusal("[scalars]\nx = 9007199254740993\n"), HasSubstr("which no double holds exactly"));
  EXPECT_THAT(refusal("[segments]\nao = [1.5]\n"), HasSubstr("not an integer"));
  EXPECT_THAT(refusal("ints = 1\n"), HasSubstr("int constants is an integer, not a table"));
  EXPECT_THAT(refusal("[options]\n\"a.siox\" = 1\n"), HasSubstr("not a table"));
  EXPECT_THAT(refusal("[options.a]\nb = true\n"), HasSubstr("option 'b' is true or false, not text in quotes"));
}

TEST(sial_toml, names_given_twice) {
  EXPECT_THAT(refusal("[ints]\nnorb = 1\nNORB = 2\n"), HasSubstr("int constant 'norb' is there twice"));
}

TEST(sial_toml, arrays_that_do_not_fit_together) {
  EXPECT_THAT(refusal("[int_arrays.n]\ndims = [2, 2]\ndata = [1, 2, 3]\n"),
              HasSubstr("int array 'n' has 3 values, dims [2, 2] make 4"));
  EXPECT_THAT(refusal("[int_arrays.n]\ndims = [-1]\ndata = []\n"), HasSubstr("an extent is -1"));
  EXPECT_THAT(refusal("[int_arrays.n]\ndims = [1]\n"), HasSubstr("int array 'n' has no 'data'"));
}

TEST(sial_toml, text_that_is_not_toml) {
  EXPECT_THAT(refusal("ints = [1\n"), AllOf(HasSubstr("this is not TOML"), HasSubstr("job.toml:")));
}

}  // namespace
}  // namespace tessera::sial
