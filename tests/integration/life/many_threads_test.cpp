// As many threads as a large machine has, and fewer than were asked for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/integration/runtime/machines.hpp"
#include "tests/support/error_of.hpp"

namespace tessera {
namespace {

using test_support::error_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// Threads that are started meanwhile have stacks of this size.
class stacks_of {
 public:
  explicit stacks_of(std::size_t bytes) {
    pthread_getattr_default_np(&m_before);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, bytes);
    EXPECT_EQ(pthread_setattr_default_np(&small), 0);
    pthread_attr_destroy(&small);
  }
  ~stacks_of() {
    pthread_setattr_default_np(&m_before);
    pthread_attr_destroy(&m_before);
  }
  stacks_of(const stacks_of&) = delete;
  stacks_of& operator=(const stacks_of&) = delete;

 private:
  pthread_attr_t m_before;
};

#if defined(__SANITIZE_THREAD__)
constexpr std::size_t small_stack = 8 << 20;  // what the sanitizer keeps for a thread lies there
constexpr unsigned fewer = 4;                 // threads, which cost it that each
#else
constexpr std::size_t small_stack = 512 << 10;
constexpr unsigned fewer = 1;
#endif

void count_to(runtime& rt, int tasks) {
  auto a = rt.make_array<std::int64_t>("a", {64}, {1});
  for (int k = 0; k < 64; ++k) fill(rt, a(k), std::int64_t{0});
  for (int k = 0; k < tasks; ++k)
    rt.submit(
        "add", [](view<std::int64_t> x) { ++x[0]; }, update(a(k % 64)));
  rt.fence();
  std::int64_t sum = 0;
  for (int k = 0; k < 64; ++k) sum += a(k).read()[0];
  EXPECT_EQ(sum, tasks);
}

TEST(many_threads, a_thousand_workers) {
  const stacks_of few(small_stack);
  runtime rt(testing::machine_of("plugins = [\"host\"]\nspin = \"0 s\"\n", 1024 / fewer));
  EXPECT_EQ(rt.workers(), 1024 / fewer);
  count_to(rt, 20'000 / fewer);
}

TEST(many_threads, a_machine_of_more_than_256_cores_by_default) {
  const stacks_of few(small_stack);
  runtime rt(testing::machine_of(
      "plugins = [\"host\"]\nspin = \"0 s\"\n[topology]\nsynthetic = \"numa:1 core:300 pu:1\"\n", 0));
  EXPECT_EQ(rt.workers(), 300u);
  count_to(rt, 5'000);
}

TEST(many_threads, many_workers_and_many_devices) {
  const stacks_of few(small_stack);
  constexpr int devices = 64 / fewer;
  runtime rt(testing::with_sims(devices, "1 MiB", false, 256 / fewer, "spin = \"0 s\"\n"));
  auto a = rt.make_array<double>("a", {devices * 16}, {16});
  for (int k = 0; k < devices; ++k) fill(rt, a(k), double(k), {.at = rt.at("sim" + std::to_string(k))});
  rt.fence();
  for (int k = 0; k < devices; ++k) EXPECT_EQ(a(k).read()[15], k);
  count_to(rt, 2'000);
}

TEST(many_threads, as_many_devices_as_a_block_can_be_in) {
  const stacks_of few(small_stack);
  constexpr int devices = 127;
  runtime rt(testing::with_sims(devices, "1 MiB", false, 2, "spin = \"0 s\"\nplacement = \"pinned\"\n"));
  auto a = rt.make_array<double>("a", {16}, {16});
  auto sums = rt.make_array<double>("sums", {devices * 16}, {16});
  fill(rt, a(0), 1.0);
  const auto device = [&](int k) { return rt.at("sim" + std::to_string(k)); };
  for (int k = 0; k < devices; ++k) fill(rt, sums(k), double(k), {.at = device(k)});
  for (int k = 0; k < devices; ++k) axpy(rt, 2.0, a(0), sums(k), {.at = device(k)});  // a replica of it in every memory
  rt.fence();
  EXPECT_EQ(rt.statistics().spaces.size(), 128u);
  for (int k = 0; k < devices; ++k) EXPECT_EQ(sums(k).read()[15], k + 2);
  scal(rt, 3.0, a(0), {.at = device(devices - 1)});  // the only valid one from now on
  for (int k = 0; k < devices; ++k) axpy(rt, 1.0, a(0), sums(k), {.at = device(k)});
  for (int k = 0; k < devices; ++k) EXPECT_EQ(sums(k).read()[0], k + 5);
  rt.detach("sim126");  // what only it has goes home
  EXPECT_EQ(a(0).read()[0], 3);
}

TEST(many_threads, more_memories_than_a_block_can_be_in_are_refused) {
  const error e = error_of([] { runtime rt(testing::with_sims(128, "1 MiB")); });
  EXPECT_EQ(e.kind(), error_kind::configuration);
  EXPECT_THAT(e.what(), AllOf(HasSubstr("129 memories"), HasSubstr("takes 128")));
}

TEST(many_threads, the_first_is_refused) {
  machine m = testing::host_only(3);
  error e(error_kind::internal, "");
  {
    const stacks_of impossible(std::size_t{1} << 46);
    e = error_of([&] { runtime rt(std::move(m)); });
  }
  EXPECT_EQ(e.kind(), error_kind::configuration);
  EXPECT_THAT(e.what(), AllOf(HasSubstr("refuses another thread after 1 of 3 workers"), HasSubstr("ulimit -u")));
  runtime rt(testing::host_only(3));  // nothing is left of the first
  count_to(rt, 1'000);
}

TEST(many_threads, one_in_the_middle_is_refused) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become a user without processes";
  ::testing::GTEST_FLAG(death_test_style) = "fast";
  const auto child = [] {
    machine m = testing::with_sims(1, "1 MiB", false, 64);
    const rlimit few{8, 8};
    if (setrlimit(RLIMIT_NPROC, &few) != 0 || setgid(64123) != 0 || setuid(64123) != 0) _exit(3);
    try {
      runtime rt(std::move(m));
    } catch (const error& e) {
      std::fprintf(stderr, "%s\n", e.what());
      _exit(e.kind() == error_kind::configuration ? 0 : 4);
    }
    _exit(5);
  };
  EXPECT_EXIT(child(), ::testing::ExitedWithCode(0), "refuses another thread after [2-9] of 64 workers.*ulimit -u: 8");
}

}  // namespace
}  // namespace tessera
