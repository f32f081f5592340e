// Ctrl-C: the program ends in time, says so, and leaves nothing behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "apps/common/interrupt.hpp"
#include "tests/integration/cli/program.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace {

using namespace cli_test;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// A process that ends at once joins none of its threads, and the thread sanitizer calls those that had ended leaks: of
/// a program that is to end so, all else is told.
std::vector<std::string> ends_at_once() {
  const char* const options = std::getenv("TSAN_OPTIONS");
  return {std::string("TSAN_OPTIONS=") + (options == nullptr ? "" : options) + ":report_thread_leaks=0"};
}

/// A run that would take hours.
std::vector<std::string> long_run(const std::string& config, const fs::path& json) {
  return {"cholesky", "--n",      "600",
          "--tile",   "60",       "--repeat",
          "1000000",  "--config", source("configs/" + config + ".toml"),
          "--json",   json};
}

class interrupt : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(configs, interrupt, testing::Values("host", "sim_two"),
                         [](const auto& test) { return test.param; });

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
    EXPECT_THAT(done.err, AllOf(HasSubstr("interrupted: "), HasSubstr("press Ctrl-C again to end now"),
                                HasSubstr("stopped by Ctrl-C")));
    EXPECT_THAT(done.err, Not(HasSubstr("submitted at"))) << "no task is the cause";
    EXPECT_THAT(done.err, Not(HasSubstr("hint:"))) << "there is nothing to do";
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
    EXPECT_TRUE(done.code == 130 || done.code == 1000 + SIGINT) << done.code << " after " << after.count() << " ms\n"
                                                                << done.err;
    EXPECT_FALSE(running.anything_left());
  }
}

/// A run whose device never ends its work: its configuration, and the arguments.
std::vector<std::string> hanging_run(const plugin_test::folder& place) {
  const std::string config = (place.path() / "hang.toml").string();
  std::ofstream(config) << "[runtime]\nplugins = [\"host\", \"sim\"]\nplacement = "
                           "\"eager\"\n[[plugin.sim.inject]]\nkind = \"hang\"\non = \"kernel\"\n";
  return {"gemm", "--n", "256", "--tile", "32", "--config", config};
}

TEST(interrupts, while_a_stream_hangs_are_answered_and_end_by_themselves_or_at_the_second_one) {
  const plugin_test::folder place;
  program once(hanging_run(place), ends_at_once()), twice(hanging_run(place), ends_at_once());
  for (program* running : {&once, &twice}) {
    ASSERT_TRUE(running->says(" of 512 tasks ("))
        << running->wait(1s).err;  // after ten seconds, for a hundredth of that in work
    running->signal(SIGINT);
    ASSERT_TRUE(running->says("press Ctrl-C again to end now"));
  }
  twice.signal(SIGINT);
  const outcome at_once = twice.wait(60s), after_grace = once.wait(60s);
  EXPECT_EQ(at_once.code, 130) << at_once.err;
  EXPECT_THAT(at_once.err, Not(HasSubstr("something is still running")));
  EXPECT_EQ(after_grace.code, 130) << after_grace.err;
  EXPECT_THAT(after_grace.err, HasSubstr("something is still running and does not end"));
  EXPECT_FALSE(once.anything_left() || twice.anything_left());
}

TEST(interrupts, are_bounded_when_what_they_call_hangs) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const tessera::apps::interrupt_watch watch(
            [] {
              for (;;) pause();
            },
            50ms);
        kill(getpid(), SIGTERM);
        for (;;) pause();
      },
      testing::ExitedWithCode(130), "interrupted: ending, within 50 ms.*(\n|.)*does not end");
}

TEST(interrupts, twice_ends_at_once) {
  const plugin_test::folder place;
  program running(long_run("sim_two", place.path() / "figures.json"), ends_at_once());
  ASSERT_TRUE(running.work_for(500ms));
  running.signal(SIGINT);
  running.signal(SIGTERM);
  const outcome done = running.wait(10s);
  EXPECT_EQ(done.code, 130) << done.err;
  EXPECT_FALSE(running.anything_left());
}

/// The file of a run is changed and read again by SIGHUP; one that is wrong changes nothing; without one the run ends.
TEST(hang_up, reads_the_tree_of_locations_again) {
  const auto start = 1500ms;  // of processor time: under a sanitizer most of it goes before the tree is there
  const plugin_test::folder place;
  const fs::path file = place.path() / "tree.toml";
  const std::string types =
      "[runtime]\nplugins = [\"host\"]\n[topology]\nsynthetic = \"core:2 pu:1\"\n[[loctype]]\nname = \"one\"\nkind = "
      "\"cpu\"\ncores = 1\n[[location]]\nname = [\"LocH\", \"LocI\"]\ntype = \"one\"\n";
  const auto write = [&](const std::string& text) { std::ofstream(file) << text; };
  const std::vector<std::string> command{"stream", "--size", "10000000", "--rounds", "2000"};
  const auto with_file = [&] {
    std::vector<std::string> all = command;
    all.insert(all.end(), {"--config", file});
    return all;
  };
  write(types);
  program running(with_file());
  ASSERT_TRUE(running.work_for(start)) << running.wait().err;
  write(types +
        "[[location]]\nname = \"Both\"\ntype = \"virtual\"\n[[hierarchy]]\nparent = \"Both\"\nchildren = "
        "[\"LocH\"]\n");
  running.signal(SIGHUP);
  EXPECT_TRUE(running.says("note: the tree of locations is that of " + file.string() + " now"));
  write(types + "[[hierarchy]]\nparent = \"LocH\"\nchildren = [\"LocX\"]\n");
  running.signal(SIGHUP);
  EXPECT_TRUE(running.says("note: the tree of locations is as it was: there is no location 'LocX'"));
  running.signal(SIGINT);
  EXPECT_EQ(running.wait(60s).code, 130);

  program without(command);
  ASSERT_TRUE(without.work_for(start)) << without.wait().err;
  without.signal(SIGHUP);
  const outcome ended = without.wait(60s);
  EXPECT_EQ(ended.code, 130) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("interrupted: "));
}

}  // namespace
