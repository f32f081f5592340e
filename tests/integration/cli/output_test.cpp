// Results that cannot be written: an error with its code, no part of a file, and an older file stays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/integration/cli/program.hpp"

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
  expect_refused(with({"--out", matrix}), "--out would write over the file", "matrix reads");
  expect_refused(with({"--out", link}), "--out", "matrix reads");
  expect_refused(with({"--guess", link, "--json", folder / "." / "a.mtx"}), "--json", "reads");
  expect_refused(with({"--out", fresh, "--json", fresh}), "--out", "--json");
  expect_refused(with({"--out", fresh, "--report", folder / "." / "fresh"}), "--out", "--report");
  expect_refused({"gemm", "--n", "8", "--json", fresh, "--trace", fresh}, "--json", "--trace");
  expect_refused({"cholesky", "--matrix", matrix, "--report", link}, "--report", "--matrix reads");
  const outcome both = run({"gemm", "--n", "8", "--json", "/dev/null", "--trace", "/dev/null", "--quiet"});
  EXPECT_EQ(both.code, 0) << both.err;
  fs::remove_all(folder);
}

}  // namespace
}  // namespace cli_test
