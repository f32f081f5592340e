// Pages that get another address.
#include "core/bytes/move_pages.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tessera {
namespace {

constexpr std::uint64_t mebi = std::uint64_t{1} << 20;

/// Fresh memory of this process alone.
class mapping {
 public:
  explicit mapping(std::uint64_t bytes)
      : m_bytes(bytes), m_data(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~mapping() { ::munmap(m_data, m_bytes); }
  mapping(const mapping&) = delete;
  mapping& operator=(const mapping&) = delete;
  std::byte* data() const { return static_cast<std::byte*>(m_data); }
  void fill(int value) const { std::fill_n(data(), m_bytes, static_cast<std::byte>(value)); }
  bool is_all(int value) const {
    return std::all_of(data(), data() + m_bytes, [&](std::byte b) { return b == static_cast<std::byte>(value); });
  }

 private:
  std::uint64_t m_bytes;
  void* m_data;
};

TEST(move_pages, takes_the_contents_and_leaves_zeros) {
#if !defined(MREMAP_DONTUNMAP)
  GTEST_SKIP() << "this system does not move pages so";
#endif
  const mapping from(mebi), to(mebi);
  from.fill(7);
  move_pages(from.data(), to.data(), mebi);
  EXPECT_TRUE(to.is_all(7));
  EXPECT_TRUE(from.is_all(0)) << "it is still mapped";
  from.fill(1);
  EXPECT_TRUE(to.is_all(7)) << "they are apart";
}

TEST(move_pages, moves_what_is_mapped_in_parts) {
#if !defined(MREMAP_DONTUNMAP)
  GTEST_SKIP() << "this system does not move pages so";
#endif
  const mapping one(mebi), other(2 * mebi), both(3 * mebi), last(3 * mebi);
  one.fill(1);
  other.fill(2);
  move_pages(one.data(), both.data(), mebi);
  move_pages(other.data(), both.data() + mebi, 2 * mebi);
  move_pages(both.data(), last.data(), 3 * mebi);
  EXPECT_TRUE(std::all_of(last.data(), last.data() + mebi, [](std::byte b) { return b == std::byte{1}; }));
  EXPECT_TRUE(std::all_of(last.data() + mebi, last.data() + 3 * mebi, [](std::byte b) { return b == std::byte{2}; }));
}

TEST(move_pages, leaves_what_is_no_whole_pages) {
  const mapping from(mebi), to(mebi);
  from.fill(7);
  move_pages(from.data() + 1, to.data(), 4096);
  move_pages(from.data(), to.data() + 1, 4096);
  move_pages(from.data(), to.data(), 100);
  EXPECT_TRUE(from.is_all(7));
  EXPECT_TRUE(to.is_all(0));
}

}  // namespace
}  // namespace tessera
