// The least time of a main part.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/common/model_line.hpp"
#include "apps/common/roofline.hpp"

namespace tessera::apps {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

region_row row(const char* name, std::vector<region_share> shares) {
  region_row made{.name = name, .location = "machine", .policy = "static", .launches = 1};
  for (const region_share& s : shares) made.iterations += s.iterations;
  made.shares = std::move(shares);
  return made;
}
region_share share(const char* leaf, std::uint64_t iterations) {
  region_share made;
  made.leaf = leaf, made.iterations = iterations;
  return made;
}

const machine_rates host_alone{.host = {.bytes = 10, .flops = 100, .functions = 1}};

TEST(roofline, a_region_takes_as_long_as_its_memory_or_its_arithmetic) {
  const least_time streams = least_time_of({0, {{"a", 100, 500, 0}}}, {}, host_alone, {});
  EXPECT_DOUBLE_EQ(streams.seconds, 10);
  ASSERT_EQ(streams.bounds.size(), 1u);
  EXPECT_EQ(streams.bounds[0].what, "memory of the host");
  EXPECT_EQ(streams.bounds[0].bytes, 100);
  const least_time computes = least_time_of({0, {{"a", 100, 500, 20}}}, {}, host_alone, {});
  EXPECT_DOUBLE_EQ(computes.seconds, 5 + 20);  // one after the other, by the same cores
  EXPECT_EQ(computes.bounds[0].what, "arithmetic of the host");
}

TEST(roofline, regions_follow_each_other) {
  const least_time all = least_time_of({0, {{"a", 100, 0, 0}, {"b", 0, 4000, 0}, {"c", 50, 0, 0}}}, {}, host_alone, {});
  EXPECT_DOUBLE_EQ(all.seconds, 10 + 40 + 5);
  ASSERT_EQ(all.bounds.size(), 2u);
  EXPECT_EQ(all.bounds[0].what, "arithmetic of the host");
  EXPECT_DOUBLE_EQ(all.bounds[1].seconds, 15);
  EXPECT_DOUBLE_EQ(all.bounds[1].bytes, 150);
}

TEST(roofline, places_work_side_by_side) {
  machine_rates rates = host_alone;
  rates.devices["gpu0"] = {.bytes = 40};
  const std::vector<region_row> shares{row("a", {share("core0", 20), share("core1", 20), share("gpu0", 60)})};
  const least_time fast = least_time_of({0, {{"a", 100, 0, 0}}}, shares, rates, {});
  EXPECT_DOUBLE_EQ(fast.seconds, 4);  // 40 % of the host's cores
  EXPECT_EQ(fast.bounds[0].what, "memory of the host");
  rates.devices["gpu0"].bytes = 6;
  const least_time slow = least_time_of({0, {{"a", 100, 0, 0}}}, shares, rates, {});
  EXPECT_DOUBLE_EQ(slow.seconds, 10);
  EXPECT_EQ(slow.bounds[0].what, "memory of gpu0");
}

TEST(roofline, transfers_go_beside_the_regions) {
  const std::vector<link_traffic> links{{"numa0 -> gpu0", 100, 20}, {"gpu0 -> numa0", 10, 20}};
  const least_time hidden = least_time_of({0, {{"a", 100, 0, 0}}}, {}, host_alone, links);
  EXPECT_DOUBLE_EQ(hidden.seconds, 10);
  const least_time bound = least_time_of({0, {{"a", 20, 0, 0}}}, {}, host_alone, links);
  EXPECT_DOUBLE_EQ(bound.seconds, 5);
  EXPECT_EQ(bound.bounds[0].what, "link numa0 -> gpu0");
}

TEST(roofline, what_has_no_rate_is_left_out_and_named) {
  machine_rates rates{.host = {.bytes = 10}};
  rates.devices["gpu0"] = {};
  const std::vector<region_row> shares{row("a", {share("core0", 50), share("gpu0", 50)})};
  const std::vector<link_traffic> links{{"gpu0 -> gpu1", 100, 0}};
  const least_time found = least_time_of({0, {{"a", 100, 7, 0}}}, shares, rates, links);
  EXPECT_DOUBLE_EQ(found.seconds, 5);
  EXPECT_THAT(found.left_out,
              ElementsAre("memory of gpu0", "arithmetic of gpu0", "arithmetic of the host", "link gpu0 -> gpu1"));
  EXPECT_THAT(model_text(10, found), HasSubstr("; without memory of gpu0, arithmetic of gpu0"));
}

TEST(roofline, the_line_says_what_bounds_the_time) {
  const least_time found =
      least_time_of({0, {{"a", 4e6, 0, 0}}}, {}, {.host = {.bytes = 4e9, .flops = 1, .functions = 1}}, {});
  EXPECT_EQ(model_text(0.002, found), "time 2 ms, the model 1 ms (50 %): memory of the host, 4 MB at 4 GB/s");
  EXPECT_EQ(model_text(0, least_time_of({}, {}, host_alone, {})), "time 0 ns, the model 0 ns (0 %)");
}

}  // namespace
}  // namespace tessera::apps
