#include "core/schedule/device/stream_times.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace tessera::schedule {
namespace {

using namespace std::chrono_literals;

stream_times::time_point at(std::chrono::nanoseconds t) { return stream_times::time_point(t); }

TEST(stream_times, work_on_an_idle_stream_takes_the_time_since_it_started) {
  stream_times times(2);
  EXPECT_EQ(times.complete(0, at(100ns), [] { return at(150ns); }), 50u);
  EXPECT_EQ(times.complete(0, at(400ns), [] { return at(460ns); }), 60u) << "idle in between";
}

TEST(stream_times, work_that_has_waited_for_the_one_before_takes_the_time_since_that) {
  stream_times times(2);
  EXPECT_EQ(times.complete(0, at(100ns), [] { return at(150ns); }), 50u);
  EXPECT_EQ(times.complete(0, at(110ns), [] { return at(170ns); }), 20u);
  EXPECT_EQ(times.complete(1, at(110ns), [] { return at(170ns); }), 60u) << "another stream";
}

TEST(stream_times, inputs_that_were_seen_after_the_end_give_no_negative_time) {
  stream_times times(1);
  EXPECT_EQ(times.complete(0, at(200ns), [] { return at(150ns); }), 0u);
}

TEST(stream_times, threads_share_out_the_time_of_a_stream) {
  constexpr int pieces = 2000;
  stream_times times(1);
  const auto begin = std::chrono::steady_clock::now();
  std::uint64_t sums[2] = {0, 0};
  const auto count = [&](std::uint64_t& sum) {
    for (int k = 0; k < pieces; ++k) sum += times.complete(0, begin, [] { return std::chrono::steady_clock::now(); });
  };
  std::thread other(count, std::ref(sums[1]));
  count(sums[0]);
  other.join();
  const std::uint64_t last = times.complete(0, begin, [] { return std::chrono::steady_clock::now(); });
  const auto all = std::chrono::steady_clock::now() - begin;
  EXPECT_LE(sums[0] + sums[1] + last, static_cast<std::uint64_t>(all.count())) << "no moment is counted twice";
  EXPECT_GT(sums[0] + sums[1], 0u);
}

}  // namespace
}  // namespace tessera::schedule
