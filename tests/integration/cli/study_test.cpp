// tessera study as a user sees it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/integration/cli/program.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace {

using namespace cli_test;
using testing::AllOf;
using testing::HasSubstr;

std::vector<std::string> study(std::vector<std::string> words, const std::vector<std::string>& application) {
  words.insert(words.begin(), "study");
  words.emplace_back("--");
  words.insert(words.end(), application.begin(), application.end());
  return words;
}
const std::vector<std::string> two_places{
    "--config", source("configs/cuda_emulated.toml"), "--rows", "20", "--size", "5000", "--workers", "2"};

TEST(study, of_shares_measures_every_point_and_draws_it) {
  const plugin_test::folder files;
  const std::string svg = files.path() / "study.svg", html = files.path() / "study.html";
  const outcome done = run(study({"percentage", "--app", "pathfinder", "--step", "50", "--repeat", "2", "--json", "-",
                                  "--svg", svg, "--html", html, "--compare", "static,any"},
                                 two_places));
  ASSERT_EQ(done.code, 0) << done.err;
  const nlohmann::json seen = json_of(done.out);
  std::vector<std::string> points, policies;
  for (const auto& p : seen["points"]) {
    points.push_back(p["label"]);
    EXPECT_EQ(p["seconds"].size(), 2u);
    EXPECT_GT(p["fastest_seconds"], 0);
    EXPECT_LE(p["fastest_seconds"], p["median_seconds"]);
    EXPECT_LE(p["median_seconds"], p["slowest_seconds"]);
  }
  for (const auto& p : seen["policies"]) policies.push_back(p["label"]);
  EXPECT_THAT(points, testing::ElementsAre("50,50,0", "25,25,50", "0,0,100"));
  EXPECT_THAT(policies, testing::ElementsAre("static", "any"));
  EXPECT_THAT(points, testing::Contains(seen["best"].get<std::string>()));
  EXPECT_THAT(contents(svg), AllOf(HasSubstr("<svg"), HasSubstr("pathfinder: time over the share of")));
  EXPECT_THAT(contents(html), AllOf(HasSubstr("<svg"), HasSubstr("<td>25,25,50</td>"),
                                    HasSubstr("--step 50 --repeat 2 --compare static,any -- --config")));
}

TEST(study, of_scaling_has_a_point_for_each_number) {
  const outcome leaves =
      run(study({"scaling", "--app", "pathfinder", "--by", "leaves", "--repeat", "1", "--json", "-"}, two_places));
  ASSERT_EQ(leaves.code, 0) << leaves.err;
  EXPECT_EQ(json_of(leaves.out)["points"].size(), 3u);
  const outcome workers = run(study({"scaling", "--app", "nn", "--repeat", "1"}, {"--size", "1000"}));
  ASSERT_EQ(workers.code, 0) << workers.err;
  EXPECT_THAT(workers.out, AllOf(HasSubstr("nn: time over the number of workers"), HasSubstr("1 worker")));
}

TEST(study, says_what_is_wrong) {
  const auto refused = [](const std::vector<std::string>& words, const std::vector<std::string>& application) {
    const outcome done = run(study(words, application));
    EXPECT_EQ(done.code, 2) << done.err;
    return done.err;
  };
  EXPECT_THAT(refused({"percentage", "--app", "pathfindr"}, {}), HasSubstr("did you mean 'pathfinder'?"));
  EXPECT_THAT(refused({"percentage", "--app", "cholesky"}, {"--n", "64"}),
              HasSubstr("there is no application over regions 'cholesky'"));
  EXPECT_THAT(refused({"percentage", "--app", "nn"}, {"--size", "100", "--at", "core0"}), HasSubstr("one leaf"));
  EXPECT_THAT(refused({"percentage", "--app", "pathfinder", "--leaf", "mars"}, two_places),
              AllOf(HasSubstr("no leaf 'mars'"), HasSubstr("cuda_emulated0")));
  EXPECT_THAT(refused({"percentage", "--app", "pathfinder", "--from", "60", "--to", "40"}, two_places),
              HasSubstr("no sweep"));
  EXPECT_THAT(refused({"scaling", "--app", "nn", "--svg", "/no/such/folder/x.svg"}, {"--size", "100"}),
              HasSubstr("/no/such/folder"));
  EXPECT_THAT(refused({"percentage"}, {}), HasSubstr("--app"));
  EXPECT_THAT(refused({"everything", "--app", "nn"}, {}), HasSubstr("tessera study --help"));
}

}  // namespace
