// Recorded runs against what is known of them otherwise: the program, and the runtime's own counters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <sstream>

#include "core/trace/chrome.hpp"
#include "core/trace/summary.hpp"
#include "support/slow_down.hpp"
#include "tessera/machine.hpp"
#include "tessera/tessera.hpp"
#include "tessera/trace.hpp"
#include "tests/integration/runtime/machines.hpp"

namespace {

using namespace tessera;
using ::testing::HasSubstr;

machine recorded(machine m) {
  m.settings.trace = true;
  return m;
}

std::string name_of(const trace::timeline& t, const trace::task& one) { return t.operations[one.operation]; }

std::set<std::string> names_before(const trace::timeline& t, const trace::task& one) {
  std::set<std::string> names;
  for (std::uint32_t p = 0; p < one.predecessor_count; ++p)
    names.insert(name_of(t, t.tasks[t.predecessors[one.first_predecessor + p]]));
  return names;
}

const trace::task& task_of(const trace::timeline& t, const std::string& name) {
  for (const trace::task& one : t.tasks)
    if (name_of(t, one) == name) return one;
  throw std::runtime_error("no task " + name);
}

void expect_sound(const trace::timeline& t) {
  EXPECT_EQ(t.dropped, 0u);
  EXPECT_EQ(t.unfinished, 0u);
  for (const trace::task& one : t.tasks) {
    EXPECT_LE(one.submitted, one.started);
    EXPECT_LE(one.started, one.ended);
    EXPECT_GE(one.submitted, 0);
    EXPECT_LE(one.ended, t.length);
    EXPECT_EQ(one.waited.total(), one.started - one.submitted);
    for (const trace::nanoseconds part :
         {one.waited.dependency, one.waited.data, one.waited.memory, one.waited.slab, one.waited.worker})
      EXPECT_GE(part, 0);
  }
  EXPECT_EQ(trace::topological_order(t).size(), t.tasks.size());
}

TEST(recorded_run, nothing_is_recorded_unless_asked_for) {
  runtime rt(tessera::testing::host_only());
  EXPECT_FALSE(rt.traced());
  EXPECT_THROW((void)rt.timeline("x"), error);
}

TEST(recorded_run, places_have_the_workers_that_there_are_and_not_the_cores) {
  for (const std::uint32_t workers : {1u, 2u, 5u}) {
    runtime rt(recorded(tessera::testing::host_only(workers)));
    rt.fence();
    const trace::timeline t = rt.timeline("workers");
    ASSERT_EQ(t.places.size(), 1u);
    EXPECT_EQ(t.places[0].parallelism, workers);
  }
}

TEST(recorded_run, every_task_of_every_replay_is_there) {
  runtime rt(recorded(tessera::testing::host_only()));
  auto a = rt.make_array<double>("a", {2}, {1});
  fill(rt, a(0), 1.0);
  recording step = rt.record([&] {
    for (int k = 0; k < 5; ++k)
      rt.submit(
          "link", [](view<const double> x, view<double> y) { y[0] = x[0]; }, read(a(k % 2)), write(a(1 - k % 2)));
  });
  for (int k = 0; k < 4; ++k) rt.replay(step);
  rt.fence();
  const trace::timeline t = rt.timeline("replays");
  expect_sound(t);
  int links = 0, after_links = 0;
  for (const trace::task& one : t.tasks) {
    if (name_of(t, one) != "link") continue;
    ++links;
    after_links += names_before(t, one).contains("link") ? 1 : 0;
  }
  EXPECT_EQ(links, 20);
  EXPECT_EQ(after_links, 19) << "each but the first waits for the one before, within a replay and from one to the next";
}

/// "A(0,0) read", …
std::vector<std::string> blocks_of(const trace::timeline& t, const trace::task& one) {
  const char* const words[] = {"read", "write", "update", "accumulate", "scratch"};
  std::vector<std::string> all;
  for (std::uint32_t u = 0; u < one.use_count; ++u) {
    const trace::use& is = t.uses[one.first_use + u];
    all.push_back(t.blocks[is.block] + " " + words[static_cast<int>(is.how)]);
  }
  return all;
}

TEST(recorded_run, tasks_with_their_blocks_and_their_arithmetic) {
  runtime rt(recorded(tessera::testing::host_only()));
  {
    const auto before = rt.make_array<double>("before", {4}, {2});  // whose slots the next ones take
    fill(rt, before(0), 1.0);
    rt.fence();
  }
  auto a = rt.make_matrix<double>("A", {4, 4}, {4, 2});
  auto c = rt.make_matrix<double>("C", {2, 2}, {2, 2});
  fill(rt, a(0, 1), 1.0);
  gemm(rt, 1.0, a(0, 1), transpose::yes, a(0, 1), transpose::no, 0.0, c(0, 0));
  rt.submit(
      "own", [](matrix_view<const double> x, matrix_view<double> y) { y[0] = x[0]; }, read(a(0, 1)), write(c(0, 0)));
  recording twice = rt.record([&] {
    for (int k = 0; k < 2; ++k)
      rt.submit(
          "again", [](matrix_view<double> x) { x[0] += 1; }, update(c(0, 0)));
  });
  rt.replay(twice);
  rt.fence();
  const trace::timeline t = rt.timeline("work");
  expect_sound(t);
  std::set<std::string> filled;
  for (const trace::task& one : t.tasks) {
    if (name_of(t, one) == "fill") {
      filled.insert(blocks_of(t, one).at(0));
      EXPECT_LT(one.flops, 0) << "no arithmetic";
    }
    if (name_of(t, one) == "again") {
      EXPECT_THAT(blocks_of(t, one), ::testing::ElementsAre("C(0,0) update"));
    }
  }
  EXPECT_THAT(filled, ::testing::ElementsAre("A(0,1) write", "before(0) write"));
  const trace::task &product = task_of(t, "gemm"), &own = task_of(t, "own");
  EXPECT_THAT(blocks_of(t, product), ::testing::ElementsAre("A(0,1) read", "A(0,1) read", "C(0,0) write"));
  EXPECT_EQ(product.flops, 2 * 2 * 2 * 4);
  EXPECT_THAT(blocks_of(t, own), ::testing::ElementsAre("A(0,1) read", "C(0,0) write"));
  EXPECT_LT(own.flops, 0) << "not known";
  EXPECT_EQ(t.uses[own.first_use].bytes, 4 * 2 * sizeof(double));
}

TEST(recorded_run, a_diamond_with_its_edges_sites_and_views) {
  runtime rt(recorded(tessera::testing::host_only()));
  auto a = rt.make_array<double>("a", {3}, {1});
  const auto line = std::source_location::current().line();
  rt.submit(
      "top", [](view<double> x) { x[0] = 1; }, write(a(0)));
  rt.submit(
      "left", [](view<const double> x, view<double> y) { y[0] = x[0]; }, read(a(0)), write(a(1)));
  rt.submit(
      "right", [](view<const double> x, view<double> y) { y[0] = x[0]; }, read(a(0)), write(a(2)));
  rt.fence();  // the edges of what follows lead to tasks that have ended
  rt.submit(
      "bottom", [](view<const double> x, view<double> y) { y[0] += x[0]; }, read(a(1)), update(a(2)));
  EXPECT_EQ(a(2).read()[0], 2.0);
  rt.fence();
  const trace::timeline t = rt.timeline("a diamond");
  expect_sound(t);
  EXPECT_EQ(t.title, "a diamond");
  EXPECT_EQ(t.tasks.size(), 5u);
  EXPECT_EQ(names_before(t, task_of(t, "top")), std::set<std::string>());
  EXPECT_EQ(names_before(t, task_of(t, "left")), std::set<std::string>{"top"});
  EXPECT_EQ(names_before(t, task_of(t, "bottom")), (std::set<std::string>{"left", "right"}));
  EXPECT_EQ(names_before(t, task_of(t, "view")), std::set<std::string>{"bottom"});
  EXPECT_TRUE(task_of(t, "view").view);
  EXPECT_EQ(t.sites[task_of(t, "top").site], "runtime_test.cpp:" + std::to_string(line + 1));
  EXPECT_EQ(t.fences.size(), 2u);
  const trace::summary s = trace::summarize(t);
  EXPECT_EQ(s.tasks, 4u);
  EXPECT_EQ(s.views, 1u);
  EXPECT_EQ(s.critical_path.size(), 3u);
}

TEST(recorded_run, reductions_follow_all_adders) {
  runtime rt(recorded(tessera::testing::host_only()));
  auto a = rt.make_array<double>("a", {1}, {1});
  rt.submit(
      "set", [](view<double> x) { x[0] = 1; }, write(a(0)));
  for (int k = 0; k < 5; ++k)
    rt.submit(
        "add", [](view<double> x) { x[0] += 2; }, accumulate(a(0)));
  EXPECT_EQ(a(0).read()[0], 11.0);
  rt.fence();
  const trace::timeline t = rt.timeline("sums");
  expect_sound(t);
  const trace::task& reduction = task_of(t, "reduce");
  EXPECT_EQ(reduction.predecessor_count, 6u);
  EXPECT_EQ(names_before(t, reduction), (std::set<std::string>{"set", "add"}));
}

TEST(recorded_run, host_tasks_start_behind_their_predecessors_whatever_the_graph) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  runtime rt(recorded(tessera::testing::host_only(3)));
  auto a = rt.make_array<std::int64_t>("a", {40}, {1});
  for (std::int64_t k = 0; k < 40; ++k) fill(rt, a(k), std::int64_t{1});
  const int tasks = 3000;
  for (int k = 0; k < tasks; ++k) {
    const std::int64_t x = random() % 40, y = (x + 1 + random() % 39) % 40;
    rt.submit(
        "step", [](view<const std::int64_t> from, view<std::int64_t> to) { to[0] += from[0] & 1; }, read(a(x)),
        update(a(y)));
    if (k % 700 == 699) rt.fence();
  }
  rt.fence();
  const trace::timeline t = rt.timeline("random");
  expect_sound(t);
  EXPECT_EQ(t.tasks.size(), tasks + 40u);
  std::size_t edges = 0;
  for (const trace::task& one : t.tasks)
    for (std::uint32_t p = 0; p < one.predecessor_count; ++p, ++edges) {
      const trace::task& before = t.tasks[t.predecessors[one.first_predecessor + p]];
      ASSERT_LE(before.ended, one.started);
    }
  EXPECT_GT(edges, static_cast<std::size_t>(tasks));
}

