#include "core/base/huge_pages.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace tessera {
namespace {

struct alignas(64) line {
  std::uint64_t number = 0;
};

TEST(HugePages, ATableKeepsItsEntriesWhileItGrowsFromSmallToLarge) {
  large_vector<line> table;
  constexpr std::uint64_t count = 3 * huge_page_bytes / sizeof(line) + 1;
  for (std::uint64_t k = 0; k < count; ++k) {
    table.push_back({k});
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(table.data()) % alignof(line), 0u);
  }
  for (std::uint64_t k = 0; k < count; ++k) ASSERT_EQ(table[k].number, k);
}

TEST(HugePages, ALargeTableBeginsAtAHugePage) {
  large_vector<line> table(4 * huge_page_bytes / sizeof(line));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(table.data()) % huge_page_bytes, 0u);
}

TEST(HugePages, ASmallTableIsNotRoundedUp) {
  large_vector<std::int32_t> table(3);
  table.shrink_to_fit();
  EXPECT_EQ(table.capacity(), 3u);
}

}  // namespace
}  // namespace tessera
