// Results that cannot be written: an error with its code, no part of a file, and an older file stays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "tests/integration/cli/program.hpp"
#include "tests/support/slow_down.hpp"

namespace cli_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr int output_code = 11;

outcome run_with(start how, std::vector<std::string> arguments) {
  return program(std::move(arguments), {}, how).wait();
}

TEST(output, that_standard_output_does_not_take_is_an_error) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"config", "explain"},
           {"config", "explain", "--json", "-"},
           {"gemm", "--n", "256"},
           {"gemm", "--n", "64", "--json", "-"},
           {"gemm", "--n", "64", "--quiet", "--stats"},
           {"topology"},
           {"plugins"},
           {"plugins", "explain", "sim"},
           {"history"},
           {"simulate", source("configs/machines/two_cores.toml"), "--job", "gemm", "--n", "512"},
           {"version"},
           {"--version"},
           {"--help"}}) {
    const outcome done = run_with({.out = "/dev/full"}, arguments);
    EXPECT_EQ(done.code, output_code) << arguments.front() << "\n" << done.err;
    EXPECT_THAT(done.err, HasSubstr("standard output")) << arguments.front();
  }
}

TEST(output, to_closed_descriptors_is_an_error_and_goes_into_no_other_file) {
  const std::vector<std::string> small{"eigs", "--generate", "lap2d:12", "--pairs", "1"};
  for (const std::vector<int>& closed : std::vector<std::vector<int>>{{1}, {1, 2}, {0, 1, 2}})
    for (const std::vector<std::string>& arguments : {std::vector<std::string>{"version"}, small})
      EXPECT_EQ(run_with({.closed = closed}, arguments).code, output_code) << testing::PrintToString(closed);
  const outcome told = run_with({.closed = {1}}, small);
  EXPECT_THAT(told.err, HasSubstr("cannot write: Bad file descriptor"));
  std::vector<std::string> guessed = small;
  guessed.insert(guessed.end(), {"--guess", "/no/such/file"});
  EXPECT_EQ(run_with({.closed = {1, 2}}, guessed).code, 4);
  EXPECT_EQ(run_with({.closed = {0, 2}}, {"version"}).code, 0);
  EXPECT_EQ(run_with({.closed = {2}}, {"gemm", "--n", "8", "--json", "/no/such/folder/file"}).code, 2);
}

TEST(output, files_are_written_where_the_text_is_not) {
  const fs::path folder = fs::path(testing::TempDir()) / "tessera_files_first_test";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const std::string json = folder / "all.json", trace = folder / "trace.json", page = folder / "page.html",
                    tree = folder / "tree.txt";
  ASSERT_EQ(run({"gemm", "--n", "8", "--quiet", "--trace", trace}).code, 0);
  for (const start& how : {start{.out = "/dev/full"}, start{.closed = {1}}})
    for (std::vector<std::string> arguments : std::vector<std::vector<std::string>>{
             {"eigs", "--generate", "lap2d:12", "--pairs", "1", "--report", page},
             {"stream", "--size", "64", "--rounds", "1", "--tree", tree, "--report", page},
             {"hotspot", "--size", "16", "--rounds", "1", "--tree", tree, "--report", page},
             {"trace", "summary", trace, "--report", page},
             {"trace", "compare", trace, trace},
             {"trace", "graph", trace, "--dot", "-"},
             {"simulate", "--from", trace},
             {"simulate", source("configs/machines/two_cores.toml"), "--job", "gemm", "--n", "512", "--report", page},
             {"plugins"},
             {"plugins", "layouts"},
             {"plugins", "check", "--list"},
             {"config", "explain"},
             {"history"},
             {"apps"},
             {"sial", "check", source("tests/integration/sial/programs/imports.sialx")}}) {
      arguments.insert(arguments.end(), {"--json", json});
      EXPECT_EQ(run_with(how, arguments).code, output_code) << testing::PrintToString(arguments);
      EXPECT_FALSE(contents(json).empty()) << testing::PrintToString(arguments);
      for (const std::string& file : {page, tree})
        EXPECT_EQ(std::ranges::count(arguments, file) == 0, contents(file).empty())
            << testing::PrintToString(arguments);
      for (const std::string& file : {json, page, tree}) fs::remove(file);
    }
  std::vector<std::string> full{"gemm", "--n", "8", "--json", "/dev/full", "--report", page};
  const outcome other = run(full);  // one that cannot be written does not keep the others from it
  EXPECT_EQ(other.code, output_code);
  EXPECT_FALSE(contents(page).empty());
  EXPECT_THAT(other.out, HasSubstr("GFLOP"));
  fs::remove_all(folder);
}

