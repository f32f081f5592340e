#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <random>
#include <sstream>

#include "core/base/error.hpp"
#include "core/trace/chrome.hpp"
#include "core/trace/report.hpp"
#include "tests/unit/trace/synthetic.hpp"

namespace {

using namespace trace_test;
using testing::HasSubstr;

timeline rich() {
  recording r = with_device();
  r.title = "gemm --n 3 \"quoted\" </script>";
  r.machine = "2 cores";
  r.threads[0].events = {submitted(1, 100, 0, {}, 1),  submitted(2, 110, 1, {1}, 2),
                         submitted(3, 120, 2, {2}, 3), ran(1, 150, 1251, run_failed),
                         in_use(0, 130, 1000),         in_use(1, 140, 2000),
                         ran(3, 4000, 4100, run_view), fenced(130, 3900)};
  r.threads[2].events = {copied(0, 1, 1300, 1900, 1400, point_of(6, 1)), waits(2, point_of(6, 1)),
                         enqueued(2, 1350, 3500, point_of(5, 1)), copied(1, 0, 3600, 3900, 1400, point_of(7, 1), true)};
  event gone{event_kind::evicted};
  gone.number = 1, gone.time = 3900, gone.words[0] = 1400, gone.task = 1, gone.count = 1;
  r.threads[2].events.push_back(gone);
  event slab{event_kind::slab};
  slab.number = 1, slab.time = 1300, slab.words[0] = 1380, slab.words[1] = 1 << 20;
  r.threads[2].events.push_back(slab);
  r.dropped = 3;
  return build(r);
}

std::string written(const timeline& t) {
  std::ostringstream to;
  write_chrome(to, t);
  return to.str();
}
timeline read(const std::string& text) {
  std::istringstream from(text);
  return read_chrome(from, "run.json");
}
std::string message_of(const std::string& text) {
  try {
    read(text);
  } catch (const tessera::error& e) {
    EXPECT_EQ(e.kind(), tessera::error_kind::input);
    EXPECT_THAT(e.where(), HasSubstr("run.json"));
    EXPECT_FALSE(e.hint().empty());
    return e.message();
  }
  ADD_FAILURE() << "was read: " << text.substr(0, 100);
  return "";
}

TEST(chrome, what_is_written_comes_back) {
  const timeline before = rich(), after = read(written(before));
  const auto figures = [](const timeline& t) { return to_json(t, summarize(t)); };
  EXPECT_EQ(figures(before), figures(after));
  EXPECT_EQ(written(before), written(after));  // all of it, but for names that nothing uses
  ASSERT_EQ(after.tasks.size(), 3u);
  EXPECT_TRUE(after.tasks[0].failed);
  EXPECT_TRUE(after.tasks[2].view);
  EXPECT_EQ(after.dropped, 3u);
  EXPECT_EQ(after.evictions.size(), 1u);
  EXPECT_EQ(after.fences.size(), 1u);
  ASSERT_EQ(after.slabs.size(), 1u);
  EXPECT_EQ(after.slabs[0].bytes, 1u << 20);
  EXPECT_EQ(after.slabs[0].ended - after.slabs[0].started, 80);
  const summary s = summarize(after);
  EXPECT_EQ(s.spaces[1].slabs, 1u);
  EXPECT_EQ(s.spaces[1].slab_time, 80);
  EXPECT_THAT(to_text(after, s), HasSubstr(after.spaces[1].name + ": 1 slab of 1 MiB together, allocated in 80 ns"));
}

TEST(chrome, an_empty_timeline_too) {
  const timeline t = read(written(build(recording{})));
  EXPECT_TRUE(t.tasks.empty());
}

TEST(chrome, damaged_files_are_refused_with_the_reason) {
  EXPECT_THAT(message_of(""), HasSubstr("empty"));
  EXPECT_THAT(message_of("hello"), HasSubstr("not JSON"));
  EXPECT_THAT(message_of("{}"), HasSubstr("no trace of Tessera"));
  EXPECT_THAT(message_of("[1, 2]"), HasSubstr("no trace of Tessera"));
  EXPECT_THAT(
      message_of(R"({"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":2,"pid":1,"tid":1}],"displayTimeUnit":"ns"})"),
      HasSubstr("no trace of Tessera"));
  EXPECT_THAT(message_of(R"({"tessera_trace":1,"traceEvents":[]})"), HasSubstr("form 1"));
  EXPECT_THAT(message_of(R"({"tessera_trace":2,"traceEvents":[]})"), HasSubstr("damaged"));
  const std::string whole = written(rich());
  EXPECT_THAT(message_of(whole.substr(0, whole.size() / 2)), HasSubstr("ends in the midst"));
  EXPECT_THAT(message_of(whole.substr(0, whole.size() - 4)), HasSubstr("ends in the midst"));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = whole;
    const auto at = changed.find(from);
    EXPECT_NE(at, changed.npos) << from;
    return changed.replace(at, from.size(), to);
  };
  EXPECT_THAT(message_of(with("\"by\":0", "\"by\":\"x\"")), HasSubstr("event"));
  EXPECT_THAT(message_of(with("\"by\":0", "\"by\":99")), HasSubstr("worker"));
  EXPECT_THAT(message_of(with("\"after\":[0]", "\"after\":[7]")), HasSubstr("task"));
  EXPECT_THAT(message_of(with("\"ts\":0.050", "\"ts\":-1")), HasSubstr("damaged"));
  EXPECT_THAT(message_of(with("\"task\":1", "\"task\":5")), HasSubstr("damaged"));
  EXPECT_THAT(message_of(with("\"task\":1", "\"task\":1e999")), HasSubstr("damaged")) << "beyond all bounds";
  EXPECT_THAT(message_of(with("\"ts\":0.050", "\"ts\":1e999")), HasSubstr("damaged"));
  EXPECT_THAT(message_of(with("\"by\":0", "\"by\":-1")), HasSubstr("damaged"));
  EXPECT_THAT(message_of(with("\"by\":0", "\"by\":4294967296")), HasSubstr("damaged"));
  EXPECT_THAT(message_of(with("\"unfinished\":", "\"unfinished\":-")), HasSubstr("damaged"));
  EXPECT_THAT(message_of(with("\"parallelism\":2", "\"parallelism\":0")), HasSubstr("has no workers"));
  EXPECT_THAT(message_of(with("\"parallelism\":2,\"flops\":0", "\"parallelism\":2,\"flops\":-1")),
              HasSubstr("damaged"));
  EXPECT_THAT(message_of(with("\"place\":0", "\"place\":9")), HasSubstr("a place that is not there"));
}

