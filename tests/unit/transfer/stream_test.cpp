// Timelines: order of completions, failures, lost devices, waits between streams.
#include "core/transfer/stream.hpp"

#include <gtest/gtest.h>

#include <map>

#include "tests/support/fake_device.hpp"

namespace tessera::transfer {
namespace {

using testing::fake_device;
using testing::fake_of;
using testing::fake_step;
using testing::fake_world;

struct note : completion {
  std::vector<std::pair<int, tsr_status>>* to;
  int name;
  note(int n, block::ticket t, std::vector<std::pair<int, tsr_status>>& list) : to(&list), name(n) {
    ticket = t;
    fire = [](completion* self, tsr_status status) {
      auto* mine = static_cast<note*>(self);
      mine->to->emplace_back(mine->name, status);
    };
  }
};

class streams : public ::testing::Test {
 protected:
  void run(stream& s, int steps = 1000) {
    for (int k = 0; k < steps; ++k) fake_of(s.handle()).advance();
  }
  static void work(
      stream& s, std::function<void()> what = [] {}) {
    fake_of(s.handle()).push({fake_step::kind::work, std::move(what), 0, nullptr});
  }
  static void fail(stream& s, tsr_status status) {
    fake_of(s.handle()).push({fake_step::kind::fail, {}, static_cast<std::uint64_t>(status), nullptr});
  }

