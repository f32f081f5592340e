// Ctrl-C: the program ends in time, says so, and leaves nothing behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "tests/integration/cli/program.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace {

using namespace cli_test;
using testing::HasSubstr;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// A run that would take hours.
std::vector<std::string> long_run(const std::string& config, const fs::path& json) {
  return {"cholesky", "--n", "600", "--tile", "60", "--repeat", "1000000", "--config", source("configs/" + config + ".toml"), "--json", json};
}

class interrupt : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(configs, interrupt, testing::Values("host", "sim_two"), [](const auto& test) { return test.param; });

TEST_P(interrupt, ends_the_run_in_time_and_leaves_nothing_behind) {
  for (const int number : {SIGINT, SIGTERM}) {
    const plugin_test::folder place;
    const fs::path json = place.path() / "figures.json";
    program running(long_run(GetParam(), json));
    ASSERT_TRUE(running.work_for(500ms)) << running.wait().err;
    const auto sent = std::chrono::steady_clock::now();
    running.signal(number);
    const outcome done = running.wait(30s);
    EXPECT_LT(std::chrono::steady_clock::now() - sent, 15s);
    EXPECT_EQ(done.code, 130) << done.err;
    EXPECT_THAT(done.err, HasSubstr("stopped by Ctrl-C"));
    EXPECT_EQ(done.out, "") << "no report of a run that was not done";
    EXPECT_FALSE(fs::exists(json)) << "no half-written figures";
    EXPECT_FALSE(running.anything_left());
  }
}

TEST(interrupts, comes_at_any_time) {
  // From before the program has begun until it works: never a crash, never a wrong code. Before the program watches for
  // the signal, the system ends it.
  for (const auto after : {0ms, 5ms, 10ms, 20ms, 40ms, 80ms}) {
    const plugin_test::folder place;
    program running(long_run("host", place.path() / "figures.json"));
    if (after > 0ms) {
      ASSERT_TRUE(running.work_for(after));
    }
    running.signal(SIGINT);
    const outcome done = running.wait(30s);
    EXPECT_TRUE(done.code == 130 || done.code == 1000 + SIGINT) << done.code << " after " << after.count() << " ms\n" << done.err;
    EXPECT_FALSE(running.anything_left());
  }
}

TEST(interrupts, twice_ends_at_once) {
  const plugin_test::folder place;
  program running(long_run("sim_two", place.path() / "figures.json"));
  ASSERT_TRUE(running.work_for(500ms));
  running.signal(SIGINT);
  running.signal(SIGTERM);
  const outcome done = running.wait(10s);
  EXPECT_TRUE(done.code == 130 || done.code == 128 + SIGTERM) << done.code;
  EXPECT_FALSE(running.anything_left());
}

}  // namespace
