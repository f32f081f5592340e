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

TEST(HugePages, MappedMemoryIsWholeAndBeginsAtAHugePage) {
  for (const std::size_t bytes : {std::size_t{1}, huge_page_bytes, 3 * huge_page_bytes - 5}) {
    const std::size_t whole = (bytes + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
    for (const bool ask : {true, false}) {
      auto* const memory = static_cast<unsigned char*>(map_huge_pages(bytes, ask));
      ASSERT_NE(memory, nullptr);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % huge_page_bytes, 0u);
      memory[0] = 1;
      memory[whole - 1] = 2;
      EXPECT_EQ(memory[0] + memory[whole - 1], 3);
      unmap_huge_pages(memory, bytes);
    }
  }
#ifndef __SANITIZE_ADDRESS__  // whose heap ends the process instead
  EXPECT_EQ(map_huge_pages(std::size_t{1} << 60), nullptr);
#endif
  unmap_huge_pages(nullptr, huge_page_bytes);
}

}  // namespace
}  // namespace tessera