TEST(output, a_file_on_a_full_disk_is_an_error) {
  const outcome done = run({"gemm", "--n", "64", "--quiet", "--json", "/dev/full"});
  EXPECT_EQ(done.code, output_code);
  EXPECT_THAT(done.err, HasSubstr("/dev/full"));
  EXPECT_THAT(done.err, HasSubstr("hint: make room"));
}

TEST(output, an_older_file_stays_when_the_new_one_does_not_fit) {
  const fs::path folder = fs::path(testing::TempDir()) / "tessera_output_test";
  for (const char* option : {"--json", "--trace", "--report"}) {
    fs::remove_all(folder);
    fs::create_directories(folder);
    const fs::path file = folder / "result";
    std::ofstream(file) << "older";
    const outcome done =
        run_with({.file_limit = 1024}, {"gemm", "--n", "256", "--tile", "32", "--quiet", option, file.string()});
    EXPECT_EQ(done.code, output_code) << option << "\n" << done.err;
    EXPECT_THAT(done.err, HasSubstr(file.string())) << option;
    EXPECT_EQ(contents(file), "older") << option;
    EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1)
        << option << ": a part is left";
    EXPECT_EQ(run({"gemm", "--n", "256", "--tile", "32", "--quiet", option, file.string()}).code, 0);
    EXPECT_GT(contents(file).size(), 1024u) << option;
  }
  fs::remove_all(folder);
}

TEST(output, does_not_go_over_an_input_or_another_output) {
  const fs::path folder = fs::path(testing::TempDir()) / "tessera_files_apart_test";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const std::string matrix = folder / "a.mtx", link = folder / "link.mtx", fresh = folder / "fresh";
  const std::string text = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 2\n";
  std::ofstream(matrix) << text;
  fs::create_symlink(matrix, link);
  const auto expect_refused = [&](std::vector<std::string> arguments, const char* one, const char* other) {
    const outcome done = run(arguments);
    EXPECT_EQ(done.code, 2) << done.err;
    EXPECT_THAT(done.err, testing::AllOf(HasSubstr(one), HasSubstr(other), HasSubstr("a file of its own")));
    EXPECT_EQ(contents(matrix), text);
    EXPECT_FALSE(fs::exists(fresh));
  };
  const std::vector<std::string> pairs{"eigs", matrix, "--pairs", "1"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), pairs.begin(), pairs.end());
    return more;
  };
  expect_refused(with({"--out", matrix}), "--out would write over the file", "argument 'matrix' reads");
  expect_refused(with({"--out", link}), "--out", "argument 'matrix' reads");
  expect_refused(with({"--guess", link, "--json", folder / "." / "a.mtx"}), "--json", "reads");
  expect_refused(with({"--out", fresh, "--json", fresh}), "--out", "--json");
  expect_refused(with({"--out", fresh, "--report", folder / "." / "fresh"}), "--out", "--report");
  expect_refused({"gemm", "--n", "8", "--json", fresh, "--trace", fresh}, "--json", "--trace");
  expect_refused({"cholesky", "--matrix", matrix, "--report", link}, "--report", "--matrix reads");
  const outcome both = run({"gemm", "--n", "8", "--json", "/dev/null", "--trace", "/dev/null", "--quiet"});
  EXPECT_EQ(both.code, 0) << both.err;
  fs::remove_all(folder);
}