TEST(chrome, a_run_is_as_long_as_what_is_in_it) {
  std::string text = written(rich());
  const std::string head = "\"length\":";
  const auto at = text.find(head) + head.size();
  text.replace(at, text.find_first_of(",}", at) - at, "0.001");
  const timeline t = read(text);
  for (const task& one : t.tasks) EXPECT_LE(one.ended, t.length);
}

TEST(chrome, every_truncation_ends_in_an_error) {
  const std::string whole = written(rich());
  for (std::size_t length = 1; length + 3 < whole.size(); length += 13) message_of(whole.substr(0, length));
}

TEST(chrome, random_damage_never_does_worse_than_an_error) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::string whole = written(rich());
  for (int round = 0; round < 2000; ++round) {
    std::string changed = whole;
    for (int k = 0; k < 3; ++k)
      changed[random() % changed.size()] = static_cast<char>("0123456789,:[]{}\"e-. x"[random() % 22]);
    try {
      const timeline t = read(changed);
      summarize(t);
    } catch (const tessera::error& e) {
      EXPECT_EQ(e.kind(), tessera::error_kind::input);
    }
  }
}

TEST(chrome, a_missing_file_is_named) {
  try {
    read_chrome("/nonexistent/run.json");
    FAIL();
  } catch (const tessera::error& e) {
    EXPECT_THAT(std::string(e.what()), HasSubstr("/nonexistent/run.json"));
    EXPECT_THAT(std::string(e.what()), HasSubstr("No such file"));
  }
}

TEST(report, is_one_page_that_loads_nothing) {
  const timeline t = rich();
  std::ostringstream to;
  write_report(to, t, summarize(t));
  const std::string page = to.str();
  EXPECT_THAT(page, testing::StartsWith("<!doctype html>"));
  EXPECT_THAT(page, testing::EndsWith("</html>\n"));
  EXPECT_THAT(page, testing::Not(HasSubstr("@PAGE_")));
  for (const char* outside : {"src=", "href=", "@import", "url(", "fetch("})
    EXPECT_THAT(page, testing::Not(HasSubstr(outside)));
  // Names cannot end the script.
  EXPECT_EQ(page.find("</script>"), page.rfind("</script>"));
  EXPECT_THAT(page, HasSubstr("A(1,0)"));
  EXPECT_THAT(page, HasSubstr(",80,1048576]],\"slab_count\":1,\"slab_bytes\":1048576,\"slab_time\":80}"));
}

TEST(report, has_sections_of_what_ran_in_front_of_its_own) {
  const timeline t = rich();
  std::ostringstream to;
  write_report(to, t, summarize(t), "<section><h2>Eigenpairs</h2></section>");
  EXPECT_LT(to.str().find("<h2>Eigenpairs</h2>"), to.str().find("<h2>Timeline</h2>"));
}

TEST(report, many_tasks_are_merged_in_the_picture) {
  recording r = host();
  for (std::uint64_t k = 1; k <= 250000; ++k) {
    r.threads[0].events.push_back(submitted(k, 10 * k, k % 2));
    r.threads[0].events.push_back(ran(k, 10 * k + 1, 10 * k + 9));
  }
  const timeline t = build(r);
  std::ostringstream to;
  write_report(to, t, summarize(t));
  EXPECT_LT(to.str().size(), std::size_t{4} << 20);
  EXPECT_THAT(to.str(), HasSubstr("\"merged\":true"));
  EXPECT_THAT(to.str(), HasSubstr("\"tasks\":250000"));
}

}  // namespace
