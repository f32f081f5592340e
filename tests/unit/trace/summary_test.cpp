#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "core/base/error.hpp"
#include "tests/unit/trace/synthetic.hpp"

namespace {

using namespace trace_test;

/// Tasks by (operation, thread, submitted, start, end, predecessors).
timeline two_chains() {
  recording r = host();
  r.threads[0].events = {submitted(1, 0, 0), submitted(2, 0, 0, {1}), submitted(3, 0, 1), submitted(4, 0, 1, {2, 3}),
                         ran(1, 100, 200),   ran(2, 200, 300),        ran(4, 900, 1000),  fenced(10, 1000)};
  r.threads[1].events = {ran(3, 100, 900)};
  return build(r);
}

TEST(summary, sums_over_operations_workers_and_waits) {
  const timeline t = two_chains();
  const summary s = summarize(t);
  EXPECT_EQ(s.tasks, 4u);
  EXPECT_EQ(s.length, 1000);
  ASSERT_EQ(s.operations.size(), 2u);
  EXPECT_EQ(t.operations[s.operations[0].operation], "b");  // most time first
  EXPECT_EQ(s.operations[0].time, 900);
  EXPECT_EQ(s.operations[0].longest, 800);
  EXPECT_EQ(s.operations[1].tasks, 2u);
  waiting sum;
  for (const auto& o : s.operations) sum += o.waited;
  EXPECT_EQ(sum.total(), s.waited.total());
  EXPECT_EQ(s.waited.dependency, 200 + 900);
  EXPECT_EQ(s.waited.worker, 100 + 100);
  EXPECT_EQ(s.tracks[0].busy, 300);
  EXPECT_EQ(s.tracks[1].busy, 800);
}

TEST(summary, the_critical_path_is_the_longest_chain) {
  const timeline t = two_chains();
  const summary s = summarize(t);
  EXPECT_THAT(s.critical_path, testing::ElementsAre(2u, 3u));  // task 3 (800) before task 4 (100)
  EXPECT_EQ(s.critical_time, 900);
}

TEST(summary, links_count_overlapping_copies_once) {
  recording r = with_device();
  r.threads[2].events = {copied(0, 1, 100, 600, 1000, point_of(6, 1)), copied(0, 1, 300, 1100, 1000, point_of(6, 2)),
                         copied(1, 0, 2000, 2500, 400, point_of(7, 1), true)};
  const timeline t = build(r);
  const summary s = summarize(t);
  ASSERT_EQ(s.links.size(), 2u);
  EXPECT_EQ(s.links[0].transfers, 2u);
  EXPECT_EQ(s.links[0].bytes, 2000u);
  EXPECT_EQ(s.links[0].busy, 1000);
  EXPECT_DOUBLE_EQ(s.links[0].achieved, 2e9);
  EXPECT_DOUBLE_EQ(s.links[0].nominal, 2e9);
  EXPECT_EQ(s.links[1].write_backs, 1u);
  EXPECT_EQ(s.bytes, 2400u);
}

TEST(summary, dependencies_in_a_circle_are_refused) {
  timeline t = two_chains();
  t.predecessors = {1, 0};
  for (std::size_t k = 0; k < 4; ++k) t.tasks[k].predecessor_count = 0;
  t.tasks[0].first_predecessor = 0, t.tasks[0].predecessor_count = 1;
  t.tasks[1].first_predecessor = 1, t.tasks[1].predecessor_count = 1;
  EXPECT_THROW(summarize(t), tessera::error);
}

TEST(summary, text_and_json_have_the_figures) {
  const timeline t = two_chains();
  const summary s = summarize(t);
  const std::string text = to_text(t, s), json = to_json(t, s);
  EXPECT_THAT(text, testing::HasSubstr("4 tasks in 1 us"));
  EXPECT_THAT(text, testing::HasSubstr("Critical path: 2 tasks, 900 ns, 90 % of the run"));
  EXPECT_THAT(json, testing::HasSubstr("\"what_if\""));
  EXPECT_THAT(json, testing::HasSubstr("program.cpp:10"));
}

TEST(what_if, the_model_repeats_a_simple_run_exactly) {
  const timeline t = two_chains();
  // Both first tasks could have started at once: the recorded 100 before them is nobody's wait but the workers'.
  EXPECT_EQ(replay(t, {}), 1000);
  EXPECT_EQ(replay(t, {.unlimited_workers = true}), 900);
}

TEST(what_if, a_thread_goes_on_while_it_holds_a_view) {
  recording r = host();
  r.threads[0].events = {submitted(1, 0, 2),   ran(1, 0, 1000, run_view),  submitted(2, 100, 0),
                         submitted(3, 210, 2), ran(3, 210, 220, run_view), submitted(4, 300, 0)};
  r.threads[1].events = {ran(2, 100, 200), ran(4, 300, 400)};
  EXPECT_EQ(replay(build(r), {}), 1000);
}

TEST(what_if, workers_bound_independent_tasks) {
  recording r = host();
  for (std::uint64_t k = 0; k < 8; ++k) {
    r.threads[0].events.push_back(submitted(k + 1, 0, 0));
    r.threads[k % 2].events.push_back(ran(k + 1, 100 * (k / 2), 100 * (k / 2) + 100));
  }
  const timeline t = build(r);
  EXPECT_EQ(replay(t, {}), 400);
  EXPECT_EQ(replay(t, {.unlimited_workers = true}), 100);
  EXPECT_EQ(replay(t, {.infinite_link = true}), 400);
}

TEST(what_if, waits_for_data_and_memory_vanish_when_assumed_away) {
  recording r = host();
  r.threads[0].events = {submitted(1, 0, 0), parked(1, 0, parked_for_memory),
                         resumed(1, 300),    parked(1, 300, parked_for_data),
                         resumed(1, 700),    ran(1, 700, 800)};
  const timeline t = build(r);
  EXPECT_EQ(replay(t, {}), 800);
  EXPECT_EQ(replay(t, {.infinite_link = true}), 400);
  EXPECT_EQ(replay(t, {.infinite_memory = true}), 500);
  EXPECT_EQ(replay(t, {.infinite_link = true, .infinite_memory = true}), 100);
}

TEST(what_if, a_late_start_without_a_reason_stays_while_workers_are_bounded) {
  recording r = host();
  r.threads[0].events = {submitted(1, 0, 0), submitted(2, 0, 0), ran(1, 40, 140)};
  r.threads[1].events = {parked(2, 0, parked_for_data), resumed(2, 50), ran(2, 80, 200)};
  const timeline t = build(r);
  EXPECT_EQ(replay(t, {}), 200) << "50 for its data, 30 late";
  EXPECT_EQ(replay(t, {.infinite_link = true}), 150);
  EXPECT_EQ(replay(t, {.unlimited_workers = true}), 170);
}

TEST(what_if, fences_keep_phases_apart) {
  recording r = host();
  // Two phases of two tasks each; the second is submitted after the fence, 50 later.
  r.threads[0].events = {submitted(1, 0, 0), submitted(2, 0, 0),   ran(1, 0, 100),       ran(2, 100, 200),
                         fenced(0, 200),     submitted(3, 250, 0), submitted(4, 250, 0), ran(3, 250, 350),
                         ran(4, 350, 450),   fenced(260, 450)};
  const timeline t = build(r);
  EXPECT_EQ(replay(t, {.unlimited_workers = true}), 100 + 50 + 100);
}

TEST(what_if, bounds_hold_for_random_graphs) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  SCOPED_TRACE("seed " + std::to_string(seed));
  for (int round = 0; round < 50; ++round) {
    recording r = host();
    const std::uint64_t tasks = 1 + random() % 60;
    std::vector<std::uint64_t> ends(tasks + 1, 0);
    std::uint64_t free[2] = {0, 0}, work = 0;
    for (std::uint64_t k = 1; k <= tasks; ++k) {
      event e = submitted(k, k, 0);
      std::uint64_t ready = k;
      for (int p = 0; p < 3 && k > 1; ++p) {
        const std::uint64_t before = 1 + random() % (k - 1);
        e.words[1u + e.count++] = before;
        ready = std::max(ready, ends[before]);
      }
      r.threads[0].events.push_back(e);
      const int worker = free[0] <= free[1] ? 0 : 1;
      const std::uint64_t start = std::max(free[worker], ready), length = 1000 + random() % 1000;
      free[worker] = ends[k] = start + length;
      work += length;
      r.threads[static_cast<std::size_t>(worker)].events.push_back(ran(k, start, ends[k]));
    }
    const timeline t = build(r);
    const summary s = summarize(t);
    const nanoseconds as_recorded = replay(t, {}), unlimited = replay(t, {.unlimited_workers = true});
    EXPECT_GE(unlimited, s.critical_time);
    EXPECT_LE(unlimited, s.critical_time + static_cast<nanoseconds>(tasks));  // but for the pace of submission
    EXPECT_GE(as_recorded, std::max(s.critical_time, static_cast<nanoseconds>(work / 2)));
    EXPECT_LE(as_recorded, static_cast<nanoseconds>(work / 2) + s.critical_time +
                               static_cast<nanoseconds>(tasks));  // Graham's bound
    for (const task& one : t.tasks) EXPECT_EQ(one.waited.total(), one.started - one.submitted);
  }
}

}  // namespace