/// All matches of two groups; an absent second one is "".
std::vector<std::pair<std::string, std::string>> matches(const std::string& text, const std::regex& of) {
  std::vector<std::pair<std::string, std::string>> found;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), of); at != std::sregex_iterator(); ++at)
    found.emplace_back((*at)[1], at->size() > 2 ? (*at)[2].str() : std::string());
  return found;
}

/// What a command takes for an option that it must have.
std::string of_required(const std::string& option) {
  return option == "--app" ? "stream" : option == "--job" ? "gemm" : "8";
}

/// Checks all options of a command and of those below it that take a FILE, each with its text once: the program knows
/// those as written whose text says "write" or "draw".
void expect_known_files(const std::vector<std::string>& words, std::set<std::pair<std::string, std::string>>& seen) {
  static const std::regex file("\n  (--[a-z-]+|[A-Za-z]+) FILE(?: [^\n ]+)* *(?:  |\n)  +([^\n]+)"),
      command("\n  ([a-z]+)  +[A-Z]"), argument("\n  ([A-Za-z]+) FILE"), required("\n  (--[a-z-]+) [^\n]* REQUIRED"),
      says_written("\\b(write|draw)\\b");
  std::vector<std::string> help = words;
  help.emplace_back("--help");
  const std::string text = run(help).out;
  const auto part = [&](const char* title) {
    const std::size_t begin = text.find(title);
    return begin == text.npos ? std::string() : text.substr(begin, text.find("\n\n", begin) - begin);
  };
  for (const auto& [name, none] : matches(part("\nSubcommands:"), command)) {
    std::vector<std::string> inner = words;
    inner.push_back(name);
    expect_known_files(inner, seen);
  }
  for (const auto& [name, what] : matches(text, file)) {
    if (name == "--json" || !seen.emplace(name, what).second) continue;
    std::vector<std::string> line = words;
    if (name != "--from")  // which stands instead of them
      for (const auto& [other, none] : matches(part("\nPositionals:"), argument))
        line.emplace_back(other == name ? "one_file" : "other_file");
    for (const auto& [other, none] : matches(text, required)) line.insert(line.end(), {other, of_required(other)});
    if (words == std::vector<std::string>{"cholesky"} && name != "--matrix")  // which needs a matrix or a size
      line.insert(line.end(), {"--matrix", "other_file"});
    for (const auto& [other, none] : matches(text, std::regex("\n  " + name + " [^\n]*Needs: (--[a-z-]+)")))
      line.push_back(other);  // a flag
    if (name.starts_with("--")) line.insert(line.end(), {name, "one_file"});
    line.insert(line.end(), {"--json", "one_file"});
    const outcome done = run(line);
    const std::string title = name.starts_with("--") ? name : "the argument '" + name + "'";
    const bool written = std::regex_search(what, says_written);
    EXPECT_EQ(done.code, 2) << testing::PrintToString(line);
    EXPECT_THAT(done.err, HasSubstr(written ? "would both write one file" : "would write over the file that " + title))
        << testing::PrintToString(line) << ": " << what;
    EXPECT_THAT(done.err, HasSubstr(name)) << testing::PrintToString(line);
  }
}

TEST(output, knows_of_all_options_which_files_they_write) {
  if (tessera::testing::is_slow) GTEST_SKIP() << "the texts of all commands are those of release";
  std::set<std::pair<std::string, std::string>> seen;
  expect_known_files({}, seen);
  for (const char* name : {"--trace", "--dump-final", "--tree", "--svg", "--out", "matrix", "to", "--records"})
    EXPECT_TRUE(std::ranges::any_of(seen, [&](const auto& one) { return one.first == name; })) << name;
}

}  // namespace
}  // namespace cli_test
