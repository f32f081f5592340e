// Whole machines: configuration files, real plugins, this computer.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "hierarchy/discovery/memory_limits.hpp"
#include "hierarchy/machine/assemble.hpp"
#include "unit/hierarchy/invented.hpp"

namespace tessera::hierarchy {
namespace {

const std::string source = TESSERA_SOURCE_DIR;

/// Without the process's environment, and with the plugins of this build.
machine assembled(std::vector<std::filesystem::path> files, std::vector<std::string> set = {}) {
  set.push_back(std::string("runtime.plugin_path=") + TESSERA_PLUGIN_DIR);
  return assemble(config::document::load({std::move(files), std::move(set), {}, {{}}}));
}

std::size_t workers_of(const machine& m, const std::string& plugin) {
  return static_cast<std::size_t>(std::ranges::count_if(m.tree.subtree(m.tree.root()), [&](location::node_id id) {
    const auto& is = m.tree.at(id).properties;
    return is.kind == location::kind::worker && is.device && m.plugins->devices()[*is.device]->plugin_name() == plugin;
  }));
}

TEST(machine, every_file_in_configs_makes_a_machine) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source + "/configs")) {
    if (entry.path().extension() != ".toml") continue;
    if (entry.path().stem() == "hip") continue;  // never beside opencl in one process; integration_cli looks at it
    ++count;
    SCOPED_TRACE(entry.path().string());
    const machine m = assembled({entry.path()});
    EXPECT_GE(m.settings.workers, 1u);
    for (const std::string& note : m.notes) ADD_FAILURE() << note;
    // Everything that the tree names exists.
    for (const location::node_id id : m.tree.subtree(m.tree.root())) {
      const auto& is = m.tree.at(id).properties;
      if (is.device) {
        ASSERT_LT(*is.device, m.plugins->devices().size());
      }
      if (is.space) {
        ASSERT_LT(is.space->device, m.plugins->devices().size());
        ASSERT_LT(is.space->space, m.plugins->devices()[is.space->device]->spaces().size());
      }
      if (is.kind == location::kind::worker) {
        EXPECT_NE(m.tree.memory_of(id), location::no_node) << is.name;
      }
      if (is.kind == location::kind::worker && is.space) {
        EXPECT_NE(m.tree.parent_memory(id), location::no_node) << is.name;
      }
    }
  }
  EXPECT_GE(count, 5u);
}

/// Mistakes that concern several settings are told with the place of one.
TEST(machine, mistakes_of_settings_together_have_their_place) {
  const auto said = [](const std::string& toml) {
    try {
      (void)assemble(config::document::load({{},
                                             {std::string("runtime.plugin_path=") + TESSERA_PLUGIN_DIR},
                                             {},
                                             {{}},
                                             "runtime.plugins = [\"host\"]\n" + toml}));
    } catch (const error& e) {
      EXPECT_EQ(e.kind(), error_kind::configuration);
      return std::string(e.what());
    }
    return std::string("nothing was wrong");
  };
  const auto has = [&](const std::string& toml, std::initializer_list<const char*> parts) {
    for (const char* part : parts) EXPECT_NE(said(toml).find(part), std::string::npos) << said(toml);
  };
  has("[memory]\nlow_watermark = 99\nhigh_watermark = 10\n", {"text:3:1", "low_watermark = 99 is above"});
  has("[memory]\nhigh_watermark = 10\n", {"text:3:1", "is above memory.high_watermark = 10"});
  const std::string sum = " = \"" + std::string(64, '0') + "\"\n";
  has("[checksums]\nhots" + sum, {"text:3:1", "no plugin 'hots'", "did you mean checksums.host?"});
  has("[checksums]\nbanana" + sum, {"text:3:1", "checksums.banana: there is no plugin 'banana'"});
}

TEST(machine, the_host_alone_has_one_worker_per_core) {
  const machine m = assembled({source + "/configs/host.toml"});
  EXPECT_EQ(m.plugins->devices().size(), 1u);
  EXPECT_EQ(workers_of(m, "host"), m.settings.workers);
}

