// Tables of options, and what a command line makes of them. (All commands: tests/integration/cli.)
#include "apps/common/parse.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/common/value_options.hpp"
#include "core/base/error.hpp"

namespace tessera::apps {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A program with one command of every kind of option.
struct program_under_test {
  bool verify = false;
  int rounds = 3;
  unsigned ahead = 4;
  std::int64_t size = 10;
  std::uint64_t top = 5;
  double tolerance = 0.5;
  std::string file, type = "f64";
  std::optional<int> charge;
  std::optional<unsigned> workers;
  std::vector<std::string> config, form{"auto"};
  std::vector<unsigned> cores;
  std::vector<std::int64_t> columns{1, 8};
  std::vector<std::uint64_t> segments;
  bool checked = false;
  command_table program{"program", "Does something"};
  command_table& sub = program.add_command("solve", "Solves it");

  program_under_test() {
    program.version = "program 1.2";
    sub.add({
        {"file", &file, "FILE", "what is solved"},
        {"--verify", &verify, "", "check it"},
        {"--rounds", &rounds, "N", "how often", {.range = between(1, 20), .shows_default = true}},
        {"--ahead", &ahead, "N", "how far"},
        number_option("--size", size, "how large", 1, 100),
        {"--top", &top, "N", "how many", {.range = between(std::size_t{1}, std::size_t{9}), .shows_default = true}},
        number_option("--tol", tolerance, "TOL", "how small", 0.0, 1.0),
        type_option(type, {"f64", "f32", "i32"}),
        {"--charge", &charge, "N", "how charged"},
        {"--workers", &workers, "N", "how many", {.range = between(0, 65535)}},
        {"--config", &config, "FILE", "which machine", {.one_each = true}},
        {"--form", &form, "FORM,...", "which", {.choices = {"auto", "csr"}, .shows_default = true, .by_commas = true}},
        {"--cores", &cores, "N,N,...", "how many", {.by_commas = true, .needs = {"--size"}}},
        {"--columns", &columns, "B,...", "how many", {.shows_default = true, .by_commas = true}},
        {"--segments", &segments, "N", "how long", {.count = 3}},
        {"--secret", &verify, "", "nobody's", {.hidden = true}},
        {"--quick", &verify, "", "instead of rounds", {.excludes = {"--rounds"}}},
    });
    sub.check = [this] { checked = true; };
    sub.run = [] { return 7; };
  }
  parsed_line parse(std::vector<const char*> words) {
    words.insert(words.begin(), "program");
    return apps::parse(program, static_cast<int>(words.size()), words.data());
  }
};

/// Checks the message for a command line that is wrong.
void expect_refused(const std::vector<const char*>& words, const std::string& message, const std::string& hint = "") {
  program_under_test p;
  try {
    p.parse(words);
    ADD_FAILURE() << "taken: " << testing::PrintToString(words);
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::usage);
    EXPECT_THAT(e.what(), testing::AllOf(HasSubstr(message), HasSubstr(hint)));
  }
  EXPECT_FALSE(p.checked);
}

TEST(options, fill_their_targets) {
  program_under_test p;
  const parsed_line line =
      p.parse({"solve", "a.mtx", "--verify", "--rounds=20", "--ahead", "6", "--size", "100", "--top", "9", "--tol",
               "1e-3", "--type", "i32", "--charge", "-2", "--workers", "0"});
  ASSERT_EQ(line.command, &p.sub);
  EXPECT_EQ(line.command->run(), 7);
  EXPECT_TRUE(p.checked && p.sub.chosen && p.verify);
  EXPECT_EQ(p.file, "a.mtx");
  EXPECT_EQ(p.rounds, 20);
  EXPECT_EQ(p.ahead, 6u);
  EXPECT_EQ(p.size, 100);
  EXPECT_EQ(p.top, 9u);
  EXPECT_EQ(p.tolerance, 1e-3);
  EXPECT_EQ(p.type, "i32");
  EXPECT_EQ(p.charge, -2);
  EXPECT_EQ(p.workers, 0u);
}

TEST(options, that_are_not_given_keep_their_defaults) {
  program_under_test p;
  p.parse({"solve"});
  EXPECT_EQ(p.rounds, 3);
  EXPECT_EQ(p.type, "f64");
  EXPECT_EQ(p.charge, std::nullopt);
  EXPECT_THAT(p.columns, ElementsAre(1, 8));
  EXPECT_FALSE(p.sub.is_given("--rounds"));
  EXPECT_FALSE(p.sub.is_given("--no-such-option"));
}

