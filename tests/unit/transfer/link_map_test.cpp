// Routes between spaces, from the devices' own answers.
#include "core/transfer/link_map.hpp"

#include <gtest/gtest.h>

#include "tests/unit/transfer/rig.hpp"

namespace tessera::transfer {
namespace {

TEST(link_map, the_host_and_its_devices_are_joined_by_the_devices) {
  rig r({"fake", "fake"});
  const link_map& links = r.is->links();
  EXPECT_EQ(links.size(), 3u);
  for (const memory::space_number device : {1, 2})
    for (const auto& way : {links.between(0, device), links.between(device, 0)}) {
      EXPECT_EQ(way.kind, route_kind::direct);
      EXPECT_EQ(way.executor, device) << "the host copies nothing it cannot see";
      EXPECT_DOUBLE_EQ(way.seconds(1'000'000), 1e-6 + 1e6 / 1e10);
    }
  EXPECT_EQ(links.between(1, 1).kind, route_kind::none);
}

TEST(link_map, devices_of_one_plugin_without_a_link_go_through_the_ring) {
  rig r({"fake", "fake"});
  const route& way = r.is->links().between(1, 2);
  EXPECT_EQ(way.kind, route_kind::staged);
  EXPECT_DOUBLE_EQ(way.bandwidth, 1e10);
  EXPECT_DOUBLE_EQ(way.latency, 2e-6) << "two legs";
}

TEST(link_map, peer_links_are_direct) {
  rig r({"fake", "fake"}, 16, true);
  const route& way = r.is->links().between(1, 2);
  EXPECT_EQ(way.kind, route_kind::direct);
  EXPECT_EQ(way.executor, 2u) << "the destination's device first";
  EXPECT_DOUBLE_EQ(way.bandwidth, 4e10);
}

TEST(link_map, devices_of_two_plugins_meet_in_the_host) {
  rig r({"alpha", "beta"}, 16, true);
  const link_map& links = r.is->links();
  EXPECT_EQ(links.between(1, 2).kind, route_kind::none);
  EXPECT_EQ(links.stop_between(1, 2), 0);
  EXPECT_EQ(links.stop_between(0, 1), memory::no_space) << "no third space joins them";
}

TEST(link_map, without_a_common_space_there_is_no_way) {
  testing::fake_world world;
  testing::fake_device a(world, 0, false, 0, "alpha"), b(world, 1, false, 0, "beta");
  std::vector<std::unique_ptr<memory::space>> spaces;
  for (const auto* d : {&a, &b}) {
    memory::space_setup setup;
    setup.number = static_cast<memory::space_number>(spaces.size());
    setup.device = &d->device();
    spaces.push_back(std::make_unique<memory::space>(setup));
  }
  const link_map links(spaces);
  EXPECT_EQ(links.between(0, 1).kind, route_kind::none);
  EXPECT_EQ(links.stop_between(0, 1), memory::no_space);
}

TEST(link_map, the_faster_stop_is_taken) {
  rig r({"fake", "fake", "fake"}, 16, true);  // peers are four times as fast as the host
  const memory::space_number stop = r.is->links().stop_between(1, 2);
  EXPECT_EQ(stop, 3);
}

TEST(link_map, a_route_without_a_known_bandwidth_costs_its_latency) {
  const route unknown{route_kind::direct, 0, 0, 2e-6};
  EXPECT_DOUBLE_EQ(unknown.seconds(1 << 30), 2e-6);
}

}  // namespace
}  // namespace tessera::transfer
