#include "core/trace/tracer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

namespace {

using namespace tessera::trace;

event numbered(std::uint64_t number, std::uint64_t time) {
  event e{event_kind::resumed};
  e.task = number, e.time = time;
  return e;
}

std::size_t events_of(const recording& r) {
  std::size_t sum = 0;
  for (const auto& t : r.threads) sum += t.events.size();
  return sum;
}

TEST(tracer, events_come_back_in_order_with_times_of_the_steady_clock) {
  tracer r(std::uint64_t{64} << 20);
  const std::int64_t before = steady_ns();
  buffer& b = r.make_buffer("worker 3", thread_role::worker, 2);
  for (std::uint64_t k = 0; k < 100000; ++k) b.add(numbered(k, b.now()));  // more than one chunk
  const std::int64_t passed = steady_ns() - before;
  const recording taken = r.take();
  ASSERT_EQ(taken.threads.size(), 1u);
  EXPECT_EQ(taken.threads[0].name, "worker 3");
  EXPECT_EQ(taken.threads[0].role, thread_role::worker);
  EXPECT_EQ(taken.threads[0].place, 2u);
  const auto& events = taken.threads[0].events;
  ASSERT_EQ(events.size(), 100000u);
  EXPECT_EQ(taken.dropped, 0u);
  for (std::uint64_t k = 0; k < events.size(); ++k) ASSERT_EQ(events[k].task, k);
  EXPECT_TRUE(std::ranges::is_sorted(events, {}, &event::time));
  const auto span = static_cast<double>(events.back().time - events.front().time);
  EXPECT_LE(span, static_cast<double>(passed) * 1.01 + 1000);  // nanoseconds, not ticks
  EXPECT_GT(span, 0.0);
}

TEST(tracer, beyond_the_limit_events_are_counted_not_kept) {
  tracer r(3 * buffer::chunk_bytes);
  constexpr std::uint64_t per_chunk = buffer::chunk_bytes / 24;  // an event without words of its own takes three
  buffer &a = r.make_buffer("a", thread_role::worker, 0), &b = r.make_buffer("b", thread_role::worker, 0);
  for (std::uint64_t k = 0; k < 2 * per_chunk + 7; ++k) a.add(numbered(k, 0));
  for (std::uint64_t k = 0; k < per_chunk + 5; ++k) b.add(numbered(k, 0));
  const recording taken = r.take();
  EXPECT_EQ(taken.dropped, 12u);
  EXPECT_EQ(events_of(taken), 3 * per_chunk);
}

TEST(tracer, every_kind_of_event_comes_back_whole) {
  tracer r(std::uint64_t{64} << 20);
  buffer& b = r.make_buffer("worker", thread_role::worker, 0);
  std::vector<event> written;
  const auto add = [&](event_kind kind, std::uint8_t count) {
    event e{kind};
    e.count = count, e.small = 0xfedc, e.number = 0x89abcdef, e.time = b.now(), e.task = ~std::uint64_t{written.size()};
    for (std::size_t k = 0; k < words_of(kind, count); ++k) e.words[k] = 1000 * written.size() + k;
    b.add(e);
    written.push_back(e);
  };
  for (int round = 0; round < 20000; ++round) {  // across the ends of chunks
    for (std::uint8_t count = 0; count <= 4; ++count) add(event_kind::submitted, count);
    for (std::uint8_t count = 1; count <= 5; ++count)
      add(event_kind::predecessors, count), add(event_kind::waits, count);
    for (std::uint8_t count = 0; count <= 10; ++count) add(event_kind::uses, count);
    add(event_kind::block, 1);
    add(event_kind::parked, 0), add(event_kind::resumed, 0), add(event_kind::memory, 0), add(event_kind::evicted, 1);
  }
  const recording taken = r.take();
  const auto& read = taken.threads.at(0).events;
  ASSERT_EQ(read.size(), written.size());
  for (std::size_t k = 0; k < read.size(); ++k) {
    ASSERT_EQ(read[k].kind, written[k].kind);
    ASSERT_EQ(read[k].count, written[k].count);
    ASSERT_EQ(read[k].small, written[k].small);
    ASSERT_EQ(read[k].number, written[k].number);
    ASSERT_EQ(read[k].task, written[k].task);
    ASSERT_EQ(read[k].words, written[k].words);
  }
}

TEST(tracer, a_limit_of_nothing_keeps_nothing) {
  tracer r(0);
  buffer& a = r.make_buffer("a", thread_role::worker, 0);
  a.add(numbered(1, 0));
  const recording taken = r.take();
  EXPECT_EQ(taken.dropped, 1u);
  EXPECT_EQ(events_of(taken), 0u);
}

TEST(tracer, names_have_one_number_each) {
  tracer r(0);
  EXPECT_EQ(r.name("A(0,0)"), 0u);
  EXPECT_EQ(r.name("A(1,0)"), 1u);
  EXPECT_EQ(r.name("A(0,0)"), 0u);
  EXPECT_EQ(r.take().block_names, (std::vector<std::string>{"A(0,0)", "A(1,0)"}));
}

TEST(tracer, every_thread_has_its_own_buffer_in_each_recorder) {
  tracer one(std::uint64_t{64} << 20), two(std::uint64_t{64} << 20);
  buffer* const mine = &one.local();
  EXPECT_EQ(mine, &one.local());
  EXPECT_NE(mine, &two.local());
  EXPECT_NE(&one.local(), nullptr);
  buffer* others = nullptr;
  std::thread([&] { others = &one.local(); }).join();
  EXPECT_NE(mine, others);
}

TEST(tracer, may_be_read_while_others_write) {
  tracer r(std::uint64_t{64} << 20);
  std::atomic<bool> stop{false};
  std::vector<std::thread> writers;
  for (int w = 0; w < 2; ++w)
    writers.emplace_back([&] {
      buffer& b = r.local();
      for (std::uint64_t k = 0; k < 200000 || !stop.load(); ++k) {
        b.add(numbered(k, b.now()));
        if (k >= 400000) break;
      }
    });
  std::size_t before = 0;
  for (int k = 0; k < 20; ++k) {
    const recording taken = r.take();
    for (const auto& t : taken.threads)
      for (std::uint64_t n = 0; n < t.events.size(); ++n) ASSERT_EQ(t.events[n].task, n);
    EXPECT_GE(events_of(taken), before);
    before = events_of(taken);
  }
  stop = true;
  for (auto& w : writers) w.join();
}

}  // namespace