TEST(options, of_several_values) {
  program_under_test p;
  p.parse({"solve", "--config", "a", "--config", "b", "file", "--form", "csr,auto", "--size", "2", "--cores", "1,2",
           "--columns", "4", "--segments", "1", "2", "3"});
  EXPECT_THAT(p.config, ElementsAre("a", "b"));
  EXPECT_EQ(p.file, "file");  // what follows one FILE is an argument
  EXPECT_THAT(p.form, ElementsAre("csr", "auto"));
  EXPECT_THAT(p.cores, ElementsAre(1u, 2u));
  EXPECT_THAT(p.columns, ElementsAre(4));
  EXPECT_THAT(p.segments, ElementsAre(1u, 2u, 3u));
  EXPECT_THAT(p.sub.find("--config")->given, ElementsAre("a", "b"));
  EXPECT_THAT(p.sub.find("--type")->given, IsEmpty());
}

TEST(options, outside_their_range) {
  for (const char* word : {"0", "21", "99999999999", "1.5", "x"})
    expect_refused({"solve", "--rounds", word},
                   "--rounds: '" + std::string(word) + "' is no number in the range 1 to 20");
  expect_refused({"solve", "--top", "10"}, "--top: '10' is no number in the range 1 to 9");
  expect_refused({"solve", "--tol", "1.5"}, "--tol: '1.5' is no number in the range 0 to 1");
  expect_refused({"solve", "--tol", "nan"}, "'nan' is not a number");
  expect_refused({"solve", "--ahead", "x"}, "'x' is not a number");
}

TEST(options, that_are_no_plain_values) {
  expect_refused({"solve", "--rounds", "010"}, "'010' is not written as a decimal number");
  expect_refused({"solve", "--rounds", "0x10"}, "'0x10'");
  expect_refused({"solve", "--charge", "99999999999999999999"}, "is too large");
  expect_refused({"solve", "--type", ""}, "--type");
  expect_refused({"solve", ""}, "file wants a value");
  expect_refused({"solve", "--rounds"}, "--rounds wants a value");
  expect_refused({"solve", "--rounds", "1", "--rounds", "2"}, "--rounds is given 2 times");
}

TEST(options, that_are_none_of_the_choices) {
  expect_refused({"solve", "--type", "f16"}, "f16 not in {f64,f32,i32}");
  expect_refused({"solve", "--form", "auto,ell"}, "ell not in {auto,csr}");
}

TEST(options, that_exclude_or_need_others) {
  expect_refused({"solve", "--quick", "--rounds", "2"}, "--rounds excludes --quick");
  expect_refused({"solve", "--cores", "2"}, "--cores requires --size");
}

TEST(options, whose_lists_have_holes) {
  program_under_test p;
  try {
    p.parse({"solve", "--columns", "1,,8"});
    ADD_FAILURE();
  } catch (const error& e) {
    EXPECT_THAT(e.what(), HasSubstr("'1,,8' is no list"));
  }
}

TEST(commands, that_there_are_not_have_a_nearest_one) {
  expect_refused({}, "A subcommand is required", "`tessera --help`");
  expect_refused({"sovle"}, "there is no command 'sovle'", "did you mean 'solve'?");
  expect_refused({"solve", "--ronuds", "3"}, "--ronuds", "did you mean '--rounds'?");
  expect_refused({"solve", "a", "b"}, "b", "`tessera solve --help`");
}

TEST(commands, show_what_their_table_says) {
  program_under_test p;
  const parsed_line line = p.parse({"solve", "--help"});
  EXPECT_EQ(line.command, nullptr);
  EXPECT_FALSE(p.checked);
  for (const char* part :
       {"Solves it\n", "  --rounds N:INT in [1 - 20]=3 Excludes: --quick\n", "--top N:UINT in [1 - 9]=5",
        "  --ahead N  ", "--tol TOL:FLOAT in [0 - 1]=0.5", "--type TEXT:{f64,f32,i32}=f64",
        "element type: f64, f32 or i32", "--columns B,...=[1,8] ...", "--segments N x 3", "--quick Excludes: --rounds"})
    EXPECT_THAT(line.text, HasSubstr(part));
  EXPECT_THAT(line.text, testing::Not(HasSubstr("--secret")));
  program_under_test other;
  EXPECT_EQ(other.parse({"--version"}).text, "program 1.2\n");
}

TEST(commands, tell_of_their_options) {
  const program_under_test p;
  const auto option_of = [&](const char* name) -> const option& { return *p.sub.find(name); };
  EXPECT_EQ(p.sub.words(), "solve");
  EXPECT_TRUE(option_of("file").is_argument());
  EXPECT_TRUE(option_of("--verify").is_flag());
  EXPECT_TRUE(option_of("--segments").is_list() && option_of("--segments").is_number());
  EXPECT_FALSE(option_of("--type").is_number());
  EXPECT_EQ(option_of("--type").value_name(), "TEXT");
  EXPECT_EQ(option_of("--tol").value_name(), "TOL");
  EXPECT_EQ(option_of("--tol").default_text(), "0.5");
  EXPECT_EQ(option_of("--columns").default_text(), "1,8");
  EXPECT_EQ(option_of("--charge").default_text(), "");
  EXPECT_EQ(p.sub.find("--none"), nullptr);
}

}  // namespace
}  // namespace tessera::apps
