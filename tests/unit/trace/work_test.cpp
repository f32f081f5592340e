// What tasks did: their blocks, their arithmetic, and how fast beside what the machine can.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/trace/chrome.hpp"
#include "core/trace/report.hpp"
#include "tests/unit/trace/synthetic.hpp"

namespace {

using namespace trace_test;
using testing::HasSubstr;

event came_to_be(std::uint32_t slot, std::uint64_t time, std::uint64_t name, std::uint64_t bytes, bool single = false) {
  event e{event_kind::block};
  e.number = slot, e.time = time, e.task = name, e.words[0] = bytes, e.count = single;
  return e;
}

event does(std::uint64_t task, std::uint64_t time, float flops, std::initializer_list<std::uint32_t> uses) {
  event e{event_kind::uses};
  e.task = task, e.time = time, e.number = std::bit_cast<std::uint32_t>(flops);
  for (const std::uint32_t one : uses) {
    e.words[e.count / 2] |= std::uint64_t{one} << (e.count % 2 * 32);
    ++e.count;
  }
  return e;
}

/// "A(0) read 800", of the task with a number.
std::vector<std::string> uses_of(const timeline& t, std::size_t task) {
  const char* const words[] = {"read", "write", "update", "accumulate", "scratch"};
  std::vector<std::string> all;
  for (std::uint32_t u = 0; u < t.tasks[task].use_count; ++u) {
    const use& one = t.uses[t.tasks[task].first_use + u];
    all.push_back(t.blocks[one.block] + " " + words[static_cast<int>(one.how)] + " " + std::to_string(one.bytes));
  }
  return all;
}

/// Operation a: 1000 operations and 2400 bytes in 1000 ns. Operation b: the same block's slot, later another block's.
recording working() {
  recording r = host();
  r.block_names = {"A(0)", "B(0)"};
  r.threads[0].events = {
      came_to_be(3, 0, 0, 800),   came_to_be(4, 10, nameless, 800),
      submitted(1, 100, 0),       does(1, 100, 1000, {pack_use(3, use_kind::read), pack_use(4, use_kind::update)}),
      ran(1, 200, 1200),          came_to_be(3, 1300, 1, 16),
      submitted(2, 1400, 1, {1}), does(2, 1400, -1, {pack_use(3, use_kind::write)}),
      ran(2, 1500, 1600)};
  return r;
}

TEST(work, blocks_are_those_that_were_in_their_slots) {
  const timeline t = build(working());
  EXPECT_THAT(uses_of(t, 0), testing::ElementsAre("A(0) read 800", "block 4 update 800"));
  EXPECT_THAT(uses_of(t, 1), testing::ElementsAre("B(0) write 16"));
  EXPECT_EQ(t.tasks[0].flops, 1000);
  EXPECT_LT(t.tasks[1].flops, 0);
}

TEST(work, of_many_blocks_takes_several_events) {
  recording r = host();
  for (std::uint32_t k = 0; k < 12; ++k) r.threads[0].events.push_back(came_to_be(k, k, nameless, 8));
  event first = does(1, 50, -1, {});
  for (std::uint32_t k = 0; k < 10; ++k)
    first.words[k / 2] |= std::uint64_t{pack_use(k, use_kind::read)} << (k % 2 * 32);
  first.count = 10;
  r.threads[0].events.insert(
      r.threads[0].events.end(),
      {submitted(1, 50, 0), first,
       does(1, 50, -1, {pack_use(10, use_kind::scratch), pack_use(11, use_kind::accumulate)}), ran(1, 60, 70)});
  const timeline t = build(r);
  ASSERT_EQ(t.tasks[0].use_count, 12u);
  EXPECT_EQ(uses_of(t, 0)[9], "block 9 read 8");
  EXPECT_EQ(uses_of(t, 0)[11], "block 11 accumulate 8");
  EXPECT_EQ(summarize(t).operations[0].work.bytes, 10 * 8 + 2 * 8) << "scratch has no contents to be moved";
}

TEST(work, stands_beside_what_the_machine_can) {
  timeline t = build(working());
  t.places[0].flops = 2e9, t.places[0].bandwidth = 1.2e9;  // of a worker: 2 operations and 1.2 bytes a ns
  const summary s = summarize(t);
  const work_summary &a = s.operations[0].work, &b = s.operations[1].work;
  EXPECT_EQ(a.time, 1000);
  EXPECT_EQ(a.flops, 1000);
  EXPECT_EQ(a.bytes, 800 + 2 * 800);
  EXPECT_DOUBLE_EQ(a.bound, 2000) << "its bytes; its arithmetic alone takes 500";
  EXPECT_LT(b.flops, 0);
  EXPECT_EQ(b.bytes, 16);
  const nlohmann::json json = nlohmann::json::parse(to_json(t, s))["operations"];
  EXPECT_EQ(json[0]["flops"], 1000);
  EXPECT_EQ(json[0]["bytes"], 2400);
  EXPECT_DOUBLE_EQ(json[0]["bound_seconds"].get<double>(), 2e-6);
  EXPECT_TRUE(json[1]["flops"].is_null());
  EXPECT_THAT(to_text(t, s), testing::AllOf(HasSubstr("GFLOP/s"), HasSubstr("not known")));
}

TEST(work, of_single_precision_is_twice_as_fast) {
  recording r = working();
  r.threads[0].events[0].count = r.threads[0].events[1].count = 1;
  timeline t = build(r);
  t.places[0].flops = 2e9;
  EXPECT_TRUE(t.tasks[0].single);
  EXPECT_DOUBLE_EQ(summarize(t).operations[0].work.bound, 250);
}

TEST(work, that_no_task_can_have_is_not_known) {
  for (const float flops : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN(), -5.0F,
                            std::numeric_limits<float>::max()}) {
    recording r = host();
    r.threads[0].events = {submitted(1, 100, 0), does(1, 100, flops, {}), ran(1, 200, 1200)};
    const timeline t = build(r);
    EXPECT_EQ(t.tasks[0].flops, -1);
    std::ostringstream file, page;
    write_chrome(file, t);
    EXPECT_TRUE(nlohmann::json::accept(file.str()));
    write_report(page, t, summarize(t));
    EXPECT_THAT(page.str(), testing::HasSubstr(R"({"flops":-1,)"));
  }
}

