#include "hierarchy/declaration/bind.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "hierarchy/declaration/csv.hpp"
#include "hierarchy/declaration/match.hpp"
#include "hierarchy/discovery/topology.hpp"
#include "hierarchy/policy/split.hpp"
#include "unit/hierarchy/invented.hpp"

namespace tessera::hierarchy {
namespace {

using location::kind;
using location::node_id;

/// One NUMA domain of 8 GiB with 6 cores, two GPUs, an accelerator, a store.
struct declared : testing::Test {
  std::vector<found_device> devices{
      invented_host(1), invented_device(1, "gpu0"), invented_device(2, "gpu1", TSR_DEVICE_GPU, 4ull << 30),
      invented_device(3, "sim0", TSR_DEVICE_ACCELERATOR), invented_device(4, "disk0", TSR_DEVICE_STORAGE, 1ull << 40)};
  std::vector<std::string> notes;
  std::string machine = "[numa(memory=8589934592)] core:6 pu:1";

  location::tree tree(const std::string& toml) {
    const auto discovered = topology::synthetic(machine).tree(devices);
    return declared_tree(config::document::parse(toml, "tree.toml").declared(), discovered, devices, notes);
  }
  void refused(const std::string& toml, std::initializer_list<const char*> parts) {
    EXPECT_TRUE(has(message_of([&] { tree(toml); }), parts)) << toml;
  }
  static const location::properties& named(const location::tree& t, const char* name) {
    const auto id = t.find(name);
    if (!id) throw std::runtime_error(std::string("no location ") + name);
    return t.at(*id).properties;
  }
};

constexpr const char* types = R"(
[[loctype]]
name = "node_memory"
kind = "unified"
memory = "2 GiB"
[[loctype]]
name = "host"
kind = "cpu"
cores = 4
[[loctype]]
name = "tesla"
kind = "gpu"
memory = "512 MiB"
bandwidth = "20 GB/s"
latency = "9 us"
[[loctype]]
name = "scratch"
kind = "storage"
)";

TEST_F(declared, the_example_of_the_design) {
  const location::tree t = tree(std::string(types) + R"(
[[location]]
name = "LocA"
type = "node_memory"
[[location]]
name = ["LocB", "LocC"]
type = "virtual"
[[location]]
name = "LocH"
type = "host"
[[location]]
name = "LocG"
type = "tesla"
all = true
[[location]]
name = "LocS"
type = "scratch"
[[hierarchy]]
parent = "LocA"
children = ["LocB", "LocC"]
[[hierarchy]]
parent = "LocB"
children = "LocH"
[[hierarchy]]
parent = "LocC"
children = "LocG"
)");
  EXPECT_EQ(t.path(*t.find("LocG[1]")), "machine/LocA/LocC/LocG/LocG[1]");
  EXPECT_EQ(t.path(*t.find("core3")), "machine/LocA/LocB/LocH/core3");
  EXPECT_EQ(named(t, "LocA").declared_bytes, 2ull << 30);
  EXPECT_EQ(named(t, "LocA").declared_at, "tree.toml:5:1");
  EXPECT_EQ(named(t, "LocS").declared_bytes, 0u);
  EXPECT_EQ(t.find("core4"), std::nullopt);  // four cores were declared, no more exist here
  EXPECT_EQ(t.path(*t.find("LocS")), "machine/LocS");
  // Spaces and devices of what was bound, numbers of what was declared.
  const location::properties& a = named(t, "LocA");
  EXPECT_EQ(a.kind, kind::memory);
  EXPECT_EQ(a.space, (location::space_key{0, 0}));
  EXPECT_EQ(a.memory_bytes, 2ull << 30);
  const location::properties& g1 = named(t, "LocG[1]");
  EXPECT_EQ(g1.device, 2u);
  EXPECT_EQ(g1.space, (location::space_key{2, 0}));
  EXPECT_EQ(g1.memory_bytes, 512ull << 20);
  EXPECT_EQ(g1.bandwidth, 20e9);
  EXPECT_EQ(g1.latency_ns, 9000);
  EXPECT_TRUE(has(g1.type, {"tesla", "gpu1"}));
  EXPECT_EQ(named(t, "core2").cpus, std::vector<std::uint32_t>{2});
  // Host memory is reachable from everywhere.
  EXPECT_EQ(t.parent_memory(*t.find("LocG[0]")), *t.find("LocA"));
  EXPECT_EQ(t.memory_of(*t.find("core0")), *t.find("LocA"));
  EXPECT_EQ(t.parent_memory(*t.find("LocA")), *t.find("LocS"));
  EXPECT_FALSE(t.at(t.root()).properties.space);
  EXPECT_TRUE(notes.empty());
  // Regions see three leaves: the team of cores and the two GPUs.
  EXPECT_EQ(executing_leaves(t, *t.find("LocA"), leaf_rule::teams),
            (std::vector{*t.find("LocH"), *t.find("LocG[0]"), *t.find("LocG[1]")}));
}

TEST_F(declared, without_unified_memory_the_machine_keeps_the_host_s) {
  const location::tree t = tree(R"(
[[loctype]]
name = "tesla"
kind = "gpu"
[[location]]
name = "LocG"
type = "tesla"
)");
  EXPECT_EQ(t.at(t.root()).properties.space, (location::space_key{0, 0}));
  EXPECT_EQ(t.parent_memory(*t.find("LocG")), t.root());
  EXPECT_EQ(t.path(*t.find("core5")), "machine/host/core5");  // nobody declared cores
  EXPECT_TRUE(has(notes.at(0), {"no location with cores"}));
  EXPECT_EQ(t.find("gpu1"), std::nullopt);
}

TEST_F(declared, cores_without_a_number_are_shared) {
  const location::tree t = tree(R"(
[[loctype]]
name = "two"
kind = "cpu"
cores = 2
[[loctype]]
name = "rest"
kind = "cpu"
[[location]]
name = ["a", "b"]
type = "rest"
[[location]]
name = "c"
type = "two"
)");
  EXPECT_EQ(t.leaves(*t.find("c")).size(), 2u);
  EXPECT_EQ(t.leaves(*t.find("a")).size(), 2u);
  EXPECT_EQ(t.leaves(*t.find("b")).size(), 2u);
  const location::tree each =
      tree("[[loctype]]\nname = \"one\"\nkind = \"cpu\"\n[[location]]\nname = \"C\"\ntype = \"one\"\nall = true\n");
  EXPECT_EQ(each.at(*each.find("C")).children.size(), 6u);
  EXPECT_EQ(each.path(*each.find("core5")), "machine/C/C[5]/core5");
  const location::tree pairs = tree(
      "[[loctype]]\nname = \"two\"\nkind = \"cpu\"\ncores = 2\n[[location]]\nname = \"C\"\ntype = \"two\"\nall = "
      "true\n");
  EXPECT_EQ(pairs.at(*pairs.find("C")).children.size(), 3u);
}

TEST_F(declared, numbered_locations_can_be_placed_one_by_one) {
  const std::string base = std::string(types) + R"(
[[location]]
name = "LocA"
type = "node_memory"
[[location]]
name = "LocG"
type = "tesla"
start = 3
count = 2
[[location]]
name = ["x", "y"]
type = "virtual"
)";
  const location::tree all = tree(base + "[[hierarchy]]\nparent = \"x\"\nchildren = \"LocG\"\nall = true\n");
  EXPECT_EQ(all.path(*all.find("LocG[4]")), "machine/x/LocG[4]");
  EXPECT_FALSE(all.attached(*all.find("LocG")));
  const location::tree some = tree(base + "[[hierarchy]]\nparent = \"y\"\nchildren = \"LocG\"\nstart = 4\ncount = 1\n");
  EXPECT_EQ(some.path(*some.find("LocG[4]")), "machine/y/LocG[4]");
  EXPECT_EQ(some.path(*some.find("LocG[3]")), "machine/LocG/LocG[3]");
  const location::tree one = tree(base + "[[hierarchy]]\nparent = \"y\"\nchildren = [\"LocG[3]\", \"x\"]\n");
  EXPECT_EQ(one.path(*one.find("LocG[3]")), "machine/y/LocG[3]");
  refused(base + "[[hierarchy]]\nparent = \"y\"\nchildren = \"LocG\"\nstart = 1\ncount = 1\n",
          {"'LocG[1]'", "tree.toml:33:1"});
  refused(base + "[[hierarchy]]\nparent = \"y\"\nchildren = \"x\"\nall = true\n", {"'x'", "no numbered ones"});
}