TEST(machine, simulated_devices_are_in_the_tree_with_their_numbers) {
  const machine m = assembled({source + "/configs/sim_two.toml"});
  const auto fast = m.tree.find("sim0"), slow = m.tree.find("sim1");
  ASSERT_TRUE(fast && slow);
  EXPECT_EQ(m.tree.at(*fast).properties.type, "fast");
  EXPECT_EQ(m.tree.at(*fast).properties.memory_bytes, 512u << 20);
  EXPECT_EQ(m.tree.at(*slow).properties.memory_bytes, 256u << 20);
  EXPECT_GT(m.tree.at(*fast).properties.bandwidth, 3 * m.tree.at(*slow).properties.bandwidth);
  EXPECT_EQ(m.tree.at(*slow).properties.latency_ns, 10000);
}

TEST(machine, declared_trees_bind_to_real_plugins_in_both_forms) {
  for (const char* file : {"/configs/declared_tree.toml", "/configs/declared_tree_csv.toml"}) {
    const machine m = assembled({source + file});
    ASSERT_TRUE(m.tree.find("LocG[1]")) << file;
    EXPECT_EQ(m.tree.path(*m.tree.find("LocG[1]")), "machine/LocA/LocC/LocG/LocG[1]");
    EXPECT_EQ(m.tree.at(*m.tree.find("LocG[1]")).properties.memory_bytes, 128u << 20);
    EXPECT_EQ(m.tree.parent_memory(*m.tree.find("LocG[0]")), *m.tree.find("LocA"));
    EXPECT_EQ(m.settings.workers, 1u);
  }
}

