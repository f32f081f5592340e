// Blocks that come and go one by one: their memory, and what still uses them.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>

#include "machines.hpp"

namespace tessera {
namespace {

std::uint64_t used_bytes(runtime& rt) {
  std::uint64_t bytes = 0;
  for (const auto& [name, is] : rt.statistics().spaces) bytes += is.used_bytes;
  return bytes;
}

class block_groups : public ::testing::TestWithParam<unsigned> {};  // workers

TEST_P(block_groups, give_memory_back_at_once_where_nobody_uses_it) {
  runtime rt(testing::host_only(GetParam()));
  block_group<double> group(rt, "g", {1});
  for (int k = 0; k < 100; ++k) {
    const block_of<double> b = group.make(shape{1000}, 0);
    EXPECT_EQ(b.bytes(), 8000u);
    b.write()[999] = k;
    EXPECT_EQ(b.read()[999], k);
    EXPECT_GE(used_bytes(rt), 8000u);
    group.destroy(b);
    EXPECT_EQ(used_bytes(rt), 0u) << "without a fence";
  }
}

TEST_P(block_groups, a_block_lasts_as_long_as_its_tasks) {
  runtime rt(testing::host_only(GetParam()));
  block_group<double> group(rt, "g", {1});
  auto sum = rt.make_array<double>("sum", {1}, {1});
  fill(rt, sum(0), 0.0);
  rt.fence();
  const std::uint64_t before = used_bytes(rt);
  for (int k = 1; k <= 50; ++k) {
    const block_of<double> b = group.make(shape{100}, 0);
    rt.submit(
        "write", [k](view<double> x) { std::fill(x.begin(), x.end(), k); }, write(b));
    rt.submit(
        "add", [](view<const double> x, view<double> to) { to[0] += x[99]; }, read(b), update(sum(0)));
    group.destroy(b);
  }
  EXPECT_EQ(sum(0).read()[0], 50 * 51 / 2);
  rt.fence();
  EXPECT_EQ(used_bytes(rt), before) << "the sum alone";
}

TEST_P(block_groups, a_block_lasts_as_long_as_its_views) {
  runtime rt(testing::host_only(GetParam()));
  block_group<double> group(rt, "g", {1});
  const block_of<double> b = group.make(shape{1000}, 0);
  b.write()[0] = 7;
  std::optional<host_view<const double>> seen(b.read());
  group.destroy(b);
  EXPECT_GE(used_bytes(rt), 8000u);
  EXPECT_EQ((*seen)[0], 7);
  seen.reset();
  rt.fence();
  EXPECT_EQ(used_bytes(rt), 0u);
}

TEST_P(block_groups, a_block_may_end_with_the_task_that_has_it) {
  // What a function captures goes when its task is retired, on whatever thread that is.
  struct owner {
    block_group<double>& group;
    block_of<double> b;
    ~owner() { group.destroy(b); }
  };
  runtime rt(testing::host_only(GetParam()));
  block_group<double> group(rt, "g", {1});
  auto done = rt.make_array<std::int64_t>("done", {1}, {1});
  fill(rt, done(0), std::int64_t{0});
  rt.fence();
  const std::uint64_t before = used_bytes(rt);
  for (int k = 0; k < 200; ++k) {
    auto mine = std::make_shared<owner>(group, group.make(shape{100}, 0));
    mine->b.write()[0] = 1;
    rt.submit(
        "count", [mine](view<const double> x, view<std::int64_t> to) { to[0] += static_cast<std::int64_t>(x[0]); },
        read(mine->b), update(done(0)));
  }
  EXPECT_EQ(done(0).read()[0], 200);
  rt.fence();
  EXPECT_EQ(used_bytes(rt), before);
}

TEST_P(block_groups, views_do_not_pass_by_tasks_that_wait) {
  runtime rt(testing::host_only(GetParam()));
  block_group<double> group(rt, "g", {1});
  const block_of<double> b = group.make(shape{1}, 0);
  b.write()[0] = 1;
  auto other = rt.make_array<double>("other", {1}, {1});
  // The other workers have a task each that does not end: the thread that takes views is the only one that can run
  // anything.
  std::atomic<unsigned> held{0};
  std::atomic<bool> open{false}, ran{false};
  for (unsigned k = 1; k < GetParam(); ++k)
    rt.submit("held", [&] {
      ++held;
      open.wait(false);
    });
  while (held + 1 < GetParam()) std::this_thread::yield();
  rt.submit(
      "elsewhere",
      [&](view<double> x) {
        x[0] = 2;
        ran = true;
      },
      write(other(0)));
  for (int turns = 0; turns < 10'000 && !ran; ++turns) EXPECT_EQ(b.read()[0], 1);
  EXPECT_TRUE(ran) << "while views were taken";
  open = true;
  open.notify_all();
  rt.fence();
  EXPECT_EQ(other(0).read()[0], 2);
  group.destroy(b);
}

TEST_P(block_groups, several_threads_make_and_end_blocks) {
  runtime rt(testing::host_only(GetParam()));
  block_group<double> group(rt, "g", {1});
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int who = 0; who < 3; ++who)
    threads.emplace_back([&, who] {
      std::vector<block_of<double>> mine;
      for (int k = 0; k < 300; ++k) {
        mine.push_back(group.make(shape{1 + (k * 7 + who) % 50}, 0));
        mine.back().write()[0] = k;
        if (k % 3 == 2) {
          wrong += mine.front().read()[0] > k;
          group.destroy(mine.front());
          mine.erase(mine.begin());
        }
      }
      for (const block_of<double> b : mine) group.destroy(b);
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  rt.fence();
  EXPECT_EQ(used_bytes(rt), 0u);
}

INSTANTIATE_TEST_SUITE_P(workers, block_groups, ::testing::Values(1u, 2u, 3u));

}  // namespace
}  // namespace tessera