TEST_F(declared, detached_locations_stay_known) {
  const location::tree t = tree(R"(
[[location]]
name = ["a", "b"]
type = "virtual"
[[hierarchy]]
parent = "a"
children = "b"
[[hierarchy]]
parent = "a"
detach = "b"
)");
  EXPECT_FALSE(t.attached(*t.find("b")));
  const location::tree again = tree(R"(
[[location]]
name = ["a", "b", "c"]
type = "virtual"
[[hierarchy]]
parent = "a"
children = "b"
[[hierarchy]]
parent = "a"
detach = "b"
[[hierarchy]]
parent = "c"
children = "b"
)");
  EXPECT_EQ(again.path(*again.find("b")), "machine/c/b");
}

TEST_F(declared, cpu_locations_may_own_memory_and_numa_domains_can_be_chosen) {
  machine = "package:2 [numa(memory=4294967296)] core:2 pu:1";
  devices[0] = invented_host(2);
  const location::tree t = tree(R"(
[[loctype]]
name = "second"
kind = "unified"
match = "numa_node==1"
[[loctype]]
name = "host"
kind = "cpu"
cores = 2
memory = "1 GiB"
[[location]]
name = "M"
type = "second"
[[location]]
name = "H"
type = "host"
)");
  EXPECT_EQ(named(t, "M").space, (location::space_key{0, 1}));
  EXPECT_EQ(named(t, "H").kind, kind::memory);
  EXPECT_EQ(named(t, "H").space, (location::space_key{0, 0}));
  EXPECT_EQ(named(t, "H").memory_bytes, 1ull << 30);
  EXPECT_EQ(t.memory_of(*t.find("core1")), *t.find("H"));
  // One is enough; what nobody uses is said.
  tree(
      "[[loctype]]\nname = \"m\"\nkind = \"unified\"\n[[location]]\nname = \"M\"\ntype = \"m\"\n"
      "[[loctype]]\nname = \"h\"\nkind = \"cpu\"\n[[location]]\nname = \"H\"\ntype = \"h\"\n"
      "[[hierarchy]]\nparent = \"M\"\nchildren = \"H\"\n");
  EXPECT_TRUE(has(notes.back(), {"not used", "numa1"}));
}

