#include "core/location/tree.hpp"

#include <gtest/gtest.h>

#include "core/base/error.hpp"
#include "tests/support/error_of.hpp"

namespace tessera::location {
namespace {

properties made(kind what, std::string name) {
  properties is;
  is.kind = what;
  is.name = std::move(name);
  return is;
}

properties made(kind what, std::string name, space_key space) {
  properties is = made(what, std::move(name));
  is.space = space;
  return is;
}

/// machine { numa0 { core0, core1 }, numa1 { core2, gpu1 }, gpu0 }
struct two_domains : testing::Test {
  tree t{made(kind::machine, "machine")};
  node_id numa0 = t.add(0, made(kind::memory, "numa0", {0, 0})), numa1 = t.add(0, made(kind::memory, "numa1", {0, 1}));
  node_id core0 = t.add(numa0, made(kind::worker, "core0")), core1 = t.add(numa0, made(kind::worker, "core1"));
  node_id core2 = t.add(numa1, made(kind::worker, "core2"));
  node_id gpu0 = t.add(0, made(kind::worker, "gpu0", {1, 0})), gpu1 = t.add(numa1, made(kind::worker, "gpu1", {2, 0}));
};

using test_support::message_of;

TEST_F(two_domains, knows_names_paths_and_depths) {
  EXPECT_EQ(t.size(), 8u);
  EXPECT_EQ(t.find("core2"), core2);
  EXPECT_EQ(t.find("core9"), std::nullopt);
  EXPECT_EQ(t.path(core1), "machine/numa0/core1");
  EXPECT_EQ(t.depth(0), 0u);
  EXPECT_EQ(t.depth(core1), 2u);
  EXPECT_EQ(t.leaves(0), (std::vector{core0, core1, core2, gpu1, gpu0}));
  EXPECT_EQ(t.leaves(core0), std::vector{core0});
  EXPECT_EQ(t.subtree(numa1), (std::vector{numa1, core2, gpu1}));
}

TEST_F(two_domains, common_ancestors_and_distances) {
  EXPECT_EQ(t.common_ancestor(core0, core1), numa0);
  EXPECT_EQ(t.common_ancestor(core0, gpu1), 0u);
  EXPECT_EQ(t.common_ancestor(core0, numa0), numa0);
  EXPECT_EQ(t.distance(core0, core0), 0u);
  EXPECT_EQ(t.distance(core0, core1), 2u);
  EXPECT_EQ(t.distance(core0, gpu1), 4u);
  EXPECT_EQ(t.distance(gpu0, core0), 3u);
}

TEST_F(two_domains, most_common_descendant_is_the_deepest_on_one_path) {
  EXPECT_EQ(t.most_common_descendant({}), std::nullopt);
  EXPECT_EQ(t.most_common_descendant(std::vector{numa0}), numa0);
  EXPECT_EQ(t.most_common_descendant(std::vector{t.root(), core1, numa0}), core1);
  EXPECT_EQ(t.most_common_descendant(std::vector{numa0, numa0}), numa0);
  EXPECT_EQ(t.most_common_descendant(std::vector{core0, core1}), std::nullopt);
  EXPECT_EQ(t.most_common_descendant(std::vector{numa1, core0}), std::nullopt);
  t.detach(numa0);
  EXPECT_EQ(t.most_common_descendant(std::vector{numa0, core1}), std::nullopt);
}

TEST_F(two_domains, evictions_go_up_or_to_the_first_domain) {
  EXPECT_EQ(t.memory_of(core0), numa0);
  EXPECT_EQ(t.memory_of(gpu1), gpu1);
  EXPECT_EQ(t.memory_of(0), no_node);
  EXPECT_EQ(t.parent_memory(gpu1), numa1);
  EXPECT_EQ(t.parent_memory(gpu0), numa0);
  EXPECT_EQ(t.parent_memory(core0), no_node);
  EXPECT_EQ(t.parent_memory(numa1), no_node);
  EXPECT_EQ(t.parent_memory(0), no_node);
  const node_id disk = t.add(0, made(kind::storage, "disk", {3, 0}));
  EXPECT_EQ(t.parent_memory(numa0), disk);
  EXPECT_EQ(t.parent_memory(core2), disk);
  EXPECT_EQ(t.parent_memory(gpu1), numa1);
  EXPECT_EQ(t.parent_memory(disk), no_node);
}

TEST(tree, a_device_below_packages_finds_memory_deeper_down) {
  tree t(made(kind::machine, "machine"));
  const node_id package = t.add(0, made(kind::virtual_group, "package0"));
  const node_id numa = t.add(package, made(kind::memory, "numa0", {0, 0}));
  const node_id gpu = t.add(0, made(kind::worker, "gpu", {1, 0}));
  EXPECT_EQ(t.parent_memory(gpu), numa);
  // A store that hangs below host memory is still the end of the line.
  const node_id disk = t.add(numa, made(kind::storage, "disk", {2, 0}));
  EXPECT_EQ(t.parent_memory(numa), disk);
  EXPECT_EQ(t.parent_memory(disk), no_node);
}

TEST(tree, a_shared_memory_root_is_every_device_s_parent) {
  tree t(made(kind::memory, "LocA", {0, 0}));
  const node_id group = t.add(0, made(kind::virtual_group, "LocB"));
  const node_id gpu = t.add(group, made(kind::worker, "gpu", {1, 0}));
  EXPECT_EQ(t.parent_memory(gpu), 0u);
  EXPECT_EQ(t.parent_memory(group), no_node);
}

TEST_F(two_domains, detach_and_attach_keep_ids_and_shape) {
  const auto before = t.epoch();
  t.detach(numa1);
  EXPECT_GT(t.epoch(), before);
  EXPECT_EQ(t.size(), 5u);
  EXPECT_FALSE(t.attached(gpu1));
  EXPECT_EQ(t.find("gpu1"), gpu1);
  EXPECT_EQ(t.path(gpu1), "numa1/gpu1");
  EXPECT_EQ(t.leaves(0), (std::vector{core0, core1, gpu0}));
  EXPECT_EQ(t.at(0).children, (std::vector{numa0, gpu0}));
  t.attach(numa1, 0);
  EXPECT_EQ(t.size(), 8u);
  EXPECT_TRUE(t.attached(gpu1));
  EXPECT_EQ(t.at(0).children, (std::vector{numa0, gpu0, numa1}));
  EXPECT_EQ(t.subtree(numa1), (std::vector{numa1, core2, gpu1}));
}

TEST_F(two_domains, a_detached_branch_can_be_grown_before_it_returns) {
  t.detach(numa1);
  const node_id core3 = t.add(numa1, made(kind::worker, "core3"));
  EXPECT_FALSE(t.attached(core3));
  EXPECT_EQ(t.size(), 5u);
  EXPECT_NE(message_of([&] { (void)t.common_ancestor(core3, core0); }).find("detached"), std::string::npos);
  t.attach(numa1, numa0);
  EXPECT_TRUE(t.attached(core3));
  EXPECT_EQ(t.path(core3), "machine/numa0/numa1/core3");
}

TEST_F(two_domains, cycles_and_double_parents_are_refused_and_change_nothing) {
  const auto epoch = t.epoch();
  EXPECT_NE(message_of([&] { t.reparent(numa0, core0); }).find("cycle"), std::string::npos);
  EXPECT_NE(message_of([&] { t.reparent(numa0, numa0); }).find("own parent"), std::string::npos);
  EXPECT_NE(message_of([&] { t.attach(core0, numa1); }).find("attached to 'numa0'"), std::string::npos);
  message_of([&] { t.attach(0, numa1); });
  message_of([&] { t.reparent(0, numa1); });
  message_of([&] { t.detach(0); });
  message_of([&] { t.add(numa0, made(kind::worker, "core2")); });
  message_of([&] { t.add(numa0, made(kind::worker, "")); });
  message_of([&] { t.add(99, made(kind::worker, "core9")); });
  message_of([&] { (void)t.at(99); });
  message_of([&] { tree nameless{properties{}}; });
  EXPECT_EQ(t.epoch(), epoch);
  EXPECT_EQ(t.size(), 8u);
  EXPECT_EQ(t.known(), 8u);
  t.detach(numa0);
  message_of([&] { t.detach(numa0); });
  message_of([&] { t.attach(numa0, core0); });  // into its own branch
  message_of([&] { t.attach(core0, numa1); });  // inside a detached branch it still has its parent
  t.reparent(core0, numa1);
  EXPECT_TRUE(t.attached(core0));
  EXPECT_EQ(t.parent_memory(core0), no_node);
  EXPECT_EQ(t.memory_of(core0), numa1);
}

TEST_F(two_domains, edits_of_properties_show) {
  const auto epoch = t.epoch();
  t.edit(gpu0).memory_bytes = 1 << 20;
  EXPECT_GT(t.epoch(), epoch);
  EXPECT_EQ(t.at(gpu0).properties.memory_bytes, 1u << 20);
}

}  // namespace
}  // namespace tessera::location
