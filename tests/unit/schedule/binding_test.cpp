// Which CPUs workers are bound to, and what is said where that cannot be.
#include "core/schedule/binding.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <future>
#include <thread>
#include <vector>

namespace tessera::schedule {
namespace {

std::vector<std::uint32_t> cpus_of(pthread_t thread) {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(pthread_getaffinity_np(thread, sizeof set, &set), 0);
  std::vector<std::uint32_t> all;
  for (std::uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) all.push_back(cpu);
  return all;
}

/// A worker that is there until the end of the test.
struct idle_worker {
  ~idle_worker() {
    end.set_value();
    thread.join();
  }
  std::promise<void> end;
  std::thread thread{[over = end.get_future()]() mutable { over.wait(); }};
};

const std::vector<std::uint32_t>& allowed() {
  static const std::vector<std::uint32_t> all = cpus_of(pthread_self());
  return all;
}

TEST(binding, gives_a_worker_its_cpus_and_no_others) {
  const std::vector<std::uint32_t> own{allowed().back()};
  binding b({{}, own}, true);
  idle_worker w;
  b.bind(w.thread, 1);
  EXPECT_EQ(cpus_of(w.thread.native_handle()), own);
  EXPECT_EQ(b.trouble(), "");
}

TEST(binding, leaves_alone_whom_it_has_no_cpus_for_and_everybody_when_it_is_off) {
  const std::vector<std::uint32_t> one{allowed().front()};
  for (const bool on : {true, false}) {
    binding b({one, on ? std::vector<std::uint32_t>{} : one}, on);
    idle_worker w;
    b.bind(w.thread, 1);
    EXPECT_EQ(cpus_of(w.thread.native_handle()), allowed()) << on;
    EXPECT_EQ(b.trouble(), "");
  }
}

TEST(binding, says_once_why_a_worker_floats) {
  constexpr std::uint32_t no_such_cpu = 100'000;
  binding b({{}, {no_such_cpu}, {no_such_cpu + 1}}, true);
  idle_worker first, second;
  b.bind(first.thread, 1);
  EXPECT_EQ(b.trouble().rfind("worker 1 is not bound to CPU 100000: ", 0), 0u) << b.trouble();
  const std::string before = b.trouble();
  b.bind(second.thread, 2);
  EXPECT_EQ(b.trouble(), before) << "the first reason stays";
  EXPECT_EQ(cpus_of(first.thread.native_handle()), allowed());
}

TEST(binding, a_thread_that_becomes_worker_0_may_run_where_it_might_before) {
  for (const std::uint32_t own : allowed()) {
    binding b({allowed(), {own}}, true);
    idle_worker w;
    b.bind(w.thread, 1);
    b.place_this_thread();
    EXPECT_EQ(cpus_of(pthread_self()), allowed()) << "it is moved at most, and floats again";
  }
}

TEST(binding, a_thread_that_the_program_has_bound_elsewhere_stays_there) {
  if (allowed().size() < 2) GTEST_SKIP() << "this process has one CPU";
  const std::uint32_t here = allowed()[0], other = allowed()[1];
  binding b({{other}, {here}}, true);
  idle_worker w;
  b.bind(w.thread, 1);
  std::thread([&] {
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(here, &only);
    ASSERT_EQ(sched_setaffinity(0, sizeof only, &only), 0);
    b.place_this_thread();
    EXPECT_EQ(cpus_of(pthread_self()), std::vector<std::uint32_t>{here});
    EXPECT_EQ(sched_getcpu(), static_cast<int>(here));
  }).join();
}

}  // namespace
}  // namespace tessera::schedule