TEST_F(declared, what_cannot_be_bound_says_what_was_asked_and_what_there_is) {
  const std::string t = types;
  refused("[[loctype]]\nname = \"virtual\"\nkind = \"cpu\"\n[[location]]\nname = \"x\"\ntype = \"virtual\"\n",
          {":2:1", "'virtual' is a type of its own", "another name"});
  refused("[[loctype]]\nname = \"t\"\nkind = \"cpu\"\nbandwidth = \"12 GFLOP/s\"\n",
          {":4:1", "a rate above zero such as"});
  refused(t + "[[location]]\nname = \"x\"\ntype = \"tesl\"\n",
          {"no loctype 'tesl'", "tree.toml:21:1", "did you mean 'tesla'"});
  refused(t + "[[location]]\nname = [\"x\", \"y\",\n \"z\"]\ntype = \"tesla\"\n",
          {"'z' of type 'tesla'", "gpu", "tree.toml:21:2", "gpu0 (gpu of plugin 'cuda', 1 GiB, taken by x)", "sim0"});
  refused(t + "[[location]]\nname = \"x\"\ntype = \"host\"\n[[location]]\nname = \"y\"\ntype = \"host\"\n",
          {"'y' asks for 4 cores, but 2 of 6 are free", "tree.toml:9:1"});
  refused(t + "[[location]]\nname = [\"x\", \"y\"]\ntype = \"node_memory\"\n",
          {"'y'", "numa0 (host memory, 8 GiB, taken by x)"});
  refused(
      "[[loctype]]\nname = \"big\"\nkind = \"gpu\"\nmemory = \"2 GiB\"\n[[location]]\nname = \"x\"\ntype = \"big\"\n",
      {"asks for 2 GiB of memory, but there are 1 GiB", "tree.toml:4:1"});
  refused(
      "[[loctype]]\nname = \"o\"\nkind = \"gpu\"\nplugin = \"hip\"\n[[location]]\nname = \"x\"\ntype = \"o\"\nall = "
      "true\n",
      {"gpu of plugin 'hip'", "none is free", "tree.toml:6:1"});
  refused(
      "[[loctype]]\nname = \"o\"\nkind = \"storage\"\npath = \"/scratch\"\n[[location]]\nname = \"x\"\ntype = \"o\"\n",
      {"storage at /scratch", "disk0 (storage of plugin 'disk', 1 TiB, "});
  refused(
      "[[loctype]]\nname = \"c\"\nkind = \"cpu\"\ncores = 6\n[[loctype]]\nname = \"r\"\nkind = \"cpu\"\n"
      "[[location]]\nname = \"x\"\ntype = \"c\"\n[[location]]\nname = \"y\"\ntype = \"r\"\n",
      {"'y' finds no free core", "6 cores, 0 free"});
  refused(t + "[[location]]\nname = \"M\"\ntype = \"node_memory\"\n[[location]]\nname = \"x\"\ntype = \"host\"\n",
          {"the cores of location 'x' have no memory above them", "tree.toml:23:1"});
}