TEST(machine, two_domains_are_there_on_any_machine_and_can_be_declared) {
  const std::filesystem::path file = source + "/configs/two_domains.toml";
  const machine found = assembled({file});
  EXPECT_EQ(found.plugins->devices().at(0)->spaces().size(), 2u);
  EXPECT_EQ(found.settings.workers, 4u);
  EXPECT_FALSE(found.settings.bind);
  EXPECT_EQ(found.tree.path(*found.tree.find("core3")), "machine/numa1/core3");
  const machine declared =
      assemble(config::document::load({{file}, {std::string("runtime.plugin_path=") + TESSERA_PLUGIN_DIR}, {}, {{}}, R"(
[[loctype]]
name = "memory"
kind = "unified"
[[loctype]]
name = "cores"
kind = "cpu"
cores = 2
[[location]]
name = ["LocA", "LocB"]
type = "memory"
[[location]]
name = ["LocAC", "LocBC"]
type = "cores"
[[hierarchy]]
parent = "LocA"
children = ["LocAC"]
[[hierarchy]]
parent = "LocB"
children = ["LocBC"]
)"}));
  EXPECT_EQ(declared.tree.path(*declared.tree.find("core3")), "machine/LocB/LocBC/core3");
  const auto space_of = [&](const char* name) {
    return declared.tree.at(*declared.tree.find(name)).properties.space->space;
  };
  EXPECT_EQ(space_of("LocA"), 0u);
  EXPECT_EQ(space_of("LocB"), 1u);
}

TEST(machine, more_workers_than_cores_are_allowed_and_said) {
  const machine m = assembled({source + "/configs/host.toml"}, {"runtime.workers=5000"});
  EXPECT_EQ(m.settings.workers, 5000u);
  ASSERT_EQ(m.notes.size(), 1u);
  EXPECT_TRUE(has(m.notes[0], {"5000 workers share"}));
}

TEST(machine, an_imagined_topology_is_not_bound) {
  const machine m = assembled({}, {"topology.synthetic=package:2 numa:2 core:4 pu:1"});
  EXPECT_EQ(m.settings.workers, 16u);
  EXPECT_FALSE(m.settings.bind);
  EXPECT_TRUE(has(m.notes.at(0), {"imagined"}));
}

TEST(machine, the_only_domain_has_the_memory_of_the_whole_machine) {
  const memory_sources says = memory_sources::of_this_process();
  const machine m = assembled({}, {"memory.host_limit=1 MiB"});
  if (m.plugins->devices()[0]->spaces().size() != 1 || !m.tree.find("numa0"))
    GTEST_SKIP() << "there are several domains";
  // The system's own figure of the domain lacks memory that was added while it ran.
  EXPECT_EQ(m.plugins->devices()[0]->spaces()[0].description.bytes, machine_memory(says));
  EXPECT_EQ(m.tree.at(m.tree.root()).properties.memory_bytes, machine_memory(says));
  EXPECT_EQ(m.tree.at(*m.tree.find("numa0")).properties.memory_bytes, 1u << 20);
}

TEST(machine, mistakes_are_found_before_anything_runs) {
  EXPECT_TRUE(
      has(message_of([] { assembled({}, {"runtime.plugins=sim"}); }), {"host memory", "command line", "\"host\""}));
  EXPECT_TRUE(has(message_of([] {
                    assembled({}, {"runtime.plugins=host,sim", "plugin.smi.clock=real"});
                  }),
                  {"no plugin 'smi'", "command line", "[plugin.sim]"}));
  EXPECT_TRUE(has(message_of([] {
                    assembled({}, {"runtime.plugins=host,sim", "plugin.sim.clokc=real"});
                  }),
                  {"clokc", "command line", "clock"}));
  EXPECT_TRUE(
      has(message_of([] { assembled({}, {"runtime.plugins=host,nonesuch"}); }, error_kind::plugin), {"nonesuch"}));
  EXPECT_TRUE(
      has(message_of([] { assembled({}, {"region.policy=flaten"}); }), {"did you mean 'flatten'", "command line"}));
  const machine m = assembled({}, {"plugin.sim.clock=real"});
  EXPECT_TRUE(has(m.notes.at(0), {"[plugin.sim]", "not used"}));
}

TEST(machine, options_of_plugins_that_are_not_opened_are_checked) {
  EXPECT_TRUE(has(message_of([] { assembled({}, {"plugin.sim.device[0].memori=1"}); }),
                  {"plugin \"sim\" has no option \"device[0].memori\"", "command line", "device[0].memory"}));
  EXPECT_TRUE(has(message_of([] { assembled({}, {"plugin.sim.clock=sundial"}); }), {"clock", "command line"}));
  // Also of one that is opened only where it can run, whether it can or not.
  EXPECT_TRUE(has(message_of([] {
                    assembled({}, {"runtime.plugins=host,opencl?", "plugin.opencl.platform=none of these",
                                   "plugin.opencl.platfrom=x"});
                  }),
                  {"platfrom", "did you mean \"platform\"?"}));
  // A file that is no plugin cannot be asked.
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tessera_tables_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(TESSERA_PLUGIN_DIR "/tessera_host.so", folder / "tessera_host.so");
  std::ofstream(folder / "tessera_acme.so") << "no library";
  const machine m = assemble(
      config::document::load({{}, {"runtime.plugin_path=" + folder.string(), "plugin.acme.memori=1"}, {}, {{}}}));
  std::filesystem::remove_all(folder);
  ASSERT_EQ(m.notes.size(), 1u);
  EXPECT_TRUE(has(m.notes[0], {"[plugin.acme] at command line is not used", "its options are not checked: "}));
}

TEST(machine, the_default_folder_is_the_one_beside_the_library) {
  const auto folders = default_plugin_directories();
  for (const auto& folder : folders) {
    EXPECT_TRUE(folder.is_absolute());
    EXPECT_TRUE(std::filesystem::is_directory(folder));
  }
  // The unit test runs against the library of the build tree.
  EXPECT_NE(std::ranges::find(folders, std::filesystem::canonical(TESSERA_PLUGIN_DIR)), folders.end());
}

}  // namespace
}  // namespace tessera::hierarchy
