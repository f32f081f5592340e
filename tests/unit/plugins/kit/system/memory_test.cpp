// Pages, domains, and the book of registered ranges.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <vector>

#include "core/bytes/colours.hpp"
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

TEST(pages, large_ones_begin_at_their_colour_and_end_with_their_bytes) {
  const std::uint64_t page = page_bytes(), bytes = 64ull << 20;
  std::vector<std::optional<pages>> all;
  for (std::uint64_t n = 0; n < 2 * colours; ++n) {
    all.push_back(pages::map(bytes, true, -1, n));
    ASSERT_TRUE(all.back());
    const auto begin = reinterpret_cast<std::uintptr_t>(all.back()->data());
    EXPECT_EQ(begin % pages::huge_bytes, colour_of(n) / page * page) << n;
    EXPECT_EQ(all.back()->bytes(), bytes);
    auto* const first = static_cast<char*>(all.back()->data());
    EXPECT_EQ(first[0] + first[bytes - 1], 0);
    // The pages between the boundary and the colour are nobody's.
    unsigned char here = 0;
    if (begin % pages::huge_bytes != 0) {
      EXPECT_EQ(mincore(first - page, page, &here), -1) << n;
    }
  }
  const auto small = pages::map(pages::coloured_bytes - 1, true, -1, 3);
  ASSERT_TRUE(small);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(small->data()) % pages::huge_bytes, 0u);
}

TEST(pages, are_there_once_populated) {
  const auto large = pages::map(50ull << 20, false, -1);
  ASSERT_TRUE(large);
  char* const begin = static_cast<char*>(large->data());
  const std::uint64_t page = page_bytes();
  const auto resident = [&] {
    std::vector<unsigned char> here(large->bytes() / page);
    EXPECT_EQ(mincore(begin, large->bytes(), here.data()), 0);
    return here;
  };
  for (const unsigned char one : resident()) ASSERT_EQ(one & 1, 0);
  populate(begin + 10 * page + 5, large->bytes() - 20 * page);  // from within a page to within another
  const auto here = resident();
  for (std::size_t k = 0; k < here.size(); ++k)
    ASSERT_EQ(here[k] & 1, k >= 10 && k <= here.size() - 10 ? 1 : 0) << "page " << k << " of " << here.size();
  begin[20 * page] = 7;
  populate(begin, large->bytes());
  EXPECT_EQ(begin[20 * page], 7) << "what is there stays";
}

TEST(pages, of_files_are_left_alone) {
  std::FILE* const file = std::tmpfile();
  ASSERT_NE(file, nullptr);
  constexpr std::uint64_t bytes = 4 << 20;
  ASSERT_EQ(ftruncate(fileno(file), bytes), 0);
  void* const shared = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
  ASSERT_NE(shared, MAP_FAILED);
  populate(shared, bytes);
  struct stat facts {};
  ASSERT_EQ(fstat(fileno(file), &facts), 0);
  EXPECT_EQ(facts.st_blocks, 0) << "the file has room on disk to which nothing was written";
  munmap(shared, bytes);
  std::fclose(file);
}

TEST(pages, that_cannot_be_written_are_left_alone) {
  const auto some = pages::map(1 << 20, false, -1);
  ASSERT_TRUE(some);
  ASSERT_EQ(mprotect(some->data(), some->bytes(), PROT_READ), 0);
  populate(some->data(), some->bytes());
  EXPECT_EQ(*static_cast<const char*>(some->data()), 0);
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
