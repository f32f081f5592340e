// Where the memory of arrays begins, and what it takes.
#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/bytes/colours.hpp"
#include "hierarchy/region/array_memory.hpp"

namespace tessera::hierarchy {
namespace {

constexpr std::uint64_t coloured_bytes = 4 << 20;

std::uintptr_t place_of(const array_memory& of) { return reinterpret_cast<std::uintptr_t>(of.data()); }
std::uint64_t colour_at(const array_memory& of) { return place_of(of) % colour_boundary; }

TEST(array_memory, large_arrays_follow_each_other_by_colours) {
  std::vector<std::shared_ptr<array_memory>> all;
  for (std::uint64_t n = 0; n < 2 * colours; ++n) all.push_back(array_memory::fresh(std::uint64_t{1} << 28, "a"));
  // Other tests of this process have taken some: where the first begins is not known, and the others follow from it.
  const std::uint64_t first = colour_at(*all[0]);
  ASSERT_EQ(first % colour_step, 0u);
  for (std::uint64_t n = 0; n < all.size(); ++n) {
    EXPECT_EQ(colour_at(*all[n]), colour_of(first / colour_step + n)) << n;
    for (std::uint64_t m = n + 1; m < all.size() && m < n + colours; ++m)
      EXPECT_NE((place_of(*all[n]) - place_of(*all[m])) % (1 << 20), 0u) << n << " and " << m << " of one colour";
  }
}

TEST(array_memory, begins_with_a_page_and_is_zero_up_to_its_last_byte) {
  for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{100'000}, coloured_bytes - 1, coloured_bytes,
                                    coloured_bytes + 1, 3 * coloured_bytes}) {
    const auto memory = array_memory::fresh(bytes, "a");
    EXPECT_EQ(place_of(*memory) % static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)), 0u);
    auto* const at = static_cast<unsigned char*>(memory->data());
    EXPECT_EQ(at[0] + at[bytes / 2] + at[bytes - 1], 0);
    std::memset(at, 7, bytes);
  }
}

/// Bytes of the address space that the process has mapped.
std::uint64_t mapped_bytes() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

TEST(array_memory, takes_less_than_a_mebibyte_beside_its_elements_and_gives_all_of_it_back) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "a sanitizer maps memory of its own";
#endif
  array_memory::fresh(coloured_bytes, "a");
  const std::uint64_t before = mapped_bytes();
  for (std::uint64_t n = 0; n < colours; ++n) {
    const auto memory = array_memory::fresh(10 * coloured_bytes, "a");
    EXPECT_LT(mapped_bytes(), before + 10 * coloured_bytes + (1 << 20));
  }
  EXPECT_LE(mapped_bytes(), before + (64 << 10));  // what the heap has taken
}

TEST(array_memory, no_memory_is_an_error) {
  EXPECT_THROW(array_memory::fresh(std::uint64_t{1} << 60, "a"), error);
  EXPECT_THROW(array_memory::fresh(~std::uint64_t{0}, "a"), error);
}

TEST(array_memory, of_large_files_has_colours_and_is_the_file) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "many iterations of what other tests begin";
#endif
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("colours." + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  {
    const auto one = array_memory::of_file(folder / "one", 2 * coloured_bytes, "one");
    const auto two = array_memory::of_file(folder / "two", 2 * coloured_bytes, "two");
    EXPECT_EQ(colour_at(*one) % colour_step, 0u);
    EXPECT_EQ(colour_at(*two), colour_of(colour_at(*one) / colour_step + 1));
    static_cast<char*>(one->data())[2 * coloured_bytes - 1] = 'x';
    one->flush();
    one->keep_file();
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "two"));
  std::ifstream file(folder / "one", std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  ASSERT_EQ(text.size(), 2 * coloured_bytes);
  EXPECT_EQ(text.back(), 'x');
  EXPECT_EQ(text.front(), '\0');
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tessera::hierarchy