TEST_F(declared, wrong_types_names_and_edges_are_refused_with_their_place) {
  refused("[[loctype]]\nname = \"a\"\nkind = \"gpuu\"\n", {"unknown kind", "tree.toml:3:1", "'gpu'"});
  refused("[[loctype]]\nname = \"a\"\nkind = \"gpu\"\n[[loctype]]\nname = \"a\"\nkind = \"cpu\"\n",
          {"declared twice", "tree.toml:2:1", "tree.toml:5:1"});
  refused("[[loctype]]\nname = \"a\"\nkind = \"gpu\"\ncores = 3\n", {"gpu has no cores", "tree.toml:4:1"});
  refused("[[loctype]]\nname = \"a\"\nkind = \"virtual\"\nmemory = 3\n", {"no memory of its own", "tree.toml:4:1"});
  refused("[[loctype]]\nname = \"a\"\nkind = \"cpu\"\nplugin = \"x\"\n", {"no plugin", "tree.toml:4:1"});
  refused("[[loctype]]\nname = \"a\"\nkind = \"gpu\"\npath = \"/x\"\n", {"no path", "tree.toml:4:1"});
  refused("[[location]]\nname = [\"a\", \"a\"]\ntype = \"virtual\"\n", {"already a location 'a'", "tree.toml:2:9"});
  refused("[[location]]\nname = \"machine\"\ntype = \"virtual\"\n", {"'machine'", "tree.toml:2:1"});
  refused("[[location]]\nname = \"a\"\ntype = \"virtual\"\nall = true\n", {"no meaning"});
  const std::string ab = "[[location]]\nname = [\"Aa\", \"Bb\", \"Cc\"]\ntype = \"virtual\"\n";
  const auto edge = [](const char* parent, const char* child) {
    return std::string("[[hierarchy]]\nparent = \"") + parent + "\"\nchildren = [\"" + child + "\"]\n";
  };
  refused(edge("Aa", "Bb"), {"there is no location 'Aa'", "no location is declared: a [[location]]", "tree.toml:2:1"});
  refused(ab + edge("Aa", "Bb") + edge("Bb", "Aa"), {"a cycle", "machine/Aa/Bb", "tree.toml:9:13"});
  refused(ab + edge("Aa", "Bb") + edge("Bb", "Cc") + edge("Cc", "Aa"), {"a cycle", "machine/Aa/Bb/Cc"});
  refused(ab + edge("Aa", "Aa"), {"own parent", "tree.toml:6:13"});
  refused(ab + edge("Aa", "Bb") + edge("Cc", "Bb"),
          {"already has the parent 'Aa'", "tree.toml:6:13", "tree.toml:9:13"});
  refused(ab + edge("Ab", "Bb"), {"no location 'Ab'", "tree.toml:5:1", "did you mean 'Aa'"});
  refused(ab + edge("Aa", "core0"), {"no location 'core0'", "tree.toml:6:13"});
  refused(ab + "[[hierarchy]]\nparent = \"Aa\"\ndetach = \"Bb\"\n", {"not below 'Aa'", "tree.toml:6:1"});
}

