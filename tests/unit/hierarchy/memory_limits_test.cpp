// What bounds the memory of a process, from the texts of the operating system.
#include "hierarchy/discovery/memory_limits.hpp"

#include <gtest/gtest.h>

#include <map>

#include "hierarchy/machine/host_memory.hpp"
#include "unit/hierarchy/invented.hpp"

namespace tessera::hierarchy {
namespace {

constexpr std::uint64_t MiB = 1 << 20, GiB = 1 << 30;

const std::string meminfo = "MemTotal:       16777216 kB\nMemFree:        1048576 kB\nMemAvailable:    8388608 kB\n";
const std::string second_mount = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
const std::string first_mount =
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n36 31 0:33 / /sys/fs/cgroup/cpu rw - "
    "cgroup cgroup rw,cpu,cpuacct\n";

struct bound_case {
  const char* name;
  std::string meminfo, groups, mounts;
  std::map<std::string, std::string> files;
  std::uint64_t address_limit;
  std::string statm;
  std::uint64_t left;
  std::string reason;
  std::uint64_t stack_bytes = 0, data_limit = no_limit;
  std::string overcommit = "0\n";
};

class memory_bounds : public testing::TestWithParam<bound_case> {};

TEST_P(memory_bounds, the_least_one_counts) {
  const bound_case& c = GetParam();
  memory_sources from{c.meminfo, c.groups,        c.mounts,     c.overcommit, c.statm,
                      4096,      c.address_limit, c.data_limit, c.stack_bytes};
  from.read = [&](const std::string& path) {
    const auto found = c.files.find(path);
    return found != c.files.end() ? found->second : std::string();
  };
  const memory_bound least = min_bound(from);
  EXPECT_EQ(least.left, c.left) << least.reason;
  EXPECT_TRUE(has(least.reason, {c.reason.c_str()}));
}

const std::string unlimited = "9223372036854771712\n";

INSTANTIATE_TEST_SUITE_P(
    tables, memory_bounds,
    testing::Values(
        bound_case{"nothing_is_known", "", "", "", {}, no_limit, "", no_limit, ""},
        bound_case{"what_is_available", meminfo, "0::/\n", second_mount, {}, no_limit, "", 8 * GiB, "available"},
        bound_case{
            "second_version",
            meminfo,
            "0::/a/b\n",
            second_mount,
            {{"/sys/fs/cgroup/a/b/memory.max", "314572800\n"}, {"/sys/fs/cgroup/a/b/memory.current", "104857600\n"}},
            no_limit,
            "",
            200 * MiB,
            "control group /a/b, at most 300 MiB"},
        bound_case{"pages_of_files_are_taken_back",
                   meminfo,
                   "0::/a\n",
                   second_mount,
                   {{"/sys/fs/cgroup/a/memory.max", "314572800\n"},
                    {"/sys/fs/cgroup/a/memory.current", "104857600\n"},
                    {"/sys/fs/cgroup/a/memory.stat",
                     "anon 1\nfile 99\ninactive_file 52428800\nactive_file 10485760\nshmem 7\n"}},
                   no_limit,
                   "",
                   260 * MiB,
                   "/a"},
        bound_case{"a_group_above_is_tighter",
                   meminfo,
                   "0::/job/step/task\n",
                   second_mount,
                   {{"/sys/fs/cgroup/job/step/task/memory.max", "max\n"},
                    {"/sys/fs/cgroup/job/step/memory.max", "1073741824\n"},
                    {"/sys/fs/cgroup/job/memory.max", "536870912\n"},
                    {"/sys/fs/cgroup/job/memory.current", "0\n"}},
                   no_limit,
                   "",
                   512 * MiB,
                   "control group /job, at most 512 MiB"},
        bound_case{"a_looser_group_may_be_fuller",
                   meminfo,
                   "0::/job/step\n",
                   second_mount,
                   {{"/sys/fs/cgroup/job/step/memory.max", "536870912\n"},
                    {"/sys/fs/cgroup/job/step/memory.current", "1048576\n"},
                    {"/sys/fs/cgroup/job/memory.max", "1073741824\n"},
                    {"/sys/fs/cgroup/job/memory.current", "1063256064\n"}},
                   no_limit,
                   "",
                   10 * MiB,
                   "control group /job, at most 1 GiB"},
        bound_case{"memory_high_slows_down_and_counts",
                   meminfo,
                   "0::/a\n",
                   second_mount,
                   {{"/sys/fs/cgroup/a/memory.max", "1073741824\n"}, {"/sys/fs/cgroup/a/memory.high", "268435456\n"}},
                   no_limit,
                   "",
                   256 * MiB,
                   "at most 256 MiB"},
        bound_case{"the_top_of_a_container",
                   meminfo,
                   "0::/\n",
                   second_mount,
                   {{"/sys/fs/cgroup/memory.max", "2147483648\n"}, {"/sys/fs/cgroup/memory.current", "1073741824\n"}},
                   no_limit,
                   "",
                   GiB,
                   "control group /, at most 2 GiB"},
        bound_case{"a_container_with_the_machines_path",
                   meminfo,
                   "0::/docker/4f/in\n",
                   "30 23 0:26 /docker/4f /sys/fs/cgroup ro - cgroup2 cgroup rw\n",
                   {{"/sys/fs/cgroup/in/memory.max", "max\n"}, {"/sys/fs/cgroup/memory.max", "134217728\n"}},
                   no_limit,
                   "",
                   128 * MiB,
                   "at most 128 MiB"},
        bound_case{"a_path_outside_of_the_namespace",
                   meminfo,
                   "0::/../other\n",
                   second_mount,
                   {{"/sys/fs/cgroup/memory.max", "134217728\n"}},
                   no_limit,
                   "",
                   128 * MiB,
                   "at most 128 MiB"},
        bound_case{"first_version",
                   meminfo,
                   "9:name=systemd:/x\n4:cpu,memory:/slurm/job_7\n0::/\n",
                   first_mount,
                   {{"/sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes", unlimited},
                    {"/sys/fs/cgroup/memory/slurm/memory.limit_in_bytes", "300000000\n"},
                    {"/sys/fs/cgroup/memory/slurm/memory.usage_in_bytes", "150000000\n"},
                    {"/sys/fs/cgroup/memory/slurm/memory.stat",
                     "cache 1\ninactive_file 7\ntotal_inactive_file 40000000\ntotal_active_file 10000000\n"},
                    {"/sys/fs/cgroup/memory/memory.limit_in_bytes", unlimited}},
                   no_limit,
                   "",
                   200000000,
                   "control group /slurm, at most 286 MiB"},
        bound_case{"both_versions_at_once",
                   meminfo,
                   "4:memory:/old\n0::/new\n",
                   first_mount + "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
                   {{"/sys/fs/cgroup/memory/old/memory.limit_in_bytes", "524288000\n"},
                    {"/sys/fs/cgroup/unified/new/memory.max", "419430400\n"}},
                   no_limit,
                   "",
                   400 * MiB,
                   "/new"},
        bound_case{"names_with_blanks",
                   meminfo,
                   "0::/my job\n",
                   "30 23 0:26 / /sys/fs/c\\040g rw - cgroup2 none rw\n",
                   {{"/sys/fs/c g/my job/memory.max", "104857600\n"}},
                   no_limit,
                   "",
                   100 * MiB,
                   "/my job"},
        bound_case{"more_is_used_than_allowed",
                   meminfo,
                   "0::/a\n",
                   second_mount,
                   {{"/sys/fs/cgroup/a/memory.max", "1048576\n"}, {"/sys/fs/cgroup/a/memory.current", "2097152\n"}},
                   no_limit,
                   "",
                   0,
                   "/a"},
        bound_case{
            "a_limit_of_addresses", meminfo, "", "", {}, 512 * MiB, "65536 100 100 1 0 1 0\n", 256 * MiB, "ulimit -v"},
        bound_case{"a_limit_of_addresses_without_the_stacks",
                   meminfo,
                   "",
                   "",
                   {},
                   512 * MiB,
                   "65536 100\n",
                   176 * MiB,
                   "ulimit -v",
                   80 * MiB},
        bound_case{"all_addresses_are_used", meminfo, "", "", {}, 100 * MiB, "65536 1\n", 0, "at most 100 MiB"},
        bound_case{"a_limit_of_data",
                   meminfo,
                   "",
                   "",
                   {},
                   no_limit,
                   "65536 1 1 1 0 16384 0\n",
                   320 * MiB,
                   "data of this process (ulimit -d), at most 400 MiB",
                   16 * MiB,
                   400 * MiB},
        bound_case{"a_system_that_promises_what_it_has",
                   meminfo + "CommitLimit: 2097152 kB\nCommitted_AS: 1048576 kB\n",
                   "",
                   "",
                   {},
                   no_limit,
                   "",
                   GiB,
                   "vm.overcommit_memory = 2",
                   0,
                   no_limit,
                   "2\n"},
        bound_case{"one_that_promises_more",
                   meminfo + "CommitLimit: 2097152 kB\nCommitted_AS: 1048576 kB\n",
                   "",
                   "",
                   {},
                   no_limit,
                   "",
                   8 * GiB,
                   "available",
                   0,
                   no_limit,
                   "0\n"},
        bound_case{"texts_of_another_kind",
                   "MemAvailable: many\n",
                   "nonsense\n::\n5:memory\n",
                   "x - y\n - \n30 23 0:26 / /m rw - cgroup\n",
                   {{"/m/memory.max", "1\n"}},
                   no_limit,
                   "words",
                   no_limit,
                   ""}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(memory_for_blocks, leaves_a_part_for_the_process) {
  EXPECT_EQ((memory_bound{400 * MiB, ""}).for_blocks(), 311 * MiB);  // a sixteenth and 64 MiB
  EXPECT_EQ((memory_bound{200 * MiB, ""}).for_blocks(), 150 * MiB);  // at most a quarter
  EXPECT_EQ((memory_bound{64 * GiB, ""}).for_blocks(), 60 * GiB - 64 * MiB);
  EXPECT_EQ((memory_bound{0, ""}).for_blocks(), 0u);
  EXPECT_EQ(memory_bound().for_blocks(), no_limit);
}

TEST(memory_for_blocks, is_shared_in_proportion) {
  using sizes = std::vector<std::uint64_t>;
  EXPECT_EQ(shared_room({4 * GiB, 12 * GiB}, 20 * GiB), (sizes{4 * GiB, 12 * GiB}));
  EXPECT_EQ(shared_room({4 * GiB, 12 * GiB}, 8 * GiB), (sizes{2 * GiB, 6 * GiB}));
  EXPECT_EQ(shared_room({4 * GiB}, 0), (sizes{0}));
  EXPECT_EQ(shared_room({}, 5), sizes{});
}

struct bounded : testing::Test {
  const std::vector<found_device> devices{invented_host(2)};  // 4 GiB each
  machine made{{}, nullptr, topology_of_two(), {}};
  const location::tree discovered = made.tree;
  static location::tree topology_of_two() {
    location::properties is;
    is.kind = location::kind::machine;
    is.name = "machine";
    location::tree t(is);
    is.kind = location::kind::memory;
    is.memory_bytes = 4 * GiB;
    for (std::uint32_t k = 0; k < 2; ++k) {
      is.name = "numa" + std::to_string(k);
      is.space = location::space_key{0, k};
      t.add(t.root(), is);
    }
    return t;
  }
  void bound(std::uint64_t left) {
    bound_host_memory(made, discovered, devices, {left, "control group /job, at most 9 GiB"}, "a.toml:3:1");
  }
  std::uint64_t bytes(const char* name) const { return made.tree.at(*made.tree.find(name)).properties.memory_bytes; }
};

TEST_F(bounded, enough_room_changes_nothing) {
  bound(100 * GiB);
  EXPECT_EQ(bytes("numa0"), 4 * GiB);
  EXPECT_EQ(made.host_bound, "");
  EXPECT_TRUE(made.notes.empty());
}

TEST_F(bounded, little_room_is_shared_and_told) {
  bound(400 * MiB);  // 311 for blocks
  EXPECT_EQ(bytes("numa0") + bytes("numa1"), 311 * MiB);
  EXPECT_EQ(bytes("numa0"), bytes("numa1"));
  EXPECT_EQ(made.host_bound, "control group /job, at most 9 GiB: 400 MiB left, 311 MiB of it for blocks");
  EXPECT_TRUE(made.notes.empty());
}

TEST_F(bounded, no_room_is_not_taken_for_any_room) {
  bound(0);
  EXPECT_EQ(bytes("numa0"), 4096u);
  EXPECT_FALSE(made.host_bound.empty());
}

TEST_F(bounded, the_user_may_say_more_and_is_warned) {
  made.settings.host_limit = GiB;
  bound(400 * MiB);
  EXPECT_EQ(bytes("numa0"), GiB);
  EXPECT_EQ(bytes("numa1"), GiB);
  ASSERT_EQ(made.notes.size(), 1u);
  EXPECT_TRUE(has(made.notes[0], {"2 GiB", "memory.host_limit at a.toml:3:1", "control group /job", "311 MiB"}));
}

TEST_F(bounded, the_user_may_say_less) {
  made.settings.host_limit = 100 * MiB;
  bound(400 * MiB);
  EXPECT_EQ(bytes("numa0"), 100 * MiB);
  EXPECT_TRUE(made.notes.empty());
}

TEST_F(bounded, nobody_has_more_than_there_is) {
  made.settings.host_limit = 6 * GiB;
  bound(100 * GiB);
  EXPECT_EQ(bytes("numa0"), 4 * GiB);
  ASSERT_EQ(made.notes.size(), 2u);
  EXPECT_TRUE(has(made.notes[0], {"memory.host_limit at a.toml:3:1 is 6 GiB", "numa0 has 4 GiB"}));
}

TEST_F(bounded, what_is_declared_counts_and_the_rest_is_for_the_others) {
  made.tree.edit(*made.tree.find("numa1")).memory_bytes = 200 * MiB;
  bound(400 * MiB);
  EXPECT_EQ(bytes("numa1"), 200 * MiB);
  EXPECT_EQ(bytes("numa0"), 111 * MiB);
  EXPECT_TRUE(made.notes.empty());
}

TEST_F(bounded, declared_memory_that_is_not_there_is_told) {
  made.tree.edit(*made.tree.find("numa1")).memory_bytes = 3 * GiB;
  bound(400 * MiB);
  EXPECT_EQ(bytes("numa1"), 3 * GiB);
  ASSERT_EQ(made.notes.size(), 1u);
  EXPECT_TRUE(has(made.notes[0], {"as is declared", "control group /job"}));
}

}  // namespace
}  // namespace tessera::hierarchy
