// Which driver belongs to which place, device and stream.
#include "core/schedule/device/driver_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/unit/schedule/driven.hpp"

namespace tessera::schedule {
namespace {

/// A host, two devices, and a table of their drivers.
struct tabled {
  tabled() {
    for (std::uint32_t k = 0; k < 3; ++k) {
      places.push_back(std::make_unique<placement::place>());
      placement::place& where = *places.back();
      where.number = k;
      where.space = static_cast<memory::space_number>(k);
      where.is_host = k == 0;
      where.device = &machine.devices[k]->device();
      where.name = where.device->name();
      table.add({.owner = &owner,
                 .coherence = machine.is.get(),
                 .placer = &placer,
                 .settings = &settings,
                 .failures = &failed},
                where);
    }
  }
  static location::properties root() {
    location::properties machine;
    machine.name = "machine";
    return machine;
  }

  notebook owner;
  transfer::rig machine{{"alpha", "alpha"}};
  location::tree tree{root()};
  placement::placer placer{{&tree, machine.is.get(), nullptr}, "eager"};
  config::runtime_settings settings;
  class failures failed;
  std::vector<std::unique_ptr<placement::place>> places;
  driver_table table;
};

TEST(driver_table, has_a_driver_for_each_place_but_those_of_the_host) {
  tabled t;
  EXPECT_EQ(t.table.find(*t.places[0]), nullptr);
  for (const std::uint32_t k : {1u, 2u}) {
    ASSERT_NE(t.table.find(*t.places[k]), nullptr);
    EXPECT_EQ(&t.table.of(*t.places[k]), t.table.find(*t.places[k]));
    EXPECT_EQ(&t.table.of(*t.places[k]).where(), t.places[k].get());
  }
  int count = 0;
  t.table.for_each([&](const device_driver&) { ++count; });
  EXPECT_EQ(count, 2);
}

TEST(driver_table, knows_whose_a_compute_stream_is) {
  tabled t;
  for (const std::uint32_t k : {1u, 2u})
    for (const transfer::stream* const s : t.table.of(*t.places[k]).streams())
      EXPECT_EQ(t.table.with_stream(s->number()), t.table.find(*t.places[k]));
  EXPECT_EQ(t.table.with_stream(t.machine.is->copies_of(1).in->number()), nullptr) << "it is for copies";
  EXPECT_EQ(t.table.with_stream(9999), nullptr);
}

TEST(driver_table, names_all_compute_streams_for_traces) {
  tabled t;
  const auto all = t.table.compute_streams();
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].name, "alpha1 compute 0");
  EXPECT_EQ(all[1].name, "alpha1 compute 1");
  EXPECT_EQ(all[3].name, "alpha2 compute 1");
  EXPECT_EQ(all[3].place, 2u);
}

TEST(driver_table, a_device_that_stores_has_a_place_and_a_driver_of_its_own) {
  tabled t;
  EXPECT_TRUE(t.table.stores().empty());
  t.table.add_store({.owner = &t.owner,
                     .coherence = t.machine.is.get(),
                     .placer = &t.placer,
                     .settings = &t.settings,
                     .failures = &t.failed},
                    *t.machine.spaces[2]);
  ASSERT_EQ(t.table.stores().size(), 1u);
  EXPECT_FALSE(t.table.stores()[0]->is_host);
  EXPECT_EQ(t.table.stores()[0]->space, 2);
  EXPECT_EQ(t.table.stores()[0]->name, "alpha2");
  std::vector<std::string> order;
  t.table.for_each([&](const device_driver& one) { order.push_back(one.where().name); });
  EXPECT_THAT(order, ::testing::ElementsAre("alpha1", "alpha2", "alpha2")) << "stores come last";
}

TEST(driver_table, any_is_active_when_one_has_a_task) {
  tabled t;
  EXPECT_FALSE(t.table.any_active());
  task::record waiting;
  t.places[2]->ready_queue().push(waiting);
  EXPECT_TRUE(t.table.any_active());
  EXPECT_EQ(t.places[2]->ready_queue().pop(), &waiting);
  EXPECT_FALSE(t.table.any_active());
  EXPECT_EQ(t.table.batches().launched, 0u);
}

}  // namespace
}  // namespace tessera::schedule