TEST_F(declared, conditions_choose_among_devices) {
  const auto with = [&](const std::string& condition) {
    return named(tree("[[loctype]]\nname = \"t\"\nkind = \"gpu\"\nmatch = \"" + condition +
                      "\"\n[[location]]\nname = \"x\"\ntype = \"t\"\n"),
                 "x")
        .device;
  };
  devices[1].compute_units = 80;
  devices[2].peak_f64 = 9e12;
  EXPECT_EQ(with("memory>=2 GiB"), 2u);
  EXPECT_EQ(with("memory < 2 GiB, compute_units==80"), 1u);
  EXPECT_EQ(with("name~gpu1"), 2u);
  EXPECT_EQ(with("name==Invented gpu1"), 2u);
  EXPECT_EQ(with("name!=gpu0"), 2u);
  EXPECT_EQ(with("peak_f64>5 TFLOP/s"), 2u);
  EXPECT_EQ(with("plugin==cuda"), 1u);
  for (const char* bad :
       {"cc>=new", "cc~8", "memory", "memory>=lots", "name>3", "memory~3", "memory>=1 GiB,", "", "memroy>=1"})
    EXPECT_TRUE(has(message_of([&] { matches({bad, "t.toml:4:1"}, devices[1]); }), {"t.toml:4:1"})) << bad;
  EXPECT_TRUE(has(message_of([&] { matches({"memroy>=1", ""}, devices[1]); }), {"did you mean 'memory'"}));
  EXPECT_TRUE(has(message_of([&] { matches({"cc>=eight", ""}, devices[1]); }), {"'eight'", "a number, such as 8"}));
  EXPECT_TRUE(has(message_of([&] { matches({"memory>=", ""}, devices[1]); }), {"a size, such as 8 GiB"}));
  EXPECT_TRUE(has(message_of([&] { matches({"peak_f64>fast", ""}, devices[1]); }), {"a rate, such as 2 TFLOP/s"}));
}

TEST_F(declared, conditions_on_the_compute_capability_need_a_device_that_tells_it) {
  const auto with = [](const std::string& condition) {
    return "[[loctype]]\nname = \"t\"\nkind = \"gpu\"\nmatch = \"" + condition +
           "\"\n[[location]]\nname = \"x\"\ntype = \"t\"\n";
  };
  refused(with("cc>=8.0"), {"gpu with cc>=8.0", "none is free", "gpu0 (gpu of plugin 'cuda', 1 GiB, cc not known)"});
  devices[1].capability = 7.5;
  devices[2].capability = 9.0;
  EXPECT_EQ(named(tree(with("cc>=8.0")), "x").device, 2u);
  EXPECT_EQ(named(tree(with("cc<8")), "x").device, 1u);
  EXPECT_EQ(named(tree(with("cc==7.5, memory<2 GiB")), "x").device, 1u);
  EXPECT_EQ(named(tree(with("cc!=7.5")), "x").device, 2u);
  refused(with("cc>9.0"), {"gpu0 (gpu of plugin 'cuda', 1 GiB, cc 7.5)", "cc 9.0", "cc not known"});
}

TEST(capability, is_in_the_words_for_the_target_of_a_compiler) {
  EXPECT_EQ(capability_in("NVRTC 12.4 (libnvrtc.so.12); driver 12040; sm_90"), 9.0);
  EXPECT_EQ(capability_in("sm_86"), 8.6);
  EXPECT_EQ(capability_in("x; sm_120a"), 12.0);
  for (const char* none : {"", "hipRTC 6.1; gfx90a:sramecc+:xnack-", "/usr/bin/cc; flags : sse2 asm_90", "sm_", "sm_9"})
    EXPECT_FALSE(capability_in(none)) << none;
}

TEST_F(declared, a_store_is_found_by_its_directory) {
  const auto at = [](const std::string& path) {
    return "[[loctype]]\nname = \"s\"\nkind = \"storage\"\npath = \"" + path +
           "\"\n[[location]]\nname = \"x\"\ntype = \"s\"\n";
  };
  refused(at("/scratch"),
          {"storage at /scratch", "disk0 (storage of plugin 'disk', 1 TiB, plugin.disk.path is not set)"});
  devices.push_back(invented_device(5, "disk1", TSR_DEVICE_STORAGE, 1ull << 30));
  devices[4].folder = "/scratch";
  devices[5].folder = "/data";
  EXPECT_EQ(named(tree(at("/data")), "x").device, 5u);
  EXPECT_EQ(named(tree(at("/scratch")), "x").folder, "/scratch");
  EXPECT_EQ(named(tree(at("/scratch//a/../")), "x").device, 4u);
  refused(at("/scratch/a"), {"storage at /scratch/a", "1 TiB, at /scratch)", "1 GiB, at /data)"});
  refused(at("/dat"), {"storage at /dat"});  // a part of a name is none
}

