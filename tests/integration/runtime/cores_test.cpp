// Tasks that use several cores.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <stdexcept>
#include <thread>

#include "machines.hpp"
#include "tests/support/error_of.hpp"

namespace tessera {
namespace {

using test_support::error_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// How many workers tasks use at the moment, and the most so far.
class use_of_workers {
 public:
  void begin(std::uint32_t cores) {
    const std::uint32_t now = m_now.fetch_add(cores) + cores;
    for (std::uint32_t seen = m_most.load(); now > seen && !m_most.compare_exchange_weak(seen, now);) continue;
  }
  void end(std::uint32_t cores) { m_now.fetch_sub(cores); }
  std::uint32_t most() const { return m_most.load(); }

 private:
  std::atomic<std::uint32_t> m_now{0}, m_most{0};
};

TEST(cores, tasks_of_all_widths_never_use_more_workers_than_there_are) {
  for (const std::uint32_t workers : {1u, 2u, 3u, 4u}) {
    runtime rt(testing::host_only(workers));
    auto x = rt.make_array<std::int64_t>("x", {8}, {1});
    for (int k = 0; k < 8; ++k) fill(rt, x(k), 0);
    use_of_workers used;
    std::atomic<int> ran{0};
    for (int k = 0; k < 400; ++k) {
      const auto cores = static_cast<std::uint16_t>(k % 5 == 0 ? 1 + k / 5 % static_cast<int>(workers) : 1);
      rt.submit(
          "work", {.priority = static_cast<std::int16_t>(k % 3 - 1), .cores = cores},
          [&, cores](task_context here, view<std::int64_t> v) {
            EXPECT_EQ(here.cores(), cores);
            used.begin(cores);
            for (int n = 0; n < 2000; ++n) std::atomic_signal_fence(std::memory_order_seq_cst);
            ++v[0], ++ran;
            used.end(cores);
          },
          update(x(k % 8)));
    }
    rt.fence();
    EXPECT_EQ(ran.load(), 400);
    EXPECT_LE(used.most(), workers);
  }
}

TEST(cores, all_workers_come_also_those_that_sleep) {
  runtime rt(testing::host_only(4));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  for (int k = 0; k < 20; ++k) {
    std::atomic<int> ran{0};
    rt.submit("all", {.cores = 4}, [&] { ++ran; });
    rt.fence();
    EXPECT_EQ(ran.load(), 1);
  }
}

TEST(cores, a_task_that_wants_the_place_of_the_program_waits_for_a_fence_and_holds_nobody_up) {
  runtime rt(testing::host_only(2));
  std::promise<void> ran;
  std::atomic<bool> wide{false};
  rt.submit("both", {.cores = 2}, [&] { wide = true; });
  rt.submit("one", [&] { ran.set_value(); });
  ran.get_future().wait();  // by the other worker: the runtime does not know that this thread waits
  EXPECT_FALSE(wide.load());
  rt.fence();
  EXPECT_TRUE(wide.load());
}

TEST(cores, a_fence_that_has_enough_leaves_though_others_wait_for_its_worker) {
  runtime rt(testing::host_only(2));
  auto x = rt.make_array<double>("x", {2}, {1});
  for (int k = 0; k < 50; ++k) {
    rt.submit("both", {.cores = 2}, [] {});
    fill(rt, x(0), k);
    EXPECT_EQ(x.read_host(x(0))[0], k);
  }
  rt.fence();
}

TEST(cores, the_thread_may_run_on_the_cpus_of_its_workers_and_is_bound_as_before_afterwards) {
  runtime rt(testing::host_only(2));
  cpu_set_t before, after, inside;
  CPU_ZERO(&before);
  CPU_ZERO(&after);
  CPU_ZERO(&inside);
  sched_getaffinity(0, sizeof before, &before);
  rt.submit("both", {.cores = 2}, [&] { sched_getaffinity(0, sizeof inside, &inside); });
  rt.fence();
  sched_getaffinity(0, sizeof after, &after);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
  EXPECT_GE(CPU_COUNT(&inside), std::min(CPU_COUNT(&before), 2));
}

TEST(cores, in_recordings_and_with_blocks_that_come_from_elsewhere) {
  runtime rt(testing::with_sims(1, "64 KiB"));
  auto x = rt.make_array<double>("x", {64}, {64});
  fill(rt, x(0), 1);
  std::atomic<int> ran{0};
  recording r = rt.record([&] {
    scal(rt, 2, x(0), {.at = rt.at("sim0")});
    rt.submit(
        "both", {.cores = 2},
        [&ran](task_context here, view<double> v) {
          EXPECT_EQ(here.cores(), 2u);
          for (double& e : v) e += 1;
          ++ran;
        },
        update(x(0)));
  });
  for (int k = 0; k < 5; ++k) rt.replay(r);
  EXPECT_EQ(x.read_host(x(0))[7], 63);
  EXPECT_EQ(ran.load(), 5);
}

TEST(cores, failures_and_the_end_of_a_run) {
  runtime rt(testing::host_only(2));
  rt.submit("breaks", {.cores = 2}, [] { throw std::runtime_error("no luck"); });
  EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("no luck"));
  rt.submit("both", {.cores = 2}, [] {});
  rt.cancel("enough");
  EXPECT_THAT(error_of([&] { rt.fence(); }).what(), HasSubstr("enough"));
  {
    runtime ends(testing::host_only(2));
    ends.submit("both", {.cores = 2}, [] {});
  }
}

TEST(cores, a_number_that_does_not_fit) {
  runtime rt(testing::host_only(2));
  const auto with = [&](std::uint16_t cores) { return error_of([&] { rt.submit("wide", {.cores = cores}, [] {}); }); };
  EXPECT_THAT(with(3).what(), AllOf(HasSubstr("task 'wide' is to run on 3 cores, and the runtime has 2 workers"),
                                    HasSubstr("cores_test.cpp")));
  EXPECT_THAT(with(0).what(), HasSubstr("is to run on no core"));
  EXPECT_NO_THROW(rt.fence());
}

}  // namespace
}  // namespace tessera
