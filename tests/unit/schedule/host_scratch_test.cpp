// Workspace of tasks on the host: kept while it is small, refused where there is none.
#include "core/schedule/host_scratch.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "tests/support/error_of.hpp"

namespace tessera::schedule {
namespace {

TEST(host_scratch, of_nothing_is_nothing) {
  host_scratch scratch;
  const tsr_workspace none = scratch.give(0);
  EXPECT_EQ(none.bytes, 0u);
  EXPECT_EQ(none.address.offset, 0u);
}

TEST(host_scratch, has_the_size_that_was_asked_for_and_the_alignment_that_plugins_are_promised) {
  host_scratch scratch;
  for (const std::uint64_t bytes : {1u, 255u, 256u, 4097u, 3u}) {
    const tsr_workspace given = scratch.give(bytes);
    EXPECT_EQ(given.bytes, bytes);
    ASSERT_NE(given.address.offset, 0u);
    EXPECT_EQ(given.address.offset % host_scratch::alignment, 0u) << bytes;
    EXPECT_EQ(given.address.memory, nullptr) << "it is an address of the host";
  }
}

TEST(host_scratch, is_the_same_memory_as_long_as_it_is_large_enough) {
  host_scratch scratch;
  const std::uintptr_t first = scratch.give(4096).address.offset;
  scratch.trim();
  EXPECT_EQ(scratch.give(100).address.offset, first) << "a small one is kept from task to task";
  EXPECT_EQ(scratch.give(4096).address.offset, first);
}

TEST(host_scratch, that_is_larger_than_what_is_kept_is_given_back_by_trim) {
  host_scratch scratch;
  (void)scratch.give(host_scratch::kept_bytes);
  const std::uintptr_t kept = scratch.give(1).address.offset;
  scratch.trim();
  EXPECT_EQ(scratch.give(host_scratch::kept_bytes).address.offset, kept) << "just as much is kept";
  (void)scratch.give(host_scratch::kept_bytes + 1);
  scratch.trim();
  scratch.trim();  // there is nothing left
  EXPECT_EQ(scratch.give(8).bytes, 8u);
}

TEST(host_scratch, that_no_machine_has_is_refused_with_its_size_and_the_next_is_given) {
  host_scratch scratch;
  (void)scratch.give(64);
  for (const std::uint64_t bytes :
       {std::numeric_limits<std::uint64_t>::max(), std::numeric_limits<std::uint64_t>::max() - 200,
        static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max()) + 1}) {
    const error e = test_support::error_of([&] { (void)scratch.give(bytes); });
    EXPECT_EQ(e.kind(), error_kind::memory);
    EXPECT_NE(e.message().find("the host has no room for a workspace of"), std::string::npos) << e.message();
    EXPECT_EQ(scratch.give(64).bytes, 64u) << "the refusal has left nothing half made";
  }
}

}  // namespace
}  // namespace tessera::schedule
