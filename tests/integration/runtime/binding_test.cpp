// Workers on CPUs: told by the system itself.
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "machines.hpp"

namespace tessera {
namespace {

/// CPUs that the threads of a name may use, by name of the thread.
std::map<std::string, std::string> masks_of_threads() {
  std::map<std::string, std::string> found;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "status");
    std::string line, name;
    while (std::getline(file, line)) {
      if (line.starts_with("Name:")) name = line.substr(line.find_last_of("\t ") + 1);
      if (task.path().filename() == std::to_string(getpid())) name = "program";
      if (line.starts_with("Cpus_allowed_list:")) found[name] = line.substr(line.find_last_of("\t ") + 1);
    }
  }
  return found;
}

/// When all workers have begun, which is when they have their names.
std::map<std::string, std::string> masks_with(std::uint32_t workers) {
  for (;;) {
    auto found = masks_of_threads();
    std::uint32_t begun = 1;
    for (std::uint32_t k = 1; k < workers; ++k) begun += found.contains("tsr-worker" + std::to_string(k)) ? 1 : 0;
    if (begun == workers) return found;
    std::this_thread::yield();
  }
}

std::vector<std::uint32_t> cpus_of_core(const runtime& rt, std::size_t k) {
  for (const location::node_id node : rt.tree().subtree(rt.tree().root())) {
    const auto& is = rt.tree().at(node).properties;
    if (is.kind == location::kind::worker && !is.cpus.empty() && !is.space && k-- == 0) return is.cpus;
  }
  return {};
}

std::string list_of(std::vector<std::uint32_t> cpus) {
  std::ranges::sort(cpus);
  std::string text;
  for (std::size_t k = 0; k < cpus.size();) {
    std::size_t end = k;
    while (end + 1 < cpus.size() && cpus[end + 1] == cpus[end] + 1) ++end;
    text += (text.empty() ? "" : ",") + std::to_string(cpus[k]) + (end > k ? "-" + std::to_string(cpus[end]) : "");
    k = end + 1;
  }
  return text;
}

TEST(binding, workers_have_all_cpus_of_their_core_and_the_program_keeps_its_own) {
  const std::string before = masks_of_threads().at("program");
  runtime rt(testing::machine_of("plugins = [\"host\"]\n", 0));
  if (rt.workers() < 2) GTEST_SKIP() << "one core alone";
  auto a = rt.make_array<double>("a", {4}, {1});
  for (int k = 0; k < 1000; ++k) fill(rt, a(k % 4), 1.0);
  rt.fence();
  const auto masks = masks_with(rt.workers());
  for (std::uint32_t k = 1; k < rt.workers(); ++k)
    EXPECT_EQ(masks.at("tsr-worker" + std::to_string(k)), list_of(cpus_of_core(rt, k)));
  EXPECT_EQ(masks.at("program"), before);
}

TEST(binding, can_be_switched_off) {
  const std::string all = masks_of_threads().at("program");
  runtime rt(testing::machine_of("plugins = [\"host\"]\nbind = false\n", 3));
  rt.fence();
  const auto masks = masks_with(3);
  EXPECT_EQ(masks.at("tsr-worker1"), all);
  EXPECT_EQ(masks.at("tsr-worker2"), all);
}

TEST(binding, the_thread_that_waits_does_not_share_the_cpu_of_a_worker) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  runtime rt(testing::machine_of("plugins = [\"host\"]\n", 0));
  if (rt.workers() < 2) GTEST_SKIP() << "one core alone";
  const std::vector<std::uint32_t> first = cpus_of_core(rt, 0), second = cpus_of_core(rt, 1);
  auto a = rt.make_array<double>("a", {1}, {1});
  const std::thread::id me = std::this_thread::get_id();
  int mine = 0, beside = 0;
  for (int round = 0; round < 200; ++round) {
    // Where the first worker is bound; then free to be anywhere again.
    cpu_set_t there;
    CPU_ZERO(&there);
    CPU_SET(second.front(), &there);
    ASSERT_EQ(sched_setaffinity(0, sizeof there, &there), 0);
    ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
    rt.submit(
        "where",
        [&](view<double>) {
          if (std::this_thread::get_id() != me) return;
          ++mine;
          beside += std::ranges::find(second, static_cast<std::uint32_t>(sched_getcpu())) != second.end() ? 0 : 1;
        },
        write(a(0)));
    rt.fence();
  }
  // The system may move it back at any time; without being placed it would stay in almost every round.
  if (mine >= 20) {
    EXPECT_GT(beside, mine / 2) << "of " << mine;
  }
}

TEST(binding, a_program_that_has_bound_its_thread_is_left_alone) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  machine m = testing::machine_of("plugins = [\"host\"]\n", 0);
  const int here = sched_getcpu();
  CPU_ZERO(&one);
  CPU_SET(here, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  {
    runtime rt(std::move(m));
    auto a = rt.make_array<double>("a", {1}, {1});
    fill(rt, a(0), 1.0);
    rt.fence();
    EXPECT_EQ(sched_getcpu(), here);
    cpu_set_t after;
    ASSERT_EQ(sched_getaffinity(0, sizeof after, &after), 0);
    EXPECT_TRUE(CPU_EQUAL(&after, &one));
  }
  sched_setaffinity(0, sizeof before, &before);
}

}  // namespace
}  // namespace tessera