TEST(work, of_tasks_that_failed_is_not_counted) {
  recording r = working();
  r.threads[0].events[4] = ran(1, 200, 1200, run_failed);
  const summary s = summarize(build(r));
  EXPECT_EQ(s.operations[0].work.time, 0);
  EXPECT_EQ(s.operations[0].work.flops, 0);
}

TEST(work, without_rates_there_is_no_bound) {
  const timeline t = build(working());
  const summary s = summarize(t);
  EXPECT_LT(s.operations[0].work.bound, 0);
  EXPECT_THAT(to_text(t, s), HasSubstr("not measured"));
  EXPECT_TRUE(nlohmann::json::parse(to_json(t, s))["operations"][0]["bound_seconds"].is_null());
}

TEST(work, has_no_bound_where_a_part_ran_without_rates) {
  recording r = with_device();
  r.threads[0].events = {
      came_to_be(3, 0, 0, 800), submitted(1, 100, 0),  does(1, 100, 1000, {pack_use(3, use_kind::read)}),
      ran(1, 200, 1200),        submitted(2, 1400, 0), does(2, 1400, 1000, {pack_use(3, use_kind::read)})};
  timeline t = build(r);
  t.places[0].bandwidth = 1e9;
  EXPECT_GT(summarize(t).operations[0].work.bound, 0) << "the second has not run";
  r.threads[2].events = {enqueued(2, 1500, 1600, point_of(5, 1))};
  t = build(r);
  t.places[0].bandwidth = 1e9;
  EXPECT_LT(summarize(t).operations[0].work.bound, 0);
}

TEST(work, comes_back_from_a_file) {
  timeline t = build(working());
  t.places[0].flops = 4e9 / 3, t.places[0].bandwidth = 2.4e9 / 7;
  std::stringstream file;
  write_chrome(file, t);
  const timeline back = read_chrome(file, "run.json");
  EXPECT_EQ(to_json(back, summarize(back)), to_json(t, summarize(t)));
  for (std::size_t task = 0; task < 2; ++task) EXPECT_EQ(uses_of(back, task), uses_of(t, task));
  EXPECT_EQ(back.tasks[0].single, t.tasks[0].single);
}

TEST(work, is_not_known_of_files_that_say_nothing_of_it) {
  std::stringstream file;
  write_chrome(file, build(working()));
  std::string text = file.str();
  for (const std::string part : {R"x(,"flops":1000)x", R"x(,"blocks":[["A(0)","read",800],["block 4","update",800]])x",
                                 R"x(,"flops":0,"bandwidth":0)x"}) {
    ASSERT_NE(text.find(part), text.npos) << part << text;
    text.erase(text.find(part), part.size());
  }
  std::istringstream from(text);
  const timeline old = read_chrome(from, "run.json");
  EXPECT_LT(old.tasks[0].flops, 0);
  EXPECT_LT(summarize(old).operations[0].work.bytes, 0);
}

TEST(work, of_a_step_is_what_the_front_end_says) {
  recording r = host();
  r.block_names = {"contract", "put", "mp2.sialx"};
  r.threads.push_back({"SIAL worker 0", thread_role::interpreter, 0, {}});
  event counted = stepped(0, 2, 7, 100, 400), other = stepped(1, 2, 9, 400, 500);
  counted.words[2] = std::bit_cast<std::uint64_t>(600.0), other.words[2] = std::bit_cast<std::uint64_t>(-1.0);
  r.threads[2].events = {counted, other};
  const summary s = summarize(build(r));
  EXPECT_EQ(s.operations[0].work.flops, 600);
  EXPECT_LT(s.operations[0].work.bytes, 0);
  EXPECT_LT(s.operations[1].work.flops, 0);
}

TEST(work, and_blocks_are_in_the_page) {
  const timeline t = build(working());
  std::ostringstream page;
  write_report(page, t, summarize(t));
  EXPECT_THAT(page.str(), HasSubstr(R"("uses":[{"flops":1000,"blocks":[[0,0,800],[1,2,800]]},)"));
}

}  // namespace
