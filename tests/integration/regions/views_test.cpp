// Views of arrays that several threads hold, and replays between them.
// The parameters of a body have the names of the arrays that they stand for.
#pragma GCC diagnostic ignored "-Wshadow"
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "tessera/region.hpp"
#include "tests/integration/runtime/machines.hpp"
#include "tests/support/error_of.hpp"

namespace tessera {
namespace {

using test_support::error_of;

struct region_views : ::testing::Test {
  runtime rt{testing::host_only(2)};
  location_model model{rt};
  array<std::int64_t> x = model.make_array<std::int64_t>("x", {200});  ///< x[i] = i

  region_views() {
    model.region("fill", {.policy = policy::flatten}, iterate(0, 200), write(x), [](auto i, auto x) { x[i] = i; });
    model.fence();
  }
};

TEST_F(region_views, that_read_do_not_wait_for_those_of_other_threads) {
  std::optional mine(x.rows(0, 100).read());
  std::promise<void> held, look;
  auto other = std::async(std::launch::async, [&, go = look.get_future()] {
    const auto upper = x.rows(100, 200).read();
    const auto both = x.rows(50, 150).read();
    held.set_value();
    go.wait();
    return both[60] + upper[199];
  });
  if (held.get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready)  // at once, or never
    EXPECT_EQ(x.rows(0, 100).read()[99] + x.rows(120, 150).read()[120], 219);
  else
    ADD_FAILURE() << "a view that reads waits for another one";
  mine.reset();
  look.set_value();
  EXPECT_EQ(other.get(), 259);
}

/// Another thread wants to write, and waits for the first view; so would a second one.
TEST_F(region_views, are_refused_that_wait_for_a_thread_which_waits_for_theirs) {
  std::optional mine(x.rows(0, 100).read());
  const std::uint64_t before = rt.tasks_submitted();
  std::thread other([&] { x.rows(20, 30).update()[25] = -1; });
  while (rt.tasks_submitted() == before) std::this_thread::yield();  // it has the array locked until it waits
  for (const auto& [begin, end] : {std::pair(20, 30), std::pair(0, 10)}) {
    const error e = error_of([&] { (void)x.rows(begin, end).read(); });
    EXPECT_EQ(e.kind(), error_kind::usage);
    EXPECT_NE(std::string(e.what()).find("view of another thread, which waits for the first"), std::string::npos)
        << e.what();
  }
  EXPECT_EQ(x.rows(150, 160).read()[155], 155);
  mine.reset();
  other.join();
  EXPECT_EQ(x.rows(20, 30).read()[25], -1);
}

TEST_F(region_views, know_of_replays) {
  auto y = model.make_array<std::int64_t>("y", {200});
  const auto add = [&] { model.region("write", iterate(0, 200), update(x), [](auto i, auto x) { x[i] += i; }); };
  const auto copy = [&] {
    model.region("read", iterate(0, 200), read(x), write(y), [](auto i, auto x, auto y) { y[i] = x[i]; });
  };
  add();
  copy();
  recording writes = rt.record(add), reads = rt.record(copy);
  {
    const auto first = x.rows(0, 50).read();
    rt.replay(reads);
    EXPECT_EQ(x.rows(0, 50).read()[49], 98);
    rt.replay(writes);
    const error e = error_of([&] { (void)x.rows(0, 50).read(); });
    EXPECT_NE(std::string(e.what()).find("for a region that was submitted since"), std::string::npos) << e.what();
  }
  EXPECT_EQ(x.rows(0, 50).read()[49], 147);
}

/// A region waits for a view of another array, and has read this one.
TEST_F(region_views, that_read_do_not_wait_for_regions_that_read) {
  auto y = model.make_array<std::int64_t>("y", {200});
  const std::int64_t seen = [&] {
    const auto held = y.read();
    model.region("both", {.policy = policy::range({3, 197})}, iterate(0, 200), read(x), write(y),
                 [](auto i, auto x, auto y) { y[i] = x[i]; });
    model.region("read", {.policy = policy::range({70, 130})}, iterate(0, 200), read(x), [](auto, auto) {});
    return x.rows(40, 60).read()[59] + held[59];
  }();
  EXPECT_EQ(seen, 59);
  EXPECT_EQ(y.read()[199], 199);
}

/// Where the region writes what the view is to show, there is nothing else to do; whatever other threads do meanwhile.
TEST_F(region_views, that_wait_for_a_region_which_waits_for_this_thread_are_refused) {
  auto y = model.make_array<std::int64_t>("y", {200});
  std::optional held(y.rows(0, 100).read());
  model.region("both", iterate(0, 200), read(x), write(y), [](auto i, auto x, auto y) { y[i] = x[i]; });
  model.region("back", iterate(0, 200), read(y), update(x), [](auto i, auto y, auto x) { x[i] += y[i]; });
  std::promise<void> end;
  std::thread elsewhere([go = end.get_future()] { go.wait(); }), pauses([&] { model.fence(); });
  const error e = error_of([&] { (void)x.rows(10, 20).read(); });
  EXPECT_EQ(e.kind(), error_kind::usage);
  EXPECT_NE(std::string(e.what()).find("this thread waits for itself"), std::string::npos) << e.what();
  EXPECT_NE(std::string(e.what()).find("hint:"), std::string::npos) << e.what();
  held.reset();
  pauses.join();
  end.set_value();
  elsewhere.join();
  EXPECT_EQ(x.rows(10, 20).read()[19], 38);
}

/// A replay that came between the blocks of a view would wait for the first ones, and the view for the replay; one that
/// came between the tasks of a region would be seen by some of them.
TEST_F(region_views, of_many_blocks_come_before_or_behind_a_replay_of_another_thread) {
  array<std::int64_t> y = model.make_array<std::int64_t>("y", {200});
  for (int row = 0; row < 200; ++row) x.rows(row, row + 1).update();  // a block of its own
  recording adds =
      rt.record([&] { model.region("add", iterate(0, 200), update(x), [](auto i, auto x) { x[i] += 1; }); });
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) rt.replay(adds);
  });
  const auto is_whole = [](const auto& seen) {  // all rows have as many replays
    for (int i = 0; i < 200; ++i)
      if (seen[i] - i != seen[0]) return false;
    return true;
  };
  bool whole = true;
  std::string why;
  try {
    for (int k = 0; k < 400 && whole; ++k) {
      model.region("copy", iterate(0, 200), read(x), write(y), [](auto i, auto x, auto y) { y[i] = x[i]; });
      whole = is_whole(y.read()) && is_whole(x.read());
    }
  } catch (const error& e) {
    why = e.what();
  }
  stop = true;
  other.join();
  EXPECT_EQ(why, "");
  EXPECT_TRUE(whole) << "a region or a view has half of a replay";
}

}  // namespace
}  // namespace tessera
