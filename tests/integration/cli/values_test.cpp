// What all options ask of their values, and what is said where the command line is not understood.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/integration/cli/program.hpp"

namespace cli_test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Ends with 2, and says all of it.
void expect_usage(const std::vector<std::string>& words, const std::vector<std::string>& said) {
  const outcome done = run(words);
  EXPECT_EQ(done.code, 2) << testing::PrintToString(words) << done.err;
  for (const std::string& text : said) EXPECT_THAT(done.err, HasSubstr(text)) << testing::PrintToString(words);
}

TEST(values, are_not_empty) {
  for (const char* option : {"--guess", "--deflate", "--mass", "--out", "--json", "--report", "--trace", "--at",
                             "--set", "--config", "--pairs"}) {
    std::vector<std::string> words{"eigs", "--generate", "lap2d:12", option, ""};
    if (std::string(option) != "--pairs") words.insert(words.end(), {"--pairs", "3"});
    expect_usage(words, {std::string(option) + " wants a value"});
  }
  expect_usage({"eigs", "--generate", "lap2d:12", "--json="}, {"--json wants a value"});
  expect_usage({"eigs", ""}, {"wants a value"});
  expect_usage({"sial", "run", "--init", ""}, {"--init wants a value"});
  expect_usage({"plugins", "--plugin-path", ""}, {"--plugin-path wants a value"});
  expect_usage({"plugins", "new", "mine", "--language", "c", "--directory", ""}, {"--directory wants a value"});
}

TEST(values, that_are_numbers_are_decimal) {
  for (const std::string number : {"010", "0x10", "+010", "-010"}) {
    const outcome done = run({"gemm", "--n", number, "--quiet"});
    EXPECT_EQ(done.code, 2) << number;
    EXPECT_THAT(done.err, HasSubstr("'" + number + "'"));
  }
  expect_usage({"eigs", "--generate", "lap2d:12", "--pairs", "010"}, {"--pairs", "'010'"});
  EXPECT_EQ(run({"gemm", "--n", "10", "--seed", "0", "--quiet"}).code, 0);
}

TEST(values, that_are_numbers_fit) {
  for (const char* number : {"9223372036854775808", "18446744073709551615", "18446744073709551616"})
    expect_usage({"gemm", "--n", "8", "--seed", number}, {"--seed", number});
  EXPECT_EQ(run({"gemm", "--n", "8", "--seed", "9223372036854775807", "--quiet"}).code, 0);
  expect_usage({"comd", "--dt", "1 fs"}, {"--dt: '1 fs' is not a number"});
}

TEST(values, that_are_lists_have_no_empty_items) {
  for (const char* list : {"1,,2", ",1", "1,"})
    expect_usage({"simulate", "--from", "run.json", "--cores", list}, {"--cores", list, "no list"});
  expect_usage({"spmv", "--generate", "lap2d:9", "--columns=1,,2"}, {"--columns", "no list"});
}

TEST(hints, do_not_take_values_for_options) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"trace", "graph", "g.json", "--tasks", "0"},
                                                {"trace", "compare", "g.json"},
                                                {"simulate", "--from", "g.json", "--job", "gemm"}}) {
    const outcome done = run(words);
    EXPECT_EQ(done.code, 2);
    EXPECT_THAT(done.err, Not(HasSubstr("did you mean"))) << testing::PrintToString(words);
  }
  expect_usage({"gemm", "--n", "8", "--jsno", "x"}, {"--jsno", "did you mean '--json'?"});
  expect_usage({"gem", "--n", "8"}, {"there is no command 'gem'", "did you mean 'gemm'?"});
}

TEST(hints, are_about_the_unknown_option) {
  expect_usage({"eigs", "--generate", "lap2d:9", "--pair", "3"}, {"not expected: --pair", "did you mean '--pairs'?"});
  expect_usage({"eigs", "--generate", "lap2d:9", "--pairs", "3", "--tree", "-"}, {"not expected: --tree"});
  expect_usage({"spmv", "--generate", "lap2d:9", "--vectors", "0"}, {"not expected: --vectors"});
}

TEST(results, do_not_share_standard_output) {
  expect_usage({"trace", "summary", "run.json", "--json", "-", "--report", "-"}, {"both go to standard output"});
  expect_usage({"trace", "graph", "run.json", "--dot", "-", "--json", "-"}, {"both go to standard output"});
  expect_usage({"sial", "run", "program.sialx", "--json", "-", "--profile", "-"}, {"both go to standard output"});
}

