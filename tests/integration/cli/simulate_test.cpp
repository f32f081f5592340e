// tessera simulate as a user sees it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/integration/cli/program.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace {

using namespace cli_test;
using testing::AllOf;
using testing::HasSubstr;

std::vector<std::string> simulate(const std::string& machine, std::vector<std::string> more) {
  std::vector<std::string> words{"simulate", source("configs/machines/" + machine + ".toml")};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(simulate, both_jobs_on_every_machine) {
  for (const std::string machine : {"node_8gpu", "many_cores", "two_cores"})
    for (const std::string job : {"cholesky", "gemm"})
      for (const std::string placement : {"locality", "cost"}) {
        const outcome done = run(
            simulate(machine, {"--job", job, "--n", "4000", "--tile", "300", "--placement", placement, "--json", "-"}));
        ASSERT_EQ(done.code, 0) << machine << job << done.err;
        const auto figures = json_of(done.out);
        EXPECT_GE(figures["seconds"].get<double>(), figures["bound_seconds"].get<double>())
            << machine << job << placement;
        EXPECT_GT(figures["bound_seconds"].get<double>(), 0);
        std::uint64_t tasks = 0;
        for (const auto& place : figures["places"]) tasks += place["tasks"].get<std::uint64_t>();
        EXPECT_EQ(tasks, figures["tasks"].get<std::uint64_t>()) << machine << job << placement;
      }
}

TEST(simulate, two_runs_agree) {
  const auto once = [] {
    auto figures = json_of(run(simulate("node_8gpu", {"--job", "cholesky", "--n", "20000", "--tile", "1000",
                                                      "--placement", "cost", "--json", "-"}))
                               .out);
    for (const char* own : {"wall_seconds", "processor_seconds", "model_seconds", "metering_seconds",
                            "overhead_seconds_per_task", "peak_resident_bytes", "bytes_per_block"})
      figures.erase(own);
    return figures;
  };
  EXPECT_EQ(once(), once());
}

TEST(simulate, more_than_a_device_holds) {
  // One device: products of 432 tiles of 2 MiB, of which it holds 30, or all.
  const plugin_test::folder place;
  std::string machine = contents(source("configs/machines/node_8gpu.toml"));
  const auto replace = [&](const std::string& what, const std::string& by) {
    const auto at = machine.find(what);
    ASSERT_NE(at, machine.npos) << what;
    machine.replace(at, what.size(), by);
  };
  replace("count = 8", "count = 1");
  const std::string large = place.write("large.toml", machine);
  replace("\"80 GB\"", "\"64 MB\"");
  const std::string small = place.write("small.toml", machine);
  const auto figures_of = [](const std::string& file, const std::string& eviction) {
    const outcome done = run({"simulate", file, "--job", "gemm", "--n", "6144", "--tile", "512", "--eviction", eviction,
                              "--placement", "cost", "--json", "-"});
    EXPECT_EQ(done.code, 0) << done.err;
    return json_of(done.out);
  };
  const auto number = [](const nlohmann::json& figures, const char* key) {
    return figures.at(key).get<std::uint64_t>();
  };
  const auto at_ease = figures_of(large, "next_use");
  EXPECT_EQ(number(at_ease, "evicted_dropped") + number(at_ease, "evicted_written_back"), 0u);
  std::map<std::string, std::uint64_t> bytes;
  for (const std::string eviction : {"next_use", "lru", "fifo"}) {
    const auto figures = figures_of(small, eviction);
    EXPECT_EQ(figures.at("eviction"), eviction);
    std::uint64_t arrived = 0;
    for (const auto& link : figures.at("links"))
      if (link.at("from") == "host") arrived += number(link, "copies");
    EXPECT_GT(arrived, 432u) << eviction << ": some came again";
    EXPECT_GE(number(figures, "evicted_dropped") + number(figures, "evicted_written_back") + 30, arrived)
        << eviction << ": no more than it holds";
    EXPECT_GT(figures.at("seconds").get<double>(), at_ease.at("seconds").get<double>()) << eviction;
    bytes[eviction] = number(figures, "bytes_transferred");
  }
  // Time is virtual: the figures are the same in every run. The order of the policies is what they are for.
  EXPECT_LT(number(at_ease, "bytes_transferred"), bytes["next_use"]);
  EXPECT_LT(bytes["next_use"], bytes["lru"]);
  EXPECT_LT(bytes["lru"], bytes["fifo"]);
}

TEST(simulate, traces_are_in_virtual_time) {
  const plugin_test::folder place;
  const std::string trace = (place.path() / "run.json").string(), page = (place.path() / "run.html").string();
  const outcome done = run(simulate("node_8gpu", {"--job", "cholesky", "--n", "8192", "--tile", "1024", "--trace",
                                                  trace, "--report", page, "--json", "-"}));
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(contents(page), HasSubstr("tessera simulate cholesky"));
  const outcome summary = run({"trace", "summary", trace, "--json", "-"});
  ASSERT_EQ(summary.code, 0) << summary.err;
  // The trace has the filling of the matrix before the job as well.
  EXPECT_GE(json_of(summary.out)["seconds"].get<double>(), 0.999 * json_of(done.out)["seconds"].get<double>());
}

TEST(simulate, recorded_runs_on_other_numbers_of_cores) {
  const std::string file = testing::TempDir() + "simulate_from_" + std::to_string(getpid()) + ".json";
  ASSERT_EQ(run({"cholesky", "--n", "400", "--tile", "50", "--quiet", "--trace", file}).code, 0);
  const outcome done = run({"simulate", "--from", file, "--cores", "1,2,64", "--json", "-"});
  ASSERT_EQ(done.code, 0) << done.err;
  const auto figures = json_of(done.out);
  ASSERT_EQ(figures["predictions"].size(), 3u);
  const auto seconds = [&](std::size_t k) { return figures["predictions"][k]["seconds"].get<double>(); };
  EXPECT_GE(seconds(0), seconds(1));
  EXPECT_GE(seconds(1), seconds(2));
  EXPECT_GE(seconds(2), figures["path_seconds"].get<double>() * 0.999);
  EXPECT_THAT(run({"simulate", "--from", file}).out, HasSubstr("times as fast"));
  EXPECT_EQ(run({"simulate", "--from", file, "--job", "gemm"}).code, 2);
  EXPECT_EQ(run({"simulate", "--from", file, "--cores", "0"}).code, 2);
  const std::vector<std::vector<std::string>> decided = {{"--config", source("configs/sim_two.toml")},
                                                         {"--set", "runtime.placement=eager"},
                                                         {"--placement", "eager"},
                                                         {"--eviction", "lru"},
                                                         {"--workers", "2"},
                                                         {"--learnt"},
                                                         {"--tile", "8"},
                                                         {"--type", "f32"},
                                                         {"--trace", file + ".trace"},
                                                         {"--report", file + ".html"},
                                                         {"--stats"}};
  for (const auto& option : decided) {
    std::vector<std::string> words = {"simulate", "--from", file};
    words.insert(words.end(), option.begin(), option.end());
    const outcome refused = run(words);
    EXPECT_EQ(refused.code, 2) << option[0];
    EXPECT_THAT(refused.err, testing::AllOf(HasSubstr(option[0]), HasSubstr("recorded run"))) << option[0];
  }
  EXPECT_EQ(run({"simulate", "--cores", "2"}).code, 2);
  EXPECT_EQ(run({"simulate", "--from", source("README.md")}).code, 4);
  std::filesystem::remove(file);
}

TEST(simulate, wrong_input_has_its_place) {
  const plugin_test::folder place;
  const std::string bad =
      place.write("bad.toml", "[host]\ncores = 2\npeak_f64 = \"fast\"\nmemory_bandwidth = \"10 GB/s\"\n");
  const struct {
    std::vector<std::string> words;
    int code;
    std::string message;
  } cases[] = {
      {{"simulate"}, 2, "MACHINE"},
      {simulate("two_cores", {"--n", "100"}), 2, "--job"},
      {simulate("two_cores", {"--job", "lu", "--n", "100"}), 2, "lu"},
      {simulate("two_cores", {"--job", "gemm", "--n", "0"}), 2, "--n"},
      {simulate("two_cores", {"--job", "gemm", "--n", "100000", "--tile", "10"}), 2, "--tile"},
      {simulate("two_cores", {"--job", "gemm", "--n", "100", "--workers", "3"}), 3, "has 2 cores"},
      {simulate("two_cores", {"--job", "gemm", "--n", "100000"}), 7, "choose a smaller problem"},
      {simulate("two_cores", {"--job", "gemm", "--n", "100", "--learnt", "--set",
                              "runtime.history=" + (place.path() / "none.json").string()}),
       4, "nothing was learnt"},
      {{"simulate", "nowhere.toml", "--job", "gemm", "--n", "100"}, 3, "nowhere.toml"},
      {{"simulate", bad, "--job", "gemm", "--n", "100"}, 3, "bad.toml:3:1"},
  };
  for (const auto& c : cases) {
    const outcome done = run(c.words);
    EXPECT_EQ(done.code, c.code) << c.message << "\n" << done.err;
    EXPECT_THAT(done.err, AllOf(HasSubstr("error: "), HasSubstr(c.message)));
  }
}

TEST(simulate, learnt_times_are_used) {
  const plugin_test::folder place;
  const std::string kept = "runtime.history=" + (place.path() / "learnt.json").string();
  ASSERT_EQ(
      run({"gemm", "--n", "512", "--tile", "128", "--set", "runtime.placement=cost", "--set", kept, "--quiet"}).code,
      0);
  const auto history = json_of(run({"history", "--set", kept, "--json", "-"}).out);
  double gemm = 0;  // of a tile
  for (const auto& size : history["sizes"])
    if (size["operation"] == "gemm" && size["type"] == "f64")
      gemm = size["seconds"].get<double>() / size["amount"].get<double>() * 2 * 128 * 128 * 128;
  ASSERT_GT(gemm, 0) << "one place is enough to learn";
  const outcome done = run(simulate("two_cores", {"--job", "gemm", "--n", "512", "--tile", "128", "--workers", "1",
                                                  "--learnt", "--set", kept, "--json", "-"}));
  ASSERT_EQ(done.code, 0) << done.err;
  const auto figures = json_of(done.out);
  EXPECT_TRUE(figures["learnt_times"].get<bool>());
  // 64 products one after the other; per task 200 ns of submission and 300 ns of the runtime; what was measured has the
  // call in it.
  EXPECT_NEAR(figures["seconds"].get<double>(), 64 * (gemm + 0.5e-6), 64 * 0.1e-6);
}

}  // namespace
