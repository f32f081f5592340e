// Where large pieces of memory begin.
#include <gtest/gtest.h>

#include <set>

#include "core/bytes/colours.hpp"

namespace tessera {
namespace {

TEST(colours, neighbours_differ_in_sets_and_banks_and_keep_their_pages) {
  std::set<std::uint64_t> all, pages, ways;
  for (std::uint64_t n = 0; n < colours; ++n) {
    all.insert(colour_of(n));
    pages.insert(colour_of(n) % (128 << 10));  // a way of the second cache
    ways.insert(colour_of(n) >> 17);
    EXPECT_EQ(colour_of(n) % 4096, 0u) << "arrays begin with a page";
    EXPECT_LT(colour_of(n), colour_boundary / 2) << "what lies in front of the first byte";
    EXPECT_EQ(colour_of(n + colours), colour_of(n));
  }
  EXPECT_EQ(all.size(), colours);
  EXPECT_EQ(pages.size(), colours);
  EXPECT_EQ(ways.size(), colours);
}

}  // namespace
}  // namespace tessera
