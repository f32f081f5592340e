// A job whose blocks do not fit into its control group writes them to the disk instead of being killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "integration/limits/limited.hpp"
#include "integration/limits/memory_group.hpp"

namespace limits_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t group_bytes = 300'000'000;

TEST(memory_group, a_job_that_does_not_fit_spills) {
  const nested_groups group(group_bytes);
  if (!group.made())
    GTEST_SKIP()
        << "no control group of memory can be made here (root, and a writable hierarchy with the memory controller)";
  const outcome told = run_behind(group.enter(), "topology");
  EXPECT_EQ(told.code, 0) << told.text;
  EXPECT_THAT(told.text, HasSubstr("bounded by control group"));
  EXPECT_THAT(told.text, HasSubstr(group.name() + ", at most 286 MiB"));
  // Three matrices of 200 MB.
  const outcome ended = run_behind(
      group.enter(),
      "gemm --n 5000 --tile 500 --quiet --stats --set runtime.plugins=host,disk --set plugin.disk.capacity=\"2 GiB\"");
  EXPECT_EQ(ended.code, 0) << ended.text;
  EXPECT_THAT(ended.text, AllOf(HasSubstr(" written back"), Not(HasSubstr(" 0 written back")))) << ended.text;
}

TEST(memory_group, without_a_disk_it_ends_with_an_error) {
  const nested_groups group(group_bytes);
  if (!group.made())
    GTEST_SKIP()
        << "no control group of memory can be made here (root, and a writable hierarchy with the memory controller)";
  const outcome ended = run_behind(group.enter(), "gemm --n 5000 --tile 500 --quiet");
  EXPECT_EQ(ended.code, 7) << ended.text;  // memory
}

TEST(memory_group, the_user_may_say_more_and_is_warned) {
  const nested_groups group(group_bytes);
  if (!group.made())
    GTEST_SKIP()
        << "no control group of memory can be made here (root, and a writable hierarchy with the memory controller)";
  const outcome ended = run_behind(group.enter(), "gemm --n 300 --set memory.host_limit=\"1 GiB\"");
  EXPECT_EQ(ended.code, 0) << ended.text;
  EXPECT_THAT(ended.text, HasSubstr("blocks may take 1 GiB of the host"));
  EXPECT_THAT(ended.text, HasSubstr(group.name()));
}

}  // namespace
}  // namespace limits_test
