// Why tasks waited for slabs, why workers were idle, and what a front end did in place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "core/trace/chrome.hpp"
#include "core/trace/compare.hpp"
#include "core/trace/dot.hpp"
#include "core/trace/intervals.hpp"
#include "core/trace/report.hpp"
#include "tests/unit/trace/synthetic.hpp"

namespace {

using namespace trace_test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(intervals, overlaps_count_once) {
  interval_sets all;
  for (const auto& [begin, end] : {std::pair{10, 20}, {15, 30}, {50, 60}, {60, 70}, {80, 80}}) all.add(1, begin, end);
  all.settle();
  EXPECT_EQ(all.overlap(1, 0, 100), 40);
  EXPECT_EQ(all.overlap(1, 12, 55), 18 + 5);
  EXPECT_EQ(all.overlap(1, 30, 50), 0);
  EXPECT_EQ(all.overlap(1, 55, 55), 0);
  EXPECT_EQ(all.overlap(0, 0, 100), 0);
  EXPECT_EQ(all.overlap(7, 0, 100), 0);
}

TEST(waits, for_a_slab_are_no_waits_for_a_worker) {
  recording r = host();
  r.threads[0].events = {submitted(1, 100, 0), slab_asked(0, 200, 700, 64), ran(1, 800, 900)};
  const timeline t = build(r);
  ASSERT_EQ(t.tasks.size(), 1u);
  EXPECT_EQ(t.tasks[0].waited.slab, 500);
  EXPECT_EQ(t.tasks[0].waited.worker, 100 + 100);
  EXPECT_EQ(t.tasks[0].waited.total(), 700);
}

TEST(idle, has_one_cause_at_each_moment) {
  recording r = with_device();
  // Worker 0 runs a task from 100 to 300; worker 1 and the stream of the device have nothing.
  // From 300 to 500 the second task waits for its data on the device; it runs from 500 to 600.
  r.threads[0].events = {submitted(1, 0, 0, {}, 1), submitted(2, 0, 1, {1}, 2), ran(1, 100, 300)};
  r.threads[2].events = {copied(0, 1, 300, 500, 100, point_of(6, 1)), waits(2, point_of(6, 1)),
                         enqueued(2, 300, 600, point_of(5, 1))};
  const timeline t = build(r);
  const summary s = summarize(t);
  ASSERT_EQ(s.tracks.size(), 3u);
  const auto row = [&](const std::string& name) {
    for (const track_summary& one : s.tracks)
      if (t.tracks[one.track].name == name) return one;
    ADD_FAILURE() << name;
    return s.tracks.front();
  };
  const track_summary worker = row("worker 1"), stream = row("sim0 compute 0");
  EXPECT_EQ(worker.idle.runtime, 100);  // task 1 was ready at its place until 100
  EXPECT_EQ(worker.idle.nothing_ready, 200);
  EXPECT_EQ(worker.idle.nothing_submitted, 300);
  EXPECT_EQ(stream.idle.nothing_ready, 300);
  EXPECT_EQ(stream.idle.data, 200);
  EXPECT_EQ(stream.idle.runtime, 0);
  for (const track_summary& one : s.tracks) EXPECT_EQ(one.busy + one.idle.total(), s.length) << one.track;
}

TEST(idle, every_cause_stands_in_every_form) {
  const timeline t = build(with_device());
  summary s = summarize(t);
  nanoseconds ms = 0, sum = 0;
  for (const idle_cause& c : idle_causes) s.tracks.back().idle.*c.part = ++ms * 1'000'000, sum += ms * 1'000'000;
  EXPECT_EQ(s.tracks.back().idle.total(), sum);
  idle_time twice = s.tracks.back().idle;
  twice += twice;
  EXPECT_EQ(twice.total(), 2 * sum);
  std::ostringstream page;
  write_report(page, t, s);
  const std::string text = to_text(t, s);
  const nlohmann::json json = nlohmann::json::parse(to_json(t, s))["workers"].back()["idle"];
  const std::string compared = compare_text({"a", t, s}, {"b", t, s});
  const nlohmann::json seconds = nlohmann::json::parse(compare_json({"a", t, s}, {"b", t, s}))["seconds"];
  EXPECT_EQ(json.size(), idle_causes.size());
  for (const idle_cause& c : idle_causes) {
    const auto had = s.tracks.back().idle.*c.part;
    EXPECT_THAT(text, HasSubstr(c.heading));
    EXPECT_THAT(text, HasSubstr(std::to_string(had / 1'000'000) + " ms"));
    EXPECT_DOUBLE_EQ(json.at(c.key).get<double>(), static_cast<double>(had) * 1e-9);
    EXPECT_DOUBLE_EQ(seconds.at("idle, " + std::string(c.heading)).at(1).get<double>(),
                     static_cast<double>(had) * 1e-9);
    EXPECT_THAT(compared, HasSubstr("idle, " + std::string(c.heading)));
    EXPECT_THAT(page.str(), HasSubstr("\"" + std::string(c.heading) + "\""));
    EXPECT_THAT(page.str(), HasSubstr(std::to_string(had)));
  }
}

/// Two workers of a front end: two steps each, a barrier between.
recording interpreted() {
  recording r = host();
  r.block_names = {"contract", "put", "mp2.sialx"};
  r.threads.push_back({"SIAL worker 0", thread_role::interpreter, 0, {}});
  r.threads.push_back({"SIAL worker 1", thread_role::interpreter, 0, {}});
  r.threads[2].events = {stepped(0, 2, 7, 100, 400), at_barrier(400, 600), stepped(1, 2, 9, 600, 700)};
  r.threads[3].events = {stepped(0, 2, 7, 100, 590), at_barrier(590, 601), stepped(1, 2, 9, 610, 720)};
  return r;
}

TEST(steps, of_a_front_end_are_bars_of_its_rows) {
  const timeline t = build(interpreted());
  ASSERT_EQ(t.tasks.size(), 4u);
  EXPECT_EQ(t.operations[t.tasks[0].operation], "contract");
  EXPECT_EQ(t.sites[t.tasks[0].site], "mp2.sialx:7");
  EXPECT_EQ(t.tracks[t.tasks[0].track].kind, track_kind::interpreter);
  EXPECT_EQ(t.waits.size(), 2u);
  EXPECT_TRUE(t.waits[0].barrier);
  const summary s = summarize(t);
  EXPECT_EQ(s.tasks, 4u);
  // The longest chain goes through the slower worker, and over the barrier.
  EXPECT_EQ(s.critical_time, 490 + 110);
  for (const auto& p : s.what_if) EXPECT_NEAR(static_cast<double>(p.length), 620.0, 130.0) << p.name;
}

TEST(idle, at_a_barrier_is_a_cause_of_its_own) {
  const summary s = summarize(build(interpreted()));
  ASSERT_EQ(s.tracks.size(), 4u);
  EXPECT_EQ(s.tracks[2].idle.barrier, 200);
  EXPECT_EQ(s.tracks[3].idle.barrier, 11);
  EXPECT_EQ(s.tracks[3].idle.nothing_submitted, 9);
  EXPECT_EQ(s.tracks[0].idle.barrier, 0);
  for (const track_summary& one : s.tracks) EXPECT_EQ(one.busy + one.idle.total(), s.length) << one.track;
}

TEST(steps, of_a_second_program_go_on_in_the_same_rows) {
  recording r = interpreted();
  r.threads.push_back({"SIAL worker 0", thread_role::interpreter, 0, {stepped(0, 2, 3, 800, 900)}});
  const timeline t = build(r);
  EXPECT_EQ(std::ranges::count(t.tracks, track_kind::interpreter, &track::kind), 2);
  EXPECT_EQ(t.tasks.size(), 5u);
}

TEST(steps, come_back_from_a_file) {
  const timeline t = build(interpreted());
  std::stringstream file;
  write_chrome(file, t);
  const timeline back = read_chrome(file, "run.json");
  EXPECT_EQ(to_text(back, summarize(back)), to_text(t, summarize(t)));
  EXPECT_EQ(back.waits.size(), t.waits.size());
  EXPECT_EQ(back.tracks[back.tasks[0].track].kind, track_kind::interpreter);
}

TEST(views, of_one_thread_have_three_rows_at_most) {
  recording r = host();
  for (std::uint64_t k = 1; k <= 20; ++k) {
    r.threads[0].events.push_back(submitted(k, 10 * k, 2));
    r.threads[0].events.push_back(ran(k, 10 * k + 5, 1000, run_view));
  }
  const timeline t = build(r);
  EXPECT_EQ(t.tasks.size(), 20u);
  EXPECT_LE(t.tracks.size(), 2u + 3u);
  EXPECT_EQ(t.waits.size(), 20u);  // the thread that asked for them waited
  EXPECT_FALSE(t.waits[0].barrier);
}

TEST(graph, has_tasks_edges_and_the_critical_path) {
  recording r = host();
  r.threads[0].events = {submitted(1, 0, 0, {}, 1), submitted(2, 0, 1, {1}, 2), ran(1, 100, 200), ran(2, 200, 300)};
  timeline t = build(r);
  t.title = "a \"quoted\" title";
  std::ostringstream all, first;
  write_dot(all, t, 100);
  EXPECT_THAT(all.str(), HasSubstr("digraph run {"));
  EXPECT_THAT(all.str(), HasSubstr("label=\"a \\\"quoted\\\" title\""));
  EXPECT_THAT(all.str(), HasSubstr("t0 -> t1 [penwidth=3];"));
  EXPECT_THAT(all.str(), HasSubstr("program.cpp:2"));
  write_dot(first, t, 1);
  EXPECT_THAT(first.str(), HasSubstr("the first 1 of 2 tasks"));
  EXPECT_THAT(first.str(), Not(HasSubstr("t1")));
}

TEST(two_runs, stand_side_by_side) {
  recording r = host();
  r.threads[0].events = {submitted(1, 0, 0), ran(1, 100, 200)};
  const timeline before = build(r);
  r.threads[0].events = {submitted(1, 0, 0), submitted(2, 0, 1), ran(1, 100, 400), ran(2, 400, 410)};
  const timeline after = build(r);
  const summary of_before = summarize(before), of_after = summarize(after);
  const std::string text = compare_text({"a.json", before, of_before}, {"b.json", after, of_after});
  EXPECT_THAT(text, HasSubstr("a.json"));
  EXPECT_THAT(text, testing::ContainsRegex("length +200 ns +410 ns +2.05"));
  EXPECT_THAT(text, testing::ContainsRegex("\na +1 +1 +100 ns +300 ns +3.00"));
  EXPECT_THAT(text, testing::ContainsRegex("\nb +0 +1 +0 ns +10 ns +-"));
  EXPECT_THAT(compare_json({"a.json", before, of_before}, {"b.json", after, of_after}), HasSubstr("\"operations\""));
}

TEST(page, has_what_is_needed_to_follow_tasks) {
  const timeline t = build(interpreted());
  std::ostringstream page;
  write_report(page, t, summarize(t));
  EXPECT_THAT(page.str(), HasSubstr("\"after\":[[],[],"));
  EXPECT_THAT(page.str(), HasSubstr("\"kind\":\"interpreter\""));
  EXPECT_THAT(page.str(), HasSubstr("id=\"search\""));
  EXPECT_THAT(page.str(), HasSubstr("Why workers were idle"));
}

}  // namespace
