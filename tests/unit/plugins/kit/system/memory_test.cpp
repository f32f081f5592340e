// Pages, domains, and the book of registered ranges.
#include <gtest/gtest.h>

#include "plugins/kit/system/pages.hpp"
#include "plugins/kit/system/registration.hpp"

namespace tessera::kit {
namespace {

TEST(pages, are_zero_aligned_and_refused_when_absurd) {
  const auto small = pages::map(1, true, -1);
  ASSERT_TRUE(small);
  EXPECT_EQ(small->bytes(), page_bytes());
  const auto large = pages::map(5ull << 20, true, 0);
  ASSERT_TRUE(large);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(large->data()) % pages::huge_bytes, 0u);
  for (std::uint64_t i = 0; i < large->bytes(); i += 4096) ASSERT_EQ(static_cast<const char*>(large->data())[i], 0);
  EXPECT_FALSE(pages::map(1ull << 60, true, -1));
  EXPECT_FALSE(pages::map(0, true, -1));
}

TEST(numa_domains, only_those_with_allowed_cpus) {
  const auto all = numa_domains(nullptr, 0);
  ASSERT_GE(all.size(), 1u);
  EXPECT_GT(all[0].bytes, 0u);
  EXPECT_GE(all[0].cpus, 1u);
  const std::uint64_t one_cpu = 1;
  const auto restricted = numa_domains(&one_cpu, 1);
  ASSERT_EQ(restricted.size(), 1u);
  EXPECT_EQ(restricted[0].cpus, 1u);
}

TEST(registration_table, ranges_do_not_overlap) {
  const char memory[100] = {};
  registration_table table;
  EXPECT_TRUE(table.add(memory + 10, 20));
  EXPECT_FALSE(table.add(memory + 10, 20));
  EXPECT_FALSE(table.add(memory + 29, 5));
  EXPECT_FALSE(table.add(memory, 11));
  EXPECT_FALSE(table.add(memory, 100));
  EXPECT_FALSE(table.add(memory + 15, 2));
  EXPECT_TRUE(table.add(memory, 10));
  EXPECT_TRUE(table.add(memory + 30, 5));
  EXPECT_FALSE(table.remove(memory + 11));
  EXPECT_TRUE(table.remove(memory + 10));
  EXPECT_TRUE(table.add(memory + 12, 3));
}

}  // namespace
}  // namespace tessera::kit