TEST(folders, have_one_name) {
  EXPECT_EQ(normalised_folder(""), "");
  EXPECT_EQ(normalised_folder("/"), "/");
  EXPECT_EQ(normalised_folder("/no/such//folder/"), "/no/such/folder");
  EXPECT_EQ(normalised_folder("."), std::filesystem::canonical(".").string());
  const std::string link = testing::TempDir() + "/tessera_link_to_a_folder";
  std::filesystem::remove(link);
  std::filesystem::create_directory_symlink("/", link);
  EXPECT_EQ(normalised_folder(link + "/no_such_folder"), "/no_such_folder");
  std::filesystem::remove(link);
}

TEST_F(declared, an_accelerator_passes_for_a_gpu_only_by_name_of_its_plugin) {
  const std::string text = "\n[[location]]\nname = \"x\"\ntype = \"t\"\n";
  EXPECT_EQ(named(tree("[[loctype]]\nname = \"t\"\nkind = \"gpu\"\nplugin = \"sim\"" + text), "x").device, 3u);
  EXPECT_EQ(named(tree("[[loctype]]\nname = \"t\"\nkind = \"accelerator\"" + text), "x").device, 1u);
  devices.resize(1);
  devices.push_back(invented_device(1, "sim0", TSR_DEVICE_ACCELERATOR));
  refused("[[loctype]]\nname = \"t\"\nkind = \"gpu\"" + text, {"gpu", "sim0 (accelerator of plugin 'sim'"});
}

TEST_F(declared, the_csv_form_gives_the_same_tree) {
  const auto d = parse_csv(
      "loctype;name,node_memory;kind,Unified_Memory;size,2GiB\n"
      "loctype;name,host;kind,x64;num_cores,4\n"
      "loctype;name,tesla;kind,CC7.0\n"
      "location;name,LocA;type,node_memory\nlocation;name,LocH;type,host\nlocation;name,LocG;type,tesla;all\n"
      "hierarchy;children,+,LocH,LocG;parent,LocA\n",
      "tree.csv");
  const auto discovered = topology::synthetic(machine).tree(devices);
  const location::tree t = declared_tree(d, discovered, devices, notes);
  EXPECT_EQ(t.path(*t.find("LocG[1]")), "machine/LocA/LocG/LocG[1]");
  EXPECT_EQ(named(t, "LocA").memory_bytes, 2ull << 30);
  EXPECT_TRUE(has(notes.at(0), {"CC7.0", "capability of gpu0 is not known"}));
  devices[1].capability = 6.1;
  devices[2].capability = 9.0;
  notes.clear();
  EXPECT_EQ(named(declared_tree(d, discovered, devices, notes), "LocG[0]").device, 2u);
  EXPECT_FALSE(has(notes.empty() ? "" : notes.at(0), {"CC7.0"}));
  devices[2].capability = 6.1;
  EXPECT_TRUE(has(message_of([&] { declared_tree(d, discovered, devices, notes); }),
                  {"every gpu of compute capability 7.0 or more", "gpu0 (gpu of plugin 'cuda', 1 GiB, cc 6.1)"}));
}

TEST_F(declared, a_csv_file_replaces_the_tables_and_says_so) {
  const std::string file = testing::TempDir() + "/tessera_tree.csv";
  std::ofstream(file) << "location;name,LocZ;type,virtual\n";
  config::sources from;
  from.set = {"topology.declarations=" + file};
  from.environment.emplace();
  EXPECT_EQ(declarations_of(config::document::load(from), notes).locations.at(0).names.at(0).value, "LocZ");
  EXPECT_TRUE(notes.empty());
  const std::string toml = testing::TempDir() + "/tessera_tree.toml";
  std::ofstream(toml) << "[[location]]\nname = \"LocT\"\ntype = \"virtual\"\n";
  from.files = {toml};
  EXPECT_EQ(declarations_of(config::document::load(from), notes).locations.at(0).names.at(0).value, "LocZ");
  EXPECT_TRUE(has(notes.at(0), {"replaced", "tessera_tree.csv"}));
  from.set.clear();
  EXPECT_EQ(declarations_of(config::document::load(from), notes).locations.at(0).names.at(0).value, "LocT");
  std::remove(file.c_str());
  from.set = {"topology.declarations=" + file};
  EXPECT_TRUE(
      has(message_of([&] { declarations_of(config::document::load(from), notes); }), {"No such file", "command line"}));
  std::remove(toml.c_str());
}

}  // namespace
}  // namespace tessera::hierarchy
