#include <gtest/gtest.h>
#include <sched.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>
#include <thread>

#include "hierarchy/discovery/topology.hpp"
#include "unit/hierarchy/invented.hpp"

namespace tessera::hierarchy {
namespace {

using location::kind;
using location::node_id;

std::string data(const char* name) { return std::string(TESSERA_SOURCE_DIR) + "/tests/data/topologies/" + name; }

std::vector<node_id> of_kind(const location::tree& t, kind k) {
  std::vector<node_id> ids = t.subtree(t.root());
  std::erase_if(ids, [&](node_id id) { return t.at(id).properties.kind != k; });
  return ids;
}

TEST(discovery, a_small_machine_has_domains_and_cores_without_packages) {
  const std::vector devices{invented_host(1), invented_device(1, "gpu0")};
  const location::tree t = topology::synthetic("numa:1 core:2 l2:1 pu:2").tree(devices);
  const node_id numa = *t.find("numa0"), core1 = *t.find("core1");
  EXPECT_EQ(t.path(core1), "machine/numa0/core1");
  EXPECT_EQ(t.at(core1).properties.cpus, (std::vector<std::uint32_t>{2, 3}));
  EXPECT_EQ(t.at(core1).properties.device, 0u);
  EXPECT_EQ(t.at(numa).properties.space, (location::space_key{0, 0}));
  EXPECT_EQ(t.path(*t.find("gpu0")), "machine/gpu0");
  EXPECT_EQ(t.parent_memory(*t.find("gpu0")), numa);
  EXPECT_EQ(t.at(*t.find("gpu0")).properties.space, (location::space_key{1, 0}));
  EXPECT_EQ(t.at(*t.find("gpu0")).properties.memory_bytes, 1ull << 30);
  EXPECT_EQ(t.at(*t.find("gpu0")).properties.bandwidth, 12e9);
}

TEST(discovery, a_large_machine_has_packages_domains_caches) {
  const std::vector devices{invented_host(8)};
  const topology large = topology::from_xml(data("two_packages_eight_domains.xml"));
  EXPECT_FALSE(large.is_this_machine());
  EXPECT_EQ(large.core_count(), 128u);
  const location::tree t = large.tree(devices);
  EXPECT_EQ(of_kind(t, kind::virtual_group).size(), 2u);
  ASSERT_EQ(of_kind(t, kind::memory).size(), 8u);
  EXPECT_EQ(of_kind(t, kind::worker).size(), 128u);
  EXPECT_EQ(t.path(*t.find("core127")), "machine/package1/numa7/core127");
  EXPECT_EQ(t.at(*t.find("core127")).properties.cpus, (std::vector<std::uint32_t>{254, 255}));
  const location::properties& numa7 = t.at(*t.find("numa7")).properties;
  EXPECT_EQ(numa7.space, (location::space_key{0, 7}));
  EXPECT_EQ(numa7.memory_bytes, 64ull << 30);
  EXPECT_TRUE(has(numa7.type, {"L3 64 MiB"}));
  EXPECT_TRUE(has(t.at(*t.find("core5")).properties.type, {"L2 1 MiB, L1d 32 KiB"}));
  EXPECT_EQ(t.distance(*t.find("core0"), *t.find("core15")), 2u);
  EXPECT_EQ(t.distance(*t.find("core0"), *t.find("core16")), 4u);
  EXPECT_EQ(t.distance(*t.find("core0"), *t.find("core64")), 6u);
  // Every CPU is listed exactly once.
  std::set<std::uint32_t> seen;
  for (const node_id id : of_kind(t, kind::worker))
    for (const std::uint32_t cpu : t.at(id).properties.cpus) EXPECT_TRUE(seen.insert(cpu).second) << cpu;
  EXPECT_EQ(seen.size(), 256u);
}

TEST(discovery, four_packages_each_with_one_domain) {
  const location::tree t = topology::from_xml(data("four_packages.xml")).tree(std::vector{invented_host(4)});
  EXPECT_EQ(t.size(), 1u + 4 + 4 + 96);
  EXPECT_EQ(t.path(*t.find("core95")), "machine/package3/numa3/core95");
}

TEST(discovery, devices_go_to_the_domain_of_their_pci_address_then_of_their_number) {
  std::vector devices{invented_host(2),
                      invented_device(1, "first"),
                      invented_device(2, "second"),
                      invented_device(3, "top"),
                      invented_device(4, "number"),
                      invented_device(5, "nowhere"),
                      invented_device(6, "store", TSR_DEVICE_STORAGE)};
  devices[1].pci_address = "0000:3b:00.0";
  devices[2].pci_address = "0000:af:00.0";
  devices[2].numa_node = 0;  // the address knows better
  devices[3].pci_address = "0000:e1:00.0";
  devices[4].pci_address = "0000:ff:00.0";  // not on this machine
  devices[4].numa_node = 1;
  const location::tree t = topology::from_xml(data("two_packages_gpus.xml")).tree(devices);
  EXPECT_EQ(t.path(*t.find("first")), "machine/package0/numa0/first");
  EXPECT_EQ(t.path(*t.find("second")), "machine/package1/numa1/second");
  EXPECT_EQ(t.path(*t.find("top")), "machine/top");
  EXPECT_EQ(t.path(*t.find("number")), "machine/package1/numa1/number");
  EXPECT_EQ(t.path(*t.find("nowhere")), "machine/nowhere");
  EXPECT_EQ(t.path(*t.find("store")), "machine/store");
  EXPECT_EQ(t.at(*t.find("store")).properties.kind, kind::storage);
  EXPECT_EQ(t.parent_memory(*t.find("second")), *t.find("numa1"));
  EXPECT_EQ(t.parent_memory(*t.find("top")), *t.find("numa0"));
  EXPECT_EQ(t.parent_memory(*t.find("numa1")), *t.find("store"));
}

TEST(discovery, a_domain_above_packages_keeps_its_place) {
  const location::tree t = topology::synthetic("numa:1 package:2 core:2 pu:1").tree(std::vector{invented_host(1)});
  EXPECT_EQ(t.path(*t.find("core3")), "machine/numa0/package1/core3");
  EXPECT_EQ(t.memory_of(*t.find("core3")), *t.find("numa0"));
}

TEST(discovery, cores_always_have_memory) {
  // The host plugin offers one space, the imagined machine has four domains.
  const location::tree t = topology::synthetic("package:2 numa:2 core:2 pu:1").tree(std::vector{invented_host(1)});
  for (const node_id id : of_kind(t, kind::worker)) EXPECT_EQ(t.memory_of(id), t.root());
  EXPECT_EQ(t.at(t.root()).properties.space, (location::space_key{0, 0}));
  std::size_t owners = 0;
  for (const node_id id : t.subtree(t.root())) owners += t.at(id).properties.space.has_value();
  EXPECT_EQ(owners, 1u);
  // Without any device there are places but no spaces: enough to draw.
  EXPECT_EQ(topology::synthetic("numa:2 core:2 pu:1").tree({}).memory_of(3), location::no_node);
}

TEST(discovery, this_machine_stays_inside_the_inherited_cpu_set) {
  const topology here = topology::of_this_machine();
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  const location::tree t = here.tree(std::vector{invented_host(1)});
  std::set<std::uint32_t> cpus;
  for (const node_id id : of_kind(t, kind::worker))
    for (const std::uint32_t cpu : t.at(id).properties.cpus) {
      EXPECT_TRUE(CPU_ISSET(cpu, &allowed)) << cpu;
      cpus.insert(cpu);
    }
  EXPECT_EQ(cpus.size(), static_cast<std::size_t>(CPU_COUNT(&allowed)));
  EXPECT_EQ(of_kind(t, kind::worker).size(), here.core_count());
  int bits = 0;
  for (const std::uint64_t word : here.cpu_mask()) bits += std::popcount(word);
  EXPECT_EQ(bits, CPU_COUNT(&allowed));
  // Threads of an imagined machine run on this one.
  EXPECT_EQ(topology::synthetic("core:64 pu:2").cpu_mask(), here.cpu_mask());
}

/// Of all threads of this process: sanitizers have some of their own.
void allow(const cpu_set_t& cpus) {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
    EXPECT_EQ(sched_setaffinity(std::stoi(task.path().filename().string()), sizeof cpus, &cpus), 0);
}

TEST(discovery, a_narrower_set_gives_fewer_cores) {
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  if (CPU_COUNT(&before) < 2) GTEST_SKIP() << "one CPU only";
  CPU_ZERO(&one);
  for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++i)
    if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
  allow(one);
  const std::size_t cores = topology::of_this_machine().core_count();
  allow(before);
  EXPECT_EQ(cores, 1u);
}

TEST(discovery, bad_descriptions_are_refused_with_their_place) {
  EXPECT_TRUE(has(message_of([] { topology::synthetic("nonsense:x", "a.toml:2:1"); }), {"nonsense:x", "a.toml:2:1"}));
  EXPECT_TRUE(
      has(message_of([] { topology::from_xml("/nowhere/at/all.xml", "a.toml:2:1"); }), {"all.xml", "a.toml:2:1"}));
  const std::string broken = testing::TempDir() + "/tessera_broken.xml";
  std::ofstream(broken) << "<topology version=\"2.0\"><object type=\"Machine\"";
  EXPECT_TRUE(has(message_of([&] { topology::from_xml(broken); }), {"tessera_broken.xml"}));
  std::remove(broken.c_str());
  const auto both = config::document::parse("[topology]\nsynthetic = \"core:2 pu:1\"\nxml = \"x.xml\"\n", "a.toml");
  EXPECT_TRUE(has(message_of([&] { topology::as_configured(both); }), {"exclude", "a.toml:3:1"}));
  const auto one = config::document::parse("[topology]\nsynthetic = \"core:3 pu:1\"\n", "a.toml");
  EXPECT_EQ(topology::as_configured(one).core_count(), 3u);
}

}  // namespace
}  // namespace tessera::hierarchy
