// The parts of streams that host and sim share: timelines, queues, copies, handles, options.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <numeric>
#include <vector>

#include "plugins/kit/abi/copy_plan.hpp"
#include "plugins/kit/abi/handle_pool.hpp"
#include "plugins/kit/abi/option_reader.hpp"
#include "plugins/kit/abi/out_struct.hpp"
#include "plugins/kit/abi/work_queue.hpp"

namespace tessera::kit {
namespace {

struct told {
  tsr_status status;
  std::uint64_t value = 99, failed = 99;
  std::string message;
};
told ask(timeline& line) {
  told t{};
  t.status = line.progress(&t.value, &t.failed, t.message);
  return t;
}

TEST(timeline, tells_each_failure_once_and_no_point_beyond_an_untold_one) {
  timeline line;
  for (int i = 0; i < 6; ++i) line.append(line.next());
  line.reach(1, 0);
  line.fail(TSR_DATA_LOSS, "first");
  line.fail(TSR_INTERNAL, "not kept: the first failure of a point counts");
  line.reach(2, 0);
  line.reach(3, 0);
  line.fail(TSR_ABORTED, "second");
  line.reach(4, 0);
  line.reach(5, 0);
  auto t = ask(line);
  EXPECT_EQ(t.status, TSR_DATA_LOSS);
  EXPECT_EQ(t.failed, 2u);
  EXPECT_EQ(t.value, 3u) << "4 has failed too and must not look reached before its failure is told";
  EXPECT_EQ(t.message, "first");
  t = ask(line);
  EXPECT_EQ(t.status, TSR_ABORTED);
  EXPECT_EQ(t.failed, 4u);
  EXPECT_EQ(t.value, 5u);
  t = ask(line);
  EXPECT_EQ(t.status, TSR_OK);
  EXPECT_EQ(t.failed, 0u);
  EXPECT_EQ(t.value, 5u);
}

TEST(timeline, waits_and_times_out) {
  timeline line;
  line.append(1);
  EXPECT_FALSE(line.wait(1, 1000));
  auto waiting = std::async(std::launch::async, [&] { return line.wait(1); });
  line.reach(1, 0);
  EXPECT_TRUE(waiting.get());
  EXPECT_TRUE(line.wait(1, 0));
}

TEST(timeline, remembers_modelled_times) {
  timeline line(true);
  for (std::uint64_t v = 1; v <= 10; ++v) line.reach(v, v * 100);
  EXPECT_EQ(line.completion(0), 0u);
  EXPECT_EQ(line.completion(1), 100u);
  EXPECT_EQ(line.completion(7), 700u);
}

TEST(timeline, a_lost_stream_has_reached_everything_from_the_first_pending_point_on_as_failed) {
  timeline line;
  for (int i = 0; i < 5; ++i) line.append(line.next());
  line.reach(1, 0);
  line.reach(2, 0);
  std::uint64_t value = 0, failed = 0;
  line.progress_lost(&value, &failed);
  EXPECT_EQ(value, 5u);
  EXPECT_EQ(failed, 3u);
  for (std::uint64_t v = 3; v <= 5; ++v) line.reach(v, 0);
  line.progress_lost(&value, &failed);
  EXPECT_EQ(failed, 3u) << "stays when the queue has drained";
}

TEST(work_queue, keeps_order_across_work_signals_and_callbacks) {
  auto line = std::make_shared<timeline>();
  std::vector<int> order;
  {
    work_queue queue(line, "test", nullptr, nullptr);
    for (int i = 0; i < 1000; ++i) {
      queue.run([&order, i](execution&) { return order.push_back(i), TSR_OK; });
      if (i % 7 == 0) queue.signal();
    }
    queue.callback([](void* argument) { static_cast<std::vector<int>*>(argument)->push_back(-1); }, &order);
    EXPECT_TRUE(line->wait(queue.signal()));
    ASSERT_EQ(order.size(), 1001u);
    EXPECT_EQ(order.back(), -1);
    order.pop_back();
  }
  std::vector<int> expected(1000);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(order, expected);
}

TEST(work_queue, works_off_everything_before_it_ends) {
  std::atomic<int> done{0};
  auto line = std::make_shared<timeline>();
  {
    work_queue queue(line, "test", nullptr, nullptr);
    for (int i = 0; i < 100; ++i) queue.run([&](execution&) { return ++done, TSR_OK; });
    queue.signal();
  }
  EXPECT_EQ(done, 100);
  EXPECT_EQ(line->reached(), 1u);
}

TEST(work_queue, waits_for_another_queue_even_when_that_one_is_gone) {
  auto first_line = std::make_shared<timeline>(), second_line = std::make_shared<timeline>();
  std::promise<void> gate;
  std::atomic<int> stage{0};
  auto first = std::make_unique<work_queue>(first_line, "first", nullptr, nullptr);
  work_queue second(second_line, "second", nullptr, nullptr);
  first->run([&](execution&) {
    gate.get_future().wait();
    stage = 1;
    return TSR_OK;
  });
  second.wait(first_line, first->signal());
  int seen = -1;
  second.run([&](execution&) { return seen = stage, TSR_OK; });
  const auto end = second.signal();
  EXPECT_FALSE(second_line->wait(end, 2000000));
  gate.set_value();
  first.reset();
  EXPECT_TRUE(second_line->wait(end));
  EXPECT_EQ(seen, 1);
}

TEST(work_queue, exceptions_become_failures) {
  auto line = std::make_shared<timeline>();
  work_queue queue(line, "test", nullptr, nullptr);
  queue.run([](execution&) -> tsr_status { throw std::runtime_error("boom"); });
  line->wait(queue.signal());
  const auto t = ask(*line);
  EXPECT_EQ(t.status, TSR_INTERNAL);
  EXPECT_NE(t.message.find("boom"), std::string::npos);
}

TEST(copy_plan, checks_strides_and_overflow) {
  tsr_copy c{};
  c.struct_size = sizeof c;
  c.bytes = 10;
  copy_plan plan;
  const reporter quiet;
  ASSERT_EQ(plan_copy(quiet, &c, plan), TSR_OK) << "rows of 0 are one row";
  EXPECT_EQ(plan.total(), 10u);
  EXPECT_EQ(plan.source_span, 10u);
  c.rows[0] = 4;
  c.rows[1] = 3;
  c.destination_stride[0] = 16;
  c.destination_stride[1] = 100;
  c.source_stride[0] = 10;
  c.source_stride[1] = 40;
  ASSERT_EQ(plan_copy(quiet, &c, plan), TSR_OK);
  EXPECT_EQ(plan.destination_span, 2 * 100 + 3 * 16 + 10u);
  EXPECT_EQ(plan.source_span, 120u);
  auto bad = c;
  bad.source_stride[0] = 9;
  EXPECT_EQ(plan_copy(quiet, &bad, plan), TSR_INVALID_ARGUMENT);
  bad = c;
  bad.source_stride[1] = 39;
  EXPECT_EQ(plan_copy(quiet, &bad, plan), TSR_INVALID_ARGUMENT);
  bad = c;
  bad.destination_stride[0] = ~0ull / 2;
  EXPECT_EQ(plan_copy(quiet, &bad, plan), TSR_OUT_OF_RANGE);
  bad = c;
  bad.rows[0] = ~0ull;
  EXPECT_EQ(plan_copy(quiet, &bad, plan), TSR_OUT_OF_RANGE);
  EXPECT_EQ(plan_copy(quiet, nullptr, plan), TSR_INVALID_ARGUMENT);
  bad = c;
  bad.struct_size = 0;
  EXPECT_EQ(plan_copy(quiet, &bad, plan), TSR_INVALID_ARGUMENT);
}

TEST(copy_plan, moves_what_it_says_and_nothing_else) {
  std::vector<unsigned char> source(400), destination(400, 255);
  std::iota(source.begin(), source.end(), static_cast<unsigned char>(0));
  tsr_copy c{};
  c.struct_size = sizeof c;
  c.bytes = 7;
  c.rows[0] = 5;
  c.rows[1] = 3;
  c.destination_stride[0] = 9;
  c.destination_stride[1] = 50;
  c.source_stride[0] = 11;
  c.source_stride[1] = 60;
  copy_plan plan;
  ASSERT_EQ(plan_copy(reporter(), &c, plan), TSR_OK);
  run_copy(plan, destination.data(), source.data());
  std::vector<unsigned char> expected(400, 255);
  for (std::size_t p = 0; p < 3; ++p)
    for (std::size_t r = 0; r < 5; ++r)
      for (std::size_t b = 0; b < 7; ++b) expected[p * 50 + r * 9 + b] = source[p * 60 + r * 11 + b];
  EXPECT_EQ(destination, expected);
}

TEST(fill_pattern, every_width) {
  const unsigned char pattern[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
  for (const std::uint32_t width : {1u, 2u, 4u, 8u, 16u})
    for (const std::uint64_t count : {0ull, 1ull, 3ull, 1000ull, 70001ull}) {
      std::vector<unsigned char> bytes(count * width + 1, 0);
      fill_pattern(bytes.data(), pattern, width, count);
      for (std::uint64_t i = 0; i < count * width; ++i) ASSERT_EQ(bytes[i], pattern[i % width]);
      ASSERT_EQ(bytes.back(), 0);
    }
}

TEST(handle_pool, a_returned_handle_is_not_given_out_at_once) {
  struct handle {
    magic_word magic;
  };
  handle_pool<handle> pool;
  handle& first = pool.take();
  first.magic.set(7);
  EXPECT_TRUE(first.magic.take(7));
  EXPECT_FALSE(first.magic.take(7)) << "only once";
  pool.give(first);
  for (std::size_t i = 0; i < handle_pool<handle>::quarantine; ++i) {
    handle& next = pool.take();
    ASSERT_NE(&next, &first);
    pool.give(next);
  }
  EXPECT_FALSE(first.magic.is(7));
}

TEST(option_reader, reads_values_that_lie_as_far_apart_as_the_host_says) {
  struct wider {  // an option value of a later version
    tsr_option_value value;
    std::uint64_t unknown;
  };
  wider values[2] = {{{sizeof(wider), TSR_OPTION_BYTES, "device[0].memory", 64, 0, nullptr}, 1},
                     {{sizeof(wider), TSR_OPTION_STRING, "device[2].name", 0, 0, "third"}, 2}};
  const option_reader option(&values[0].value, 2);
  EXPECT_EQ(option.integer("device[0].memory", 1), 64);
  EXPECT_EQ(option.text("device[2].name", ""), "third");
  EXPECT_EQ(option.integer("device[1].memory", 5), 5);
  EXPECT_EQ(option.tables("device"), 3u);
  EXPECT_EQ(option.tables("link"), 0u);
  EXPECT_EQ(option_reader(nullptr, 0).tables("device"), 0u);
}

TEST(fill_out, writes_no_more_than_the_room_there_is) {
  tsr_link_desc full{};
  full.link_class = TSR_LINK_BUS;
  full.bandwidth = 5;
  full.latency = 7;
  tsr_link_desc out{};
  out.struct_size = offsetof(tsr_link_desc, latency);
  out.latency = -1;
  fill_out(&out, full);
  EXPECT_EQ(out.struct_size, offsetof(tsr_link_desc, latency));
  EXPECT_EQ(out.bandwidth, 5);
  EXPECT_EQ(out.latency, -1) << "an older caller has no room for it";
  out.struct_size = 1000;
  fill_out(&out, full);
  EXPECT_EQ(out.struct_size, sizeof(tsr_link_desc));
  EXPECT_EQ(out.latency, 7);
}

}  // namespace
}  // namespace tessera::kit