TEST(recorded_run, devices_transfers_memory_and_evictions_agree_with_the_counters) {
  runtime rt(recorded(tessera::testing::with_sims(2, "1 MiB", true)));
  constexpr std::int64_t n = 8, tile = 64;  // 8 x 8 tiles of 32 KiB: twice what a device holds
  auto a = rt.make_matrix<double>("A", {n * tile, n * tile}, {tile, tile}),
       c = rt.make_matrix<double>("C", {n * tile, n * tile}, {tile, tile});
  for (std::size_t k = 0; k < a.size(); ++k) fill(rt, a.block(k), 0.5);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t k = 0; k < n; ++k)
        gemm(rt, 1.0, a(i, k), transpose::no, a(k, j), transpose::no, k == 0 ? 0.0 : 1.0, c(i, j),
             {.at = rt.at(k % 2 == 0 ? "sim0" : "sim1")});
  for (std::size_t k = 0; k < c.size(); ++k) EXPECT_EQ(c.block(k).read()[0], 0.25 * n * tile);
  rt.fence();
  const trace::timeline t = rt.timeline("out of core");
  const statistics counted = rt.statistics();
  expect_sound(t);
  const trace::summary s = trace::summarize(t);

  std::map<std::pair<std::string, std::string>, std::pair<std::uint64_t, std::uint64_t>> links, links_counted;
  for (const auto& l : s.links) links[{t.spaces[l.from].name, t.spaces[l.to].name}] = {l.transfers, l.bytes};
  for (const auto& l : counted.links) links_counted[{l.from, l.to}] = {l.transfers, l.bytes};
  EXPECT_EQ(links, links_counted);
  std::map<std::string, std::uint64_t> tasks, tasks_counted;
  for (const auto& o : s.operations) tasks[t.operations[o.operation]] = o.tasks;
  for (const auto& o : counted.operations) tasks_counted[o.operation] += o.tasks;
  EXPECT_EQ(tasks, tasks_counted);
  ASSERT_EQ(s.spaces.size(), counted.spaces.size());
  for (std::size_t k = 0; k < s.spaces.size(); ++k) {
    EXPECT_EQ(s.spaces[k].peak, counted.spaces[k].statistics.peak_bytes) << counted.spaces[k].name;
    EXPECT_EQ(s.spaces[k].dropped + s.spaces[k].written_back, counted.spaces[k].statistics.evictions)
        << counted.spaces[k].name;
    EXPECT_EQ(s.spaces[k].slabs, counted.spaces[k].statistics.slabs)
        << counted.spaces[k].name << ": none was given back";
    EXPECT_EQ(s.spaces[k].slab_bytes, counted.spaces[k].statistics.reserved_bytes) << counted.spaces[k].name;
    EXPECT_GT(s.spaces[k].slab_time, 0) << counted.spaces[k].name;
  }
  EXPECT_GT(s.evictions, 0u);
  bool on_stream = false;
  for (const trace::task& one : t.tasks) on_stream = on_stream || t.tracks[one.track].kind == trace::track_kind::stream;
  EXPECT_TRUE(on_stream);
  EXPECT_GT(s.waited.data + s.waited.memory, 0);

  // The file holds all of it.
  std::ostringstream file;
  trace::write_chrome(file, t);
  std::istringstream back(file.str());
  const trace::timeline read = trace::read_chrome(back, "memory");
  EXPECT_EQ(trace::to_json(read, trace::summarize(read)), trace::to_json(t, s));
}

