// Which memories a runtime has, from trees written by hand: no device is opened.
#include "core/runtime/memory_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/base/error.hpp"
#include "core/block/space_set.hpp"

namespace tessera {
namespace {

using testing::ElementsAre;

location::properties named(location::kind what, std::string name, std::optional<location::space_key> space = {},
                           std::uint64_t bytes = 0) {
  location::properties is;
  is.kind = what;
  is.name = std::move(name);
  is.space = space;
  is.memory_bytes = bytes;
  return is;
}

constexpr memory_facts host{.is_host = true}, device{}, storage{.is_storage = true};

/// A machine of two NUMA memories with a device of its own each, and a disk; the devices come first in the tree.
struct machine_of_five {
  location::tree tree{named(location::kind::machine, "machine")};
  std::vector<std::vector<memory_facts>> offered = {{host, host}, {device}, {device}, {storage}};
  location::node_id disk = tree.add(0, named(location::kind::storage, "disk", location::space_key{3, 0}));
  location::node_id numa0 = tree.add(0, named(location::kind::memory, "numa0", location::space_key{0, 0}, 100));
  location::node_id gpu0 = tree.add(numa0, named(location::kind::worker, "gpu0", location::space_key{1, 0}, 40));
  location::node_id numa1 = tree.add(0, named(location::kind::memory, "numa1", location::space_key{0, 1}, 200));
  location::node_id gpu1 = tree.add(numa1, named(location::kind::worker, "gpu1", location::space_key{2, 0}, 40));

  std::vector<planned_memory> plan(std::uint64_t host_limit = 0) const {
    return plan_memories(tree, offered, host_limit);
  }
};

std::vector<location::node_id> places(const std::vector<planned_memory>& plan) {
  std::vector<location::node_id> all;
  for (const planned_memory& m : plan) all.push_back(m.location);
  return all;
}

std::vector<std::uint64_t> limits(const std::vector<planned_memory>& plan) {
  std::vector<std::uint64_t> all;
  for (const planned_memory& m : plan) all.push_back(m.limit);
  return all;
}

TEST(memory_plan, host_memories_have_the_low_numbers) {
  const machine_of_five m;
  EXPECT_THAT(places(m.plan()), ElementsAre(m.numa0, m.numa1, m.disk, m.gpu0, m.gpu1));
}

TEST(memory_plan, data_leave_a_device_for_the_memory_above_it_and_the_host_for_the_disk) {
  const machine_of_five m;
  const auto plan = m.plan();
  EXPECT_EQ(plan[0].parent, 2);  // numa0 to the disk
  EXPECT_EQ(plan[1].parent, 2);
  EXPECT_EQ(plan[2].parent, memory::no_space);  // the disk: nowhere
  EXPECT_EQ(plan[3].parent, 0);                 // gpu0 to numa0
  EXPECT_EQ(plan[4].parent, 1);
}

TEST(memory_plan, without_a_disk_the_host_is_the_end) {
  machine_of_five m;
  m.tree.detach(m.disk);
  const auto plan = m.plan();
  EXPECT_THAT(places(plan), ElementsAre(m.numa0, m.numa1, m.gpu0, m.gpu1));
  EXPECT_EQ(plan[0].parent, memory::no_space);
  EXPECT_EQ(plan[2].parent, 0);
}

TEST(memory_plan, the_limit_of_the_host_bounds_each_of_its_memories_and_no_other) {
  const machine_of_five m;
  EXPECT_THAT(limits(m.plan()), ElementsAre(100u, 200u, 0u, 40u, 40u));
  EXPECT_THAT(limits(m.plan(150)), ElementsAre(100u, 150u, 0u, 40u, 40u));
  machine_of_five unknown;
  unknown.tree.edit(unknown.numa0).memory_bytes = 0;  // then the limit is all that is known
  EXPECT_THAT(limits(unknown.plan(150)), ElementsAre(150u, 150u, 0u, 40u, 40u));
}

TEST(memory_plan, locations_of_devices_that_are_not_open_are_left_out) {
  machine_of_five m;
  m.offered.resize(2);  // neither the second device nor the disk
  EXPECT_THAT(places(m.plan()), ElementsAre(m.numa0, m.numa1, m.gpu0));
}

error refused(const location::tree& tree, std::span<const std::vector<memory_facts>> offered) {
  try {
    (void)plan_memories(tree, offered, 0);
  } catch (const error& e) {
    return e;
  }
  return error(error_kind::internal, "it was taken");
}

TEST(memory_plan, a_machine_without_memory_and_one_with_too_many_are_refused_with_a_hint) {
  const location::tree bare(named(location::kind::machine, "machine"));
  const error none = refused(bare, {});
  EXPECT_EQ(none.kind(), error_kind::configuration);
  EXPECT_THAT(none.hint(), testing::HasSubstr("host plugin"));

  location::tree wide(named(location::kind::machine, "machine"));
  std::vector<std::vector<memory_facts>> offered = {{}};
  for (std::uint32_t k = 0; k < block::space_set::max_spaces; ++k) {
    wide.add(0, named(location::kind::memory, "numa" + std::to_string(k), location::space_key{0, k}));
    offered[0].push_back(host);
  }
  EXPECT_EQ(plan_memories(wide, offered, 0).size(), block::space_set::max_spaces);
  wide.add(0, named(location::kind::memory, "one more", location::space_key{0, block::space_set::max_spaces}));
  offered[0].push_back(host);
  const error many = refused(wide, offered);
  EXPECT_EQ(many.kind(), error_kind::configuration);
  EXPECT_THAT(many.message(), testing::HasSubstr("129 memories"));
}

}  // namespace
}  // namespace tessera
