// Registered user memory: interior pointers, limits, overlap, kept and temporary regions, devices that refuse.
#include "core/memory/registration_cache.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "tests/support/fake_device.hpp"

namespace tessera::memory {
namespace {

using testing::fake_device;
using testing::fake_world;

class registrations : public ::testing::Test {
 protected:
  bool registered(std::size_t begin, std::size_t end) {
    for (const auto& r : device.state().registered)
      if (r.begin == reinterpret_cast<std::uintptr_t>(at(begin)) && r.end == reinterpret_cast<std::uintptr_t>(at(end)))
        return true;
    return false;
  }
  std::byte* at(std::size_t k) { return memory.data() + k; }
  std::size_t count() { return device.state().registered.size(); }

  std::array<std::byte, 4096> memory{};
  fake_world world;
  fake_device device{world, 1, false, 0};
};

TEST_F(registrations, interior_pointers_hit) {
  registration_cache cache({&device.device()}, 1 << 20);
  cache.keep(at(0), 1000);
  cache.acquire(at(0), 1000);
  cache.acquire(at(500), 500);
  cache.acquire(at(999), 1);
  EXPECT_EQ(cache.statistics().hits, 3u);
  EXPECT_EQ(cache.statistics().misses, 0u);
  EXPECT_EQ(count(), 1u);
  cache.acquire(at(1000), 1);  // just behind
  EXPECT_EQ(cache.statistics().misses, 1u);
  EXPECT_EQ(cache.statistics().bytes, 1001u);
  cache.release(at(1000));
  EXPECT_EQ(cache.statistics().bytes, 1000u);
  for (const std::size_t k : {0u, 500u, 999u}) cache.release(at(k));
  EXPECT_TRUE(registered(0, 1000)) << "kept";
  cache.forget(at(0));
  EXPECT_EQ(count(), 0u);
}

TEST_F(registrations, temporary_regions_end_with_their_last_use) {
  registration_cache cache({&device.device()}, 1 << 20);
  cache.acquire(at(100), 100);
  cache.acquire(at(150), 10);
  cache.release(at(100));
  EXPECT_TRUE(registered(100, 200)) << "the interior use is still there";
  cache.release(at(150));
  EXPECT_EQ(count(), 0u);
  EXPECT_EQ(cache.statistics().bytes, 0u);
  cache.release(at(150));  // one too many is ignored
}

TEST_F(registrations, the_limit_on_bytes_pushes_out_the_least_recently_used) {
  registration_cache cache({&device.device()}, 300);
  cache.keep(at(0), 100);
  cache.keep(at(100), 100);
  cache.keep(at(200), 100);
  cache.acquire(at(0), 100);  // now the second is the oldest
  cache.release(at(0));
  cache.keep(at(300), 100);
  EXPECT_FALSE(registered(100, 200));
  EXPECT_TRUE(registered(0, 100) && registered(200, 300) && registered(300, 400));
  EXPECT_EQ(cache.statistics().evictions, 1u);
  EXPECT_EQ(cache.statistics().bytes, 300u);
}

TEST_F(registrations, regions_in_use_are_never_pushed_out) {
  registration_cache cache({&device.device()}, 200);
  cache.acquire(at(0), 100);
  cache.acquire(at(100), 100);
  cache.acquire(at(200), 100);  // stays unregistered: copies are slower and right
  EXPECT_TRUE(registered(0, 100) && registered(100, 200));
  EXPECT_EQ(count(), 2u);
  EXPECT_EQ(cache.statistics().evictions, 0u);
  for (const std::size_t k : {0u, 100u, 200u}) cache.release(at(k));
  EXPECT_EQ(count(), 0u);
}

TEST_F(registrations, the_limit_on_regions) {
  registration_cache cache({&device.device()}, 1 << 20, 2);
  cache.keep(at(0), 10);
  cache.keep(at(10), 10);
  cache.keep(at(20), 10);
  EXPECT_EQ(count(), 2u);
  EXPECT_FALSE(registered(0, 10));
}

TEST_F(registrations, overlapping_regions_are_not_registered_twice_and_keep_their_own_uses) {
  registration_cache cache({&device.device()}, 1 << 20);
  cache.keep(at(0), 100);
  cache.acquire(at(60), 10);  // in the kept region
  cache.keep(at(50), 100);    // across its edge: cannot be registered
  EXPECT_EQ(count(), 1u);
  cache.acquire(at(120), 10);  // in the second
  cache.release(at(60));       // of the first, though the second begins nearer
  EXPECT_NO_THROW(cache.forget(at(0))) << "nobody uses it any more";
  EXPECT_THROW(cache.forget(at(50)), error) << "somebody does";
  cache.release(at(120));
  EXPECT_NO_THROW(cache.forget(at(50)));
  EXPECT_EQ(count(), 0u);
}

TEST_F(registrations, a_longer_use_from_the_same_begin) {
  registration_cache cache({&device.device()}, 1 << 20);
  cache.acquire(at(0), 100);
  cache.acquire(at(0), 200);
  EXPECT_EQ(count(), 1u);
  cache.release(at(0));
  EXPECT_TRUE(registered(0, 100)) << "one use is left";
  cache.release(at(0));
  EXPECT_EQ(count(), 0u);
}

TEST_F(registrations, forgetting_memory_in_use_is_a_mistake) {
  registration_cache cache({&device.device()}, 1 << 20);
  cache.keep(at(0), 100);
  cache.acquire(at(10), 10);
  try {
    cache.forget(at(0));
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::usage);
  }
  EXPECT_EQ(count(), 1u);
  cache.release(at(10));
  cache.forget(at(0));
  cache.forget(at(0));  // unknown: ignored
  EXPECT_EQ(count(), 0u);
}

TEST_F(registrations, what_is_not_registered_counts_in_no_limit) {
  registration_cache cache({&device.device()}, 100, 2);
  cache.acquire(at(0), 1000);  // more than the limit
  cache.acquire(at(1000), 1000);
  cache.acquire(at(2000), 50);
  EXPECT_TRUE(registered(2000, 2050));
  cache.acquire(at(20), 10);  // in one that is not registered: used there
  EXPECT_EQ(count(), 1u);
  for (const std::size_t k : {0u, 1000u, 2000u, 20u}) cache.release(at(k));
  EXPECT_EQ(count(), 0u);
}

TEST_F(registrations, a_device_that_refuses_does_not_hinder_the_others) {
  fake_device refuses(world, 2, false, 0);
  refuses.state().fail_register = TSR_RESOURCE_EXHAUSTED;
  {
    registration_cache cache({&refuses.device(), &device.device()}, 1 << 20);
    cache.keep(at(0), 100);
    EXPECT_EQ(count(), 1u);
    EXPECT_EQ(cache.statistics().refused, 1u);
    EXPECT_EQ(cache.statistics().bytes, 100u);
    device.state().fail_register = TSR_PERMISSION_DENIED;
    cache.keep(at(200), 100);
    EXPECT_EQ(cache.statistics().refused, 3u);
    EXPECT_EQ(cache.statistics().bytes, 100u) << "registered nowhere: counts nothing";
  }
  EXPECT_EQ(count(), 0u) << "the destructor unregisters";
}

TEST_F(registrations, random_uses_balance) {
  const char* given = std::getenv("TESSERA_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::printf("seed %llu (TESSERA_SEED)\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  registration_cache cache({&device.device()}, 1500, 6);
  std::vector<std::size_t> used;
  for (int step = 0; step < 20000; ++step) {
    if (used.size() < 12 && random() % 2 == 0) {
      const std::size_t begin = random() % 3000, bytes = 1 + random() % 1000;
      cache.acquire(at(begin), bytes);
      used.push_back(begin);
    } else if (!used.empty()) {
      const std::size_t which = random() % used.size();
      cache.release(at(used[which]));
      used.erase(used.begin() + static_cast<std::ptrdiff_t>(which));
    }
    std::uint64_t bytes = 0;
    for (const auto& r : device.state().registered) bytes += r.end - r.begin;
    ASSERT_EQ(cache.statistics().bytes, bytes);
    ASSERT_LE(bytes, 1500u);
    ASSERT_LE(count(), 6u);
  }
  for (const std::size_t k : used) cache.release(at(k));
  EXPECT_EQ(count(), 0u) << "nothing was kept";
  EXPECT_EQ(cache.statistics().bytes, 0u);
}

}  // namespace
}  // namespace tessera::memory
