// Four threads link tasks on the same blocks in random order, while others run what is ready.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>

#include "tests/unit/task/rig.hpp"

namespace tessera::task {
namespace {

constexpr std::size_t threads = 4, blocks_in_all = 8;

std::uint64_t seed_from_environment() {
  const char* given = std::getenv("TESSERA_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::printf("seed %llu (TESSERA_SEED)\n", static_cast<unsigned long long>(seed));
  return seed;
}

struct world {
  world() {
    for (auto& b : blocks) b = &table.create(element_type::i64, shape{1});
  }
  std::vector<std::pair<block::record*, intent>> random_uses(std::mt19937_64& random) {
    std::vector<std::pair<block::record*, intent>> uses;
    for (std::uint64_t n = 1 + random() % 5; n > 0; --n) {
      block::record* b = blocks[random() % blocks_in_all];
      if (std::ranges::any_of(uses, [&](const auto& p) { return p.first == b; })) continue;
      uses.emplace_back(b, std::array{intent::read, intent::read, intent::write, intent::update}[random() % 4]);
    }
    return uses;
  }
  block::table table;
  std::array<block::record*, blocks_in_all> blocks{};
};

TEST(linking, threads_that_link_at_once_agree_on_one_order) {
  const std::uint64_t seed = seed_from_environment();
  world shared;
  constexpr int per_thread = 3000;
  std::array<std::unique_ptr<rig>, threads> rigs;
  std::array<std::vector<record*>, threads> made;
  std::vector<std::thread> all;
  for (std::size_t t = 0; t < threads; ++t) {
    rigs[t] = std::make_unique<rig>(static_cast<std::uint16_t>(t));
    all.emplace_back([&, t] {
      std::mt19937_64 random(seed + t);
      for (int k = 0; k < per_thread; ++k) {
        record& task = rigs[t]->make(shared.random_uses(random));
        made[t].push_back(&task);
        if (link(task, *rigs[t])) rigs[t]->ready.push_back(&task);
      }
    });
  }
  for (auto& t : all) t.join();

  // Kahn's algorithm: without a cycle everything runs, and each block sees its versions one after the other.
  std::deque<record*> ready;
  for (auto& one : rigs) ready.insert(ready.end(), one->ready.begin(), one->ready.end());
  std::array<block::version_number, blocks_in_all> now{};
  const auto number_of = [&](const block::record* b) {
    return static_cast<std::size_t>(std::ranges::find(shared.blocks, b) - shared.blocks.begin());
  };
  std::size_t ran = 0;
  std::mt19937_64 random(seed);
  while (!ready.empty()) {
    std::swap(ready[random() % ready.size()], ready.back());
    record& t = *ready.back();
    ready.pop_back();
    ++ran;
    for (const block::access& use : t.all_accesses()) {
      block::version_number& at = now[number_of(use.block)];
      ASSERT_EQ(use.version, at + (use.intent == intent::read ? 0 : 1)) << "a version was skipped or overtaken";
      at = use.version;
    }
    release_successors(t, [&](record& s) { ready.push_back(&s); });
  }
  EXPECT_EQ(ran, threads * per_thread) << "the others wait in a cycle";
}

TEST(linking, tasks_run_and_are_recycled_while_others_are_linked) {
  const std::uint64_t seed = seed_from_environment();
  world shared;
#if defined(__SANITIZE_THREAD__)
  constexpr int per_thread = 2000;
#else
  constexpr int per_thread = 10'000;
#endif
  std::array<std::unique_ptr<rig>, threads> rigs;
  for (std::size_t t = 0; t < threads; ++t) rigs[t] = std::make_unique<rig>(static_cast<std::uint16_t>(t));
  // Plain numbers: the edges alone must keep these from racing.
  std::array<block::version_number, blocks_in_all> now{};
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<record*> ready;
  std::size_t ran = 0;
  std::atomic<int> wrong{0};
  std::array<std::atomic<int>, threads> open{};
  const auto push = [&](record& t) {
    {
      const std::lock_guard guard(mutex);
      ready.push_back(&t);
    }
    changed.notify_one();
  };
  std::vector<std::thread> all;
  for (std::size_t t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      std::mt19937_64 random(seed + t);
      for (int k = 0; k < per_thread; ++k) {
        for (int n = open[t].load(); n > 200; n = open[t].load()) open[t].wait(n);
        ++open[t];
        record& task = rigs[t]->make(shared.random_uses(random));
        if (link(task, *rigs[t])) push(task);
      }
    });
  for (std::size_t t = 0; t < 2; ++t)
    all.emplace_back([&, t] {
      std::mt19937_64 random(seed + 100 + t);
      for (;;) {
        record* task = nullptr;
        {
          std::unique_lock guard(mutex);
          changed.wait(guard, [&] { return !ready.empty() || ran == threads * per_thread; });
          if (ready.empty()) return;
          std::swap(ready[random() % ready.size()], ready.back());
          task = ready.back();
          ready.pop_back();
        }
        for (const block::access& use : task->all_accesses()) {
          block::version_number& at =
              now[static_cast<std::size_t>(std::ranges::find(shared.blocks, use.block) - shared.blocks.begin())];
          if (use.version != at + (use.intent == intent::read ? 0 : 1)) ++wrong;
          if (use.intent != intent::read) at = use.version;
        }
        const std::uint16_t owner = task->owner;
        release_successors(*task, push);
        rigs[owner]->tasks().give_back(*task, *task);
        --open[owner];
        open[owner].notify_one();
        bool last = false;
        {
          const std::lock_guard guard(mutex);
          last = ++ran == threads * per_thread;
        }
        if (last) changed.notify_all();
      }
    });
  for (auto& t : all) t.join();
  EXPECT_EQ(ran, threads * per_thread);
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace tessera::task
