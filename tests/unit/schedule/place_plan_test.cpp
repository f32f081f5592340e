// Which places a tree of locations and its memories make.
#include "core/schedule/place_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace tessera::schedule {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A machine to be planned: memories get space numbers in the order in which they are added.
class planned_machine {
 public:
  location::node_id memory(const std::string& name, bool host_visible = true, bool storage = false) {
    const auto number = static_cast<std::uint32_t>(spaces.size());
    const location::node_id at =
        tree.add(tree.root(), {.kind = storage ? location::kind::storage : location::kind::memory,
                               .name = name,
                               .type = "",
                               .space = location::space_key{.device = number, .space = 0},
                               .device = {},
                               .cpus = {},
                               .pci_address = ""});
    spaces.push_back({.location = at, .host_visible = host_visible, .storage = storage, .device = number});
    return at;
  }
  location::node_id core(const std::string& name, location::node_id below, std::uint32_t cpu) {
    return tree.add(below, {.kind = location::kind::worker,
                            .name = name,
                            .type = "",
                            .space = {},
                            .device = {},
                            .cpus = {cpu},
                            .pci_address = ""});
  }
  place_plan plan(std::uint32_t workers = 0) const { return plan_places(tree, spaces, workers); }

  location::tree tree{{.kind = location::kind::machine,
                       .name = "machine",
                       .type = "",
                       .space = {},
                       .device = {},
                       .cpus = {},
                       .pci_address = ""}};
  std::vector<space_facts> spaces;
};

std::vector<memory::space_number> spaces_of(const place_plan& plan) {
  std::vector<memory::space_number> all;
  for (const planned_place& e : plan.places) all.push_back(e.space);
  return all;
}

TEST(plan_places, makes_one_place_per_host_memory_with_workers) {
  planned_machine m;
  const auto numa0 = m.memory("numa0"), numa1 = m.memory("numa1");
  m.memory("numa2");  // no core
  const auto core3 = m.core("core3", numa1, 3), core0 = m.core("core0", numa0, 0), core2 = m.core("core2", numa1, 2);
  const place_plan plan = m.plan();
  EXPECT_THAT(spaces_of(plan), ElementsAre(0, 1)) << "in the order of the tree, not of the cores";
  EXPECT_TRUE(plan.places[0].is_host && plan.places[1].is_host);
  EXPECT_THAT(plan.places[0].cores, ElementsAre(core0));
  EXPECT_THAT(plan.places[1].cores, ElementsAre(core3, core2));
  ASSERT_EQ(plan.workers.size(), 3u);
  EXPECT_EQ(plan.workers[0].location, core0);
  EXPECT_EQ(plan.workers[1].place, 1u);
  EXPECT_THAT(plan.workers[1].cpus, ElementsAre(3u));
}

TEST(plan_places, deals_the_workers_that_are_asked_for_over_the_cores) {
  planned_machine m;
  const auto numa0 = m.memory("numa0"), numa1 = m.memory("numa1");
  const auto core0 = m.core("core0", numa0, 0);
  m.core("core1", numa1, 1);
  m.core("core2", numa1, 2);
  const auto workers_of = [](const place_plan& plan) {
    std::vector<std::uint32_t> all;
    for (const planned_place& e : plan.places) all.push_back(e.workers);
    return all;
  };
  EXPECT_THAT(workers_of(m.plan()), ElementsAre(1, 2)) << "one for each core";
  EXPECT_THAT(workers_of(m.plan(1)), ElementsAre(1, 0));
  EXPECT_THAT(m.plan(1).places[1].cores, SizeIs(2)) << "the cores stay those of the machine";
  EXPECT_THAT(workers_of(m.plan(2)), ElementsAre(1, 1));
  const place_plan more = m.plan(4);
  EXPECT_THAT(workers_of(more), ElementsAre(2, 2));
  EXPECT_EQ(more.workers[3].location, core0);
  EXPECT_THAT(more.workers[3].cpus, IsEmpty()) << "its core is another's";
}

TEST(plan_places, puts_devices_behind_the_host) {
  planned_machine m;
  const auto with_worker = m.memory("gpu0", false);
  m.core("core0", m.memory("numa0"), 0);
  m.memory("gpu1", false);
  const place_plan plan = m.plan();
  EXPECT_THAT(spaces_of(plan), ElementsAre(1, 0, 2));
  EXPECT_FALSE(plan.places[1].is_host);
  EXPECT_THAT(plan.places[1].cores, IsEmpty());
  EXPECT_EQ(plan.places[1].workers, 0u);
  m.core("below a device", with_worker, 1);
  EXPECT_THAT(m.plan().workers, SizeIs(1)) << "its memory is no memory of the host";
}

TEST(plan_places, makes_no_place_of_storage_but_one_store_per_device) {
  planned_machine m;
  m.memory("disk0", false, true);
  m.memory("disk1", false, true);
  m.memory("disk2", false, true);
  m.spaces[2].device = m.spaces[0].device;
  m.core("core0", m.memory("numa0"), 0);
  const place_plan plan = m.plan();
  EXPECT_THAT(spaces_of(plan), ElementsAre(3));
  EXPECT_THAT(plan.stores, ElementsAre(0, 1));
}

TEST(plan_places, takes_workers_with_cpus_and_without_memory_of_their_own) {
  planned_machine m;
  const auto numa = m.memory("numa0");
  const auto none = m.core("no_cpus", numa, 0), device = m.core("device", numa, 1), good = m.core("good", numa, 2);
  m.tree.edit(none).cpus.clear();
  m.tree.edit(device).space = location::space_key{.device = 7, .space = 0};
  const place_plan plan = m.plan();
  ASSERT_EQ(plan.workers.size(), 1u);
  EXPECT_EQ(plan.workers[0].location, good);
}

TEST(plan_places, refuses_a_tree_without_workers) {
  planned_machine m;
  EXPECT_THROW(m.plan(), error);
  m.memory("numa0");
  try {
    m.plan();
    FAIL() << "no worker at all";
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::configuration);
    EXPECT_THAT(e.what(), ::testing::HasSubstr("no CPU worker"));
  }
}

}  // namespace
}  // namespace tessera::schedule