  fake_world world;
  fake_device device{world, 1, false, 0};
  std::vector<std::pair<int, tsr_status>> fired;
  using entry = std::pair<int, tsr_status>;
  using list = std::vector<entry>;
};

TEST_F(streams, completions_fire_in_order_whatever_the_order_of_registration) {
  stream s(1, device.device(), TSR_STREAM_COPY);
  std::vector<block::ticket> at;
  for (int k = 0; k < 4; ++k) at.push_back(s.signal());
  note d(4, at[3], fired), b(2, at[1], fired), c(3, at[2], fired), a(1, at[0], fired), b2(22, at[1], fired);
  for (note* n : {&d, &b, &c, &a, &b2}) s.on_completion(*n);
  EXPECT_FALSE(s.poll());
  EXPECT_TRUE(s.busy());
  EXPECT_TRUE(fired.empty());
  fake_of(s.handle()).advance();
  EXPECT_TRUE(fired.empty()) << "only poll looks";
  EXPECT_TRUE(s.poll());
  EXPECT_EQ(fired, (list{{1, TSR_OK}}));
  EXPECT_TRUE(s.reached(at[0].value));
  EXPECT_FALSE(s.reached(at[1].value));
  run(s);
  EXPECT_TRUE(s.poll());
  EXPECT_EQ(fired, (list{{1, TSR_OK}, {2, TSR_OK}, {22, TSR_OK}, {3, TSR_OK}, {4, TSR_OK}}));
  EXPECT_FALSE(s.busy());
  EXPECT_FALSE(s.poll());

  note late(5, at[2], fired);
  s.on_completion(late);
  EXPECT_EQ(fired.back(), (entry{5, TSR_OK})) << "already reached: at once";
  const block::ticket next = s.signal();  // the list is usable after it was empty
  note after(6, next, fired);
  s.on_completion(after);
  run(s);
  s.poll();
  EXPECT_EQ(fired.back(), (entry{6, TSR_OK}));
}

TEST_F(streams, a_failure_goes_to_the_point_behind_it_and_to_no_other) {
  stream s(1, device.device(), TSR_STREAM_COPY);
  std::vector<block::ticket> at;
  for (int k = 0; k < 6; ++k) {
    work(s);
    if (k == 1) fail(s, TSR_DATA_LOSS);
    if (k == 2 || k == 4) fail(s, TSR_INTERNAL);  // several between two polls
    at.push_back(s.signal());
  }
  std::vector<std::unique_ptr<note>> notes;
  for (int k = 0; k < 6; ++k)
    if (k != 4) {
      notes.push_back(std::make_unique<note>(k, at[static_cast<std::size_t>(k)], fired));
      s.on_completion(*notes.back());
    }
  run(s);
  s.poll();  // all of them: nothing will call again
  EXPECT_EQ(fired, (list{{0, TSR_OK}, {1, TSR_DATA_LOSS}, {2, TSR_INTERNAL}, {3, TSR_OK}, {5, TSR_OK}}));
  note late(4, at[4], fired), late_good(5, at[5], fired);
  s.on_completion(late);
  s.on_completion(late_good);
  EXPECT_EQ(fired[5], (entry{4, TSR_INTERNAL})) << "also when it is asked for afterwards";
  EXPECT_EQ(fired[6], (entry{5, TSR_OK}));
}

// What a copy stands for may have failed on another stream: nobody may see its point reached before that is known.
TEST_F(streams, a_point_fails_with_the_points_that_it_depends_on_before_it_counts_as_reached) {
  stream_table all;
  stream &a = all.create(device.device(), TSR_STREAM_COPY), &b = all.create(device.device(), TSR_STREAM_COPY);
  stream& c = all.create(device.device(), TSR_STREAM_COPY);
  fail(a, TSR_DATA_LOSS);
  const block::ticket first = a.signal(), good = a.signal();
  const std::vector<block::ticket> on_both{good, first}, on_good{good};
  const block::ticket second = b.signal(on_both), other = b.signal(on_good);
  const block::ticket third = c.signal({&second, 1}), fourth = c.signal({&other, 1});
  note n2(2, second, fired), n3(3, third, fired), n4(4, fourth, fired);
  b.on_completion(n2);
  c.on_completion(n3);
  c.on_completion(n4);
  for (stream* s : {&a, &b, &c}) run(*s);
  // The last in the chain is asked first: nobody has looked at the others.
  EXPECT_TRUE(c.poll());
  EXPECT_TRUE(c.failed(third.value));
  EXPECT_FALSE(c.failed(fourth.value));
  EXPECT_TRUE(b.passed_with_failure(second.value));
  EXPECT_FALSE(b.passed_with_failure(other.value));
  EXPECT_TRUE(b.poll());
  EXPECT_EQ(fired, (list{{3, TSR_OK}, {4, TSR_OK}, {2, TSR_OK}})) << "their own work has not failed";
  const block::ticket late = c.signal({&second, 1});
  run(c);
  c.poll();
  EXPECT_TRUE(c.failed(late.value)) << "also when the failure is known already";
}

TEST_F(streams, of_a_lost_device_no_point_waits_for_what_it_depends_on) {
  fake_device elsewhere{world, 2, false, 0};
  stream_table all;
  stream &a = all.create(elsewhere.device(), TSR_STREAM_COPY), &b = all.create(device.device(), TSR_STREAM_COPY);
  const block::ticket first = a.signal();  // never reached
  const block::ticket second = b.signal({&first, 1});
  note n(1, second, fired);
  b.on_completion(n);
  device.state().lost = true;
  EXPECT_TRUE(b.poll());
  EXPECT_EQ(fired, (list{{1, TSR_DEVICE_LOST}}));
  run(a);
  a.poll();
}

TEST_F(streams, a_lost_device_ends_everything_that_was_signalled) {
  stream s(1, device.device(), TSR_STREAM_COPY);
  const block::ticket first = s.signal(), second = s.signal(), third = s.signal();
  note a(1, first, fired), c(3, third, fired);
  s.on_completion(a);
  s.on_completion(c);
  run(s, 1);
  s.poll();
  device.state().lost = true;
  EXPECT_TRUE(s.poll());
  EXPECT_EQ(fired, (list{{1, TSR_OK}, {3, TSR_DEVICE_LOST}}));
  EXPECT_TRUE(s.reached(third.value));
  note late(4, second, fired);
  s.on_completion(late);
  EXPECT_EQ(fired.back(), (entry{4, TSR_DEVICE_LOST})) << "sticky";
}

TEST_F(streams, wait_for_each_other_on_the_device) {
  stream_table table;
  stream& a = table.create(device.device(), TSR_STREAM_COMPUTE);
  stream& b = table.create(device.device(), TSR_STREAM_COMPUTE);
  EXPECT_EQ(a.number(), 1u);
  EXPECT_EQ(&table.at(2), &b);
  std::vector<int> order;
  work(a, [&] { order.push_back(1); });
  const block::ticket made = a.signal();
  b.wait(a, made);
  b.wait(b, {b.number(), 99});  // for itself: nothing to do
  work(b, [&] { order.push_back(2); });
  const block::ticket done = b.signal();
  run(b);
  EXPECT_TRUE(order.empty()) << "b is held back";
  EXPECT_FALSE(table.reached(done));
  run(a);
  run(b);
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  EXPECT_FALSE(table.reached(made)) << "nobody has looked yet";
  a.poll();
  b.poll();
  EXPECT_TRUE(table.reached(made) && table.reached(done));
  EXPECT_TRUE(table.reached({})) << "the empty ticket";
}

TEST_F(streams, can_wait_only_within_one_plugin_that_orders_its_streams) {
  fake_device sibling(world, 2, false, 0), other(world, 3, false, 0, "other"), host(world, 0, true, 0);
  stream a(1, device.device(), 0), b(2, sibling.device(), 0), c(3, other.device(), 0),
      d(4, host.device(), TSR_STREAM_INLINE), e(5, host.device(), TSR_STREAM_INLINE);
  EXPECT_TRUE(a.can_wait_for(a));
  EXPECT_TRUE(a.can_wait_for(b));
  EXPECT_FALSE(a.can_wait_for(c));
  EXPECT_FALSE(a.can_wait_for(d));
  EXPECT_FALSE(d.can_wait_for(e)) << "the host offers no such wait";
  EXPECT_TRUE(d.can_wait_for(d));
}

TEST_F(streams, inline_streams_are_done_when_the_call_returns) {
  fake_device host(world, 0, true, 0);
  stream s(1, host.device(), TSR_STREAM_COPY | TSR_STREAM_INLINE);
  bool ran = false;
  work(s, [&] { ran = true; });
  EXPECT_TRUE(ran);
  const block::ticket at = s.signal();
  EXPECT_TRUE(s.busy());
  s.poll();
  EXPECT_FALSE(s.busy());
  EXPECT_TRUE(s.reached(at.value));
  s.wait_until_idle(1);  // nothing to wait for
}

TEST_F(streams, wait_until_idle_without_a_host_wait_looks_once) {
  stream s(1, device.device(), TSR_STREAM_COPY);
  s.signal();
  s.wait_until_idle(1000);
  EXPECT_TRUE(s.busy());
  run(s);
  s.wait_until_idle(1000);
  EXPECT_FALSE(s.busy());
}

TEST_F(streams, call_who_waits_when_a_point_is_reached) {
  stream s(1, device.device(), TSR_STREAM_COPY);
  int calls = 0;
  s.set_wake([](void* counter) { ++*static_cast<int*>(counter); }, &calls);
  s.signal();
  s.poll();
  EXPECT_EQ(calls, 0);
  EXPECT_FALSE(s.must_be_asked());
  run(s);
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(s.must_be_asked());
  s.poll();
  EXPECT_FALSE(s.busy());
  EXPECT_EQ(calls, 1) << "who is polled finds nothing to tell";
}

// Whoever issued a copy polls too. Who was called too early may have left that to it and sleep.
TEST_F(streams, call_who_waits_again_when_somebody_else_finds_that_the_call_came_too_early) {
  device.state().calls_early = true;
  stream s(1, device.device(), TSR_STREAM_COPY);
  int calls = 0;
  s.set_wake([](void* counter) { ++*static_cast<int*>(counter); }, &calls);
  s.signal();
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(s.must_be_asked()) << "nobody has looked";
  s.poll();
  EXPECT_TRUE(s.must_be_asked());
  EXPECT_EQ(calls, 2);
  s.poll();
  EXPECT_EQ(calls, 2) << "it knows already";
  s.signal();
  s.poll();
  EXPECT_EQ(calls, 4) << "one for the call, one for what a poll found";
  run(s);
  s.poll();
  EXPECT_FALSE(s.must_be_asked());
  EXPECT_EQ(calls, 4);
  s.finish_wakes();
}

TEST_F(streams, many_random_registrations_and_polls) {
  stream s(1, device.device(), TSR_STREAM_COPY);
  std::vector<std::unique_ptr<note>> notes;
  std::map<int, tsr_status> expected;
  std::uint64_t random = 12345;
  const auto next = [&](std::uint64_t below) {
    random = random * 6364136223846793005ull + 1442695040888963407ull;
    return (random >> 33) % below;
  };
  std::vector<std::pair<block::ticket, tsr_status>> open;
  for (int k = 0; k < 2000; ++k) {
    const tsr_status status = next(5) == 0 ? TSR_ABORTED : TSR_OK;
    if (status != TSR_OK) fail(s, status);
    open.emplace_back(s.signal(), status);
    if (next(3) != 0) {  // a random one of the last few is registered now, late, or never
      const auto& [at, outcome] = open[open.size() - 1 - next(std::min<std::size_t>(open.size(), 6))];
      notes.push_back(std::make_unique<note>(k, at, fired));
      expected[k] = outcome;
      s.on_completion(*notes.back());
    }
    for (std::uint64_t steps = next(4); steps > 0; --steps) fake_of(s.handle()).advance();
    if (next(3) == 0) s.poll();
  }
  run(s, 10000);
  while (s.busy()) s.poll();
  ASSERT_EQ(fired.size(), expected.size()) << "each once";
  for (const auto& [name, status] : fired) EXPECT_EQ(status, expected[name]) << name;
}

}  // namespace
}  // namespace tessera::transfer
