#include <gtest/gtest.h>

#include "tests/unit/trace/synthetic.hpp"

namespace {

using namespace trace_test;

const task& of_site(const timeline& t, const std::string& site) {
  for (const task& one : t.tasks)
    if (t.sites[one.site] == site) return one;
  ADD_FAILURE() << site;
  return t.tasks.front();
}

TEST(build, host_tasks_wait_for_dependencies_then_for_a_worker) {
  recording r = host();
  r.threads[0].events = {submitted(1, 1000, 0, {}, 1), submitted(2, 1100, 1, {1}, 2), ran(1, 1300, 2300),
                         ran(2, 2500, 2600)};
  const timeline t = build(r);
  EXPECT_EQ(t.length, 1600);  // from 1000 to 2600
  ASSERT_EQ(t.tasks.size(), 2u);
  const task &a = of_site(t, "program.cpp:1"), &b = of_site(t, "program.cpp:2");
  EXPECT_EQ(t.operations[a.operation], "a");
  EXPECT_EQ(a.submitted, 0);
  EXPECT_EQ(a.started, 300);
  EXPECT_EQ(a.ended, 1300);
  EXPECT_EQ(a.waited.worker, 300);
  EXPECT_EQ(a.waited.total(), 300);
  EXPECT_EQ(b.waited.dependency, 1200);  // 1100 to 2300
  EXPECT_EQ(b.waited.worker, 200);
  EXPECT_EQ(b.waited.total(), b.started - b.submitted);
  ASSERT_EQ(b.predecessor_count, 1u);
  EXPECT_EQ(&t.tasks[t.predecessors[b.first_predecessor]], &a);
}

TEST(build, parked_tasks_wait_for_data_and_memory) {
  recording r = host();
  r.threads[0].events = {submitted(1, 100, 0), parked(1, 200, parked_for_memory), resumed(1, 500),
                         parked(1, 600, parked_for_data)};
  r.threads[1].events = {resumed(1, 900), ran(1, 1000, 1100)};
  const timeline t = build(r);
  ASSERT_EQ(t.tasks.size(), 1u);
  EXPECT_EQ(t.tasks[0].waited.dependency, 0);
  EXPECT_EQ(t.tasks[0].waited.memory, 300);
  EXPECT_EQ(t.tasks[0].waited.data, 300);
  EXPECT_EQ(t.tasks[0].waited.worker, 100 + 100 + 100);
  EXPECT_EQ(t.tracks[t.tasks[0].track].name, "worker 1");
}

TEST(build, tasks_of_one_launch_share_its_time) {
  recording r = with_device();
  // Three tasks of one launch, enqueued at 250, behind one that ends at 700; the second waits for a copy until 900.
  r.threads[0].events = {submitted(1, 100, 0, {}, 1), submitted(2, 110, 0, {}, 2), submitted(3, 120, 0, {}, 3),
                         submitted(4, 130, 0, {}, 4), submitted(5, 140, 0, {}, 5)};
  r.threads[2].events = {copied(0, 1, 200, 900, 1400, point_of(6, 1)),
                         enqueued(1, 200, 700, point_of(5, 1)),
                         waits(3, point_of(6, 1)),
                         enqueued(2, 250, 1500, point_of(5, 2)),
                         enqueued(3, 250, 1510, point_of(5, 2)),
                         enqueued(4, 250, 1520, point_of(5, 2)),
                         enqueued(5, 300, 1600, point_of(5, 3))};
  const timeline t = build(r);
  ASSERT_EQ(t.tasks.size(), 5u);
  const auto at = [&](const char* line) { return of_site(t, line); };
  EXPECT_EQ(at("program.cpp:2").started, 800);  // 900, counted from 100
  EXPECT_EQ(at("program.cpp:2").ended, 800 + 206);
  EXPECT_EQ(at("program.cpp:3").started, 800 + 206);
  EXPECT_EQ(at("program.cpp:4").started, 800 + 413);
  EXPECT_EQ(at("program.cpp:4").ended, 1420);
  EXPECT_EQ(at("program.cpp:5").started, 1420);
  EXPECT_EQ(at("program.cpp:5").ended, 1500);
}

TEST(build, device_tasks_start_when_their_stream_and_their_data_allow) {
  recording r = with_device();
  // A copy from 200 to 900; task 1 was enqueued at 250 behind it; task 2 on the same stream.
  r.threads[0].events = {submitted(1, 100, 0, {}, 1), submitted(2, 110, 0, {}, 2)};
  r.threads[2].events = {copied(0, 1, 200, 900, 1400, point_of(6, 1)), waits(1, point_of(6, 1)),
                         enqueued(1, 250, 1500, point_of(5, 1)), enqueued(2, 300, 1800, point_of(5, 2))};
  const timeline t = build(r);
  ASSERT_EQ(t.tasks.size(), 2u);
  const task &a = of_site(t, "program.cpp:1"), &b = of_site(t, "program.cpp:2");
  EXPECT_EQ(a.started, 800);  // 900, counted from 100
  EXPECT_EQ(a.ended, 1400);
  EXPECT_EQ(a.waited.data, 900 - 250);
  EXPECT_EQ(a.waited.worker, 150);
  EXPECT_EQ(b.started, 1400);  // behind task 1
  EXPECT_EQ(b.waited.data, 0);
  EXPECT_EQ(b.waited.worker, b.started - b.submitted);
  EXPECT_EQ(t.tracks[a.track].name, "sim0 compute 0");
  EXPECT_EQ(t.tracks[a.track].kind, track_kind::stream);
  ASSERT_EQ(t.transfers.size(), 1u);
  EXPECT_EQ(t.tracks[t.transfers[0].track].name, "host:numa0 -> sim0:memory");
}

TEST(build, copies_of_one_stream_follow_each_other) {
  recording r = with_device();
  r.threads[2].events = {copied(0, 1, 100, 500, 8, point_of(6, 1)), copied(0, 1, 110, 900, 8, point_of(6, 2), true)};
  const timeline t = build(r);
  ASSERT_EQ(t.transfers.size(), 2u);
  EXPECT_EQ(t.transfers[1].issued, 10);
  EXPECT_EQ(t.transfers[1].started, 400);
  EXPECT_EQ(t.transfers[1].ended, 800);
  EXPECT_TRUE(t.transfers[1].write_back);
}

TEST(build, copies_begin_behind_what_they_wait_for) {
  recording r = with_device();
  r.threads[0].events = {submitted(1, 100, 0)};
  event back = copied(1, 0, 150, 2000, 8, point_of(7, 1));
  back.words[3] = point_of(5, 1);  // the result of task 1
  r.threads[2].events = {enqueued(1, 110, 1500, point_of(5, 1)), back};
  const timeline t = build(r);
  ASSERT_EQ(t.transfers.size(), 1u);
  EXPECT_EQ(t.transfers[0].issued, 50);
  EXPECT_EQ(t.transfers[0].started, 1400);
}

TEST(build, many_predecessors_and_unknown_ones) {
  recording r = host();
  auto& events = r.threads[0].events;
  for (std::uint64_t k = 1; k <= 6; ++k)
    events.push_back(submitted(k, 10 * k, 0)), events.push_back(ran(k, 1000 * k, 1000 * k + 500));
  events.push_back(submitted(7, 100, 1, {1, 2, 3, 777}));  // 777: submitted before the tracer was there
  event more{event_kind::predecessors};
  more.task = 7, more.count = 4, more.words = {4, 5, 6, 6, 0};
  events.push_back(more);
  events.push_back(ran(7, 9000, 9500));
  const timeline t = build(r);
  ASSERT_EQ(t.tasks.size(), 7u);
  EXPECT_EQ(t.tasks[6].predecessor_count, 6u);
  EXPECT_EQ(t.tasks[6].waited.dependency, 6500 - 100);
}

TEST(build, views_overlap_and_get_rows_of_their_own) {
  recording r = host();
  r.threads[0].events = {submitted(1, 100, 2), submitted(2, 110, 2),       submitted(3, 120, 0),
                         ran(3, 300, 400),     ran(1, 200, 500, run_view), ran(2, 250, 600, run_view)};
  const timeline t = build(r);
  ASSERT_EQ(t.tasks.size(), 3u);
  EXPECT_EQ(t.tracks[t.tasks[0].track].name, "worker 0: views");
  EXPECT_NE(t.tasks[0].track, t.tasks[1].track);
  EXPECT_EQ(t.tracks[t.tasks[2].track].name, "worker 0");
}

TEST(build, tasks_that_never_ran_are_counted) {
  recording r = host();
  r.threads[0].events = {submitted(1, 100, 0), submitted(2, 110, 0, {1}), ran(1, 200, 300)};
  const timeline t = build(r);
  EXPECT_EQ(t.tasks.size(), 1u);
  EXPECT_EQ(t.unfinished, 1u);
}

TEST(build, an_empty_recording_is_an_empty_timeline) {
  const timeline t = build(recording{});
  EXPECT_EQ(t.length, 0);
  EXPECT_TRUE(t.tasks.empty());
  const summary s = summarize(t);
  EXPECT_TRUE(s.critical_path.empty());
  EXPECT_FALSE(to_text(t, s).empty());
}

TEST(build, memory_is_counted_from_the_first_event) {
  recording r = with_device();
  r.threads[0].events = {in_use(1, 50, 100), submitted(1, 100, 0), in_use(1, 150, 300), ran(1, 200, 300),
                         in_use(1, 250, 200)};
  const timeline t = build(r);
  ASSERT_EQ(t.spaces[1].samples.size(), 3u);
  EXPECT_EQ(t.spaces[1].samples[0].time, 0);  // before the first task
  EXPECT_EQ(t.spaces[1].samples[1].time, 50);
  EXPECT_EQ(summarize(t).spaces[1].peak, 300u);
}

}  // namespace