TEST(sial_options, are_not_ignored) {
  const std::string program = source("tests/integration/sial/programs/imports.sialx");
  for (const char* option : {"--profile", "--trace", "--report", "--dump-final", "--checkpoint"})
    expect_usage({"sial", "run", program, "--dry-run", option, "result"}, {"--dry-run", option});
  for (const char* option : {"--instruction-dir", "--sial-dir"}) {
    const outcome done = run({"sial", "run", program, option, "/no/such/folder"});
    EXPECT_EQ(done.code, 4) << option;
    EXPECT_THAT(done.err, testing::AllOf(HasSubstr("no such folder"), HasSubstr("/no/such/folder")));
  }
  EXPECT_EQ(run({"sial", "check", program, "--sial-dir", "/no/such/folder"}).code, 4);
  for (const char* command : {"run", "list"}) {
    EXPECT_THAT(run({"sial", command, "/tmp"}).err, HasSubstr("this is a folder, not a program")) << command;
    EXPECT_THAT(run({"sial", command, "nosuch"}).err, HasSubstr("there is no such program file")) << command;
  }
}

TEST(trees, are_drawn_in_forms_that_there_are) {
  expect_usage({"stream", "--size", "8", "--tree", "tree.bmp"}, {"--tree", "tree.bmp", ".svg"});
}

TEST(tiles, that_are_too_many_are_told_without_an_option_that_was_not_given) {
  const outcome done = run({"gemm", "--n", "1048576"});
  EXPECT_EQ(done.code, 2);
  EXPECT_THAT(done.err, testing::AllOf(HasSubstr("more than 1024 tiles of 512"), Not(HasSubstr("at: --tile"))));
}

TEST(new_plugins, have_names_that_are_no_options) {
  for (const char* name : {"-", "--", "--help", "-x"}) {
    const outcome done = run({"plugins", "new", "--language", "c", "--directory", "/no/such/folder/x", "--", name});
    EXPECT_THAT(done.err, HasSubstr("no name of a plugin")) << name;
  }
}

TEST(checks_of_plugins, refuse_what_has_no_meaning) {
  const std::string sim = TESSERA_PLUGIN_DIR "/tessera_sim.so";
  const std::vector<std::string> check{"plugins", "check", sim, "--only", "lifecycle.devices_keep_their_descriptions"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), check.begin(), check.end());
    return more;
  };
  for (const char* file : {"/no/such/file", "/tmp"}) {
    const outcome done = run(with({"--known-failures", file}));
    EXPECT_EQ(done.code, 4) << done.err;
    EXPECT_THAT(done.err, HasSubstr(file));
  }
  const std::filesystem::path wrong = std::filesystem::path(testing::TempDir()) / "tessera_known_failures";
  std::ofstream(wrong) << "no.such_check 2030-01-01 reason\n";
  EXPECT_EQ(run(with({"--known-failures", wrong})).code, 4);
  std::filesystem::remove(wrong);
  expect_usage(with({"--option", "device[7].memory=64 MiB"}), {"no such entry", "device[7]"});
  EXPECT_EQ(run(with({"--option", "device[0].memory=64 MiB"})).code, 0);
  const outcome arguments = run(with({"--arguments", "nosuch=00"}));
  EXPECT_EQ(arguments.code, 5);
  EXPECT_THAT(arguments.err, HasSubstr("nosuch"));
  expect_usage({"plugins", "check", "--list", "--only", "nosuch"}, {"no check 'nosuch'"});
  expect_usage({"plugins", "check", "nofile", "--list"}, {"--list opens no plugin"});
  EXPECT_EQ(run({"plugins", "check", "--list", "--only", "copies.every_pair"}).out, "copies.every_pair\n");
}

TEST(checks_of_plugins, tell_on_standard_error_what_failed) {
  const outcome done = run({"plugins", "check", "nofile"});
  EXPECT_EQ(done.code, 5);
  EXPECT_THAT(done.err, testing::AllOf(HasSubstr("error: "), HasSubstr("load"), HasSubstr("nofile")));
}

TEST(plugins_named_twice, by_name_and_by_path_are_an_error) {
  const std::string sim = TESSERA_PLUGIN_DIR "/tessera_sim.so";
  for (const std::string& list : {"host, sim, " + sim, "host, " + sim + ", sim"}) {
    const outcome done = run({"topology", "--set", "runtime.plugins=" + list});
    EXPECT_EQ(done.code, 3) << done.err;
    EXPECT_THAT(done.err, testing::AllOf(HasSubstr("\"sim\" twice"), HasSubstr(sim)));
  }
}

}  // namespace
}  // namespace cli_test