TEST(recorded_run, failed_and_given_up_tasks_are_told_apart) {
  runtime rt(recorded(tessera::testing::host_only()));
  auto a = rt.make_array<double>("a", {1}, {1});
  rt.submit(
      "fails", [](view<double>) { throw std::runtime_error("on purpose"); }, write(a(0)));
  rt.submit(
      "depends", [](view<double> x) { x[0] += 1; }, update(a(0)));
  EXPECT_THROW(rt.fence(), error);
  const trace::timeline t = rt.timeline("failure");
  EXPECT_TRUE(task_of(t, "fails").failed);
  EXPECT_EQ(t.tasks.size(), 1u);
  EXPECT_EQ(t.unfinished, 1u);
}

TEST(recorded_run, a_limit_drops_and_says_so) {
  if (tessera::testing::watches_threads) GTEST_SKIP() << "many iterations of what other tests begin";
  machine m = recorded(tessera::testing::host_only(1));
  m.settings.trace_limit = std::uint64_t{4} << 20;  // two chunks: the worker's, and one for whoever else
  runtime rt(std::move(m));
  auto a = rt.make_array<double>("a", {1}, {1});
  fill(rt, a(0), 0.0);
  for (int k = 0; k < 120000; ++k)
    rt.submit(
        "step", [](view<double> x) { x[0] += 1; }, update(a(0)));
  rt.fence();
  const trace::timeline t = rt.timeline("too long");
  EXPECT_GT(t.dropped, 0u);
  EXPECT_GT(t.tasks.size(), 1000u);
  EXPECT_THAT(trace::to_text(t, trace::summarize(t)), HasSubstr("runtime.trace_limit"));
}

TEST(recorded_run, two_runtimes_keep_their_events_apart) {
  runtime one(recorded(tessera::testing::host_only(1))), two(recorded(tessera::testing::host_only(1)));
  auto a = one.make_array<double>("a", {4}, {1}), b = two.make_array<double>("b", {4}, {1});
  for (std::int64_t k = 0; k < 4; ++k) {
    fill(one, a(k), 1.0);
    fill(two, b(k), 1.0);
    fill(two, b(k), 2.0);
  }
  one.fence();
  two.fence();
  EXPECT_EQ(one.timeline("").tasks.size(), 4u);
  EXPECT_EQ(two.timeline("").tasks.size(), 8u);
}

}  // namespace
