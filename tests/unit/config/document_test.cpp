#include "core/config/document.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>

#include "core/base/error.hpp"
#include "core/config/toml.hpp"
#include "tests/support/damaged_text.hpp"
#include "tests/support/error_of.hpp"

namespace tessera::config {
namespace {

using test_support::message_of;

void expect_error(std::string_view toml, const std::vector<std::string>& parts) {
  const std::string text = message_of([&] { document::parse(toml, "laptop.toml"); });
  for (const std::string& part : parts) EXPECT_NE(text.find(part), std::string::npos) << toml << "\n-> " << text;
}

/// A folder of its own, removed at the end.
struct files : testing::Test {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tessera_config_" + std::to_string(getpid()) + "_" +
                                                testing::UnitTest::GetInstance()->current_test_info()->name());
  files() { std::filesystem::create_directories(folder); }
  ~files() override { std::filesystem::remove_all(folder); }
  std::filesystem::path write(const std::string& name, const std::string& text) {
    std::ofstream(folder / name) << text;
    return folder / name;
  }
  static document load(std::vector<std::filesystem::path> list,
                       std::vector<std::pair<std::string, std::string>> environment = {},
                       std::vector<std::string> set = {}, std::optional<std::uint32_t> workers = {}) {
    return document::load({std::move(list), std::move(set), workers, std::move(environment)});
  }
};

TEST(document, defaults_are_those_of_the_settings) {
  const document d;
  const runtime_settings fresh;
  EXPECT_EQ(d.runtime().plugins, fresh.plugins);
  EXPECT_EQ(d.runtime().slab_bytes, fresh.slab_bytes);
  EXPECT_EQ(d.region().policy, "static");
  EXPECT_EQ(d.origin("runtime.workers"), "default");
  for (const explained& line : d.explain()) EXPECT_TRUE(line.is_default) << line.key;
}

TEST(document, reads_every_key) {
  const document d = document::parse(R"(
[runtime]
workers = 3
bind = false
placement = "eager"
window_tasks = 1000
window_bytes = "2 GiB"
spin = "20 us"
plugins = ["host", "sim", "/opt/vendor/tessera_x.so"]
plugin_path = ["/opt/tessera/plugins"]
[memory]
host_limit = 1048576
slab_bytes = "32 MiB"
eviction = "lru"
staging_bytes = "8 MiB"
registration_limit = 0
huge_pages = false
[topology]
synthetic = "core:2 pu:1"
[region]
policy = "flatten"
)",
                                     "laptop.toml");
  const runtime_settings& r = d.runtime();
  EXPECT_EQ(r.workers, 3u);
  EXPECT_FALSE(r.bind);
  EXPECT_EQ(r.placement, "eager");
  EXPECT_EQ(r.window_tasks, 1000u);
  EXPECT_EQ(r.window_bytes, 2ull << 30);
  EXPECT_EQ(r.spin_ns, 20000u);
  EXPECT_EQ(r.plugins, (std::vector<std::string>{"host", "sim", "/opt/vendor/tessera_x.so"}));
  EXPECT_EQ(r.plugin_path, std::vector<std::string>{"/opt/tessera/plugins"});
  EXPECT_EQ(r.host_limit, 1u << 20);
  EXPECT_EQ(r.slab_bytes, 32u << 20);
  EXPECT_EQ(r.staging_bytes, 8u << 20);
  EXPECT_EQ(r.registration_limit, 0u);
  EXPECT_FALSE(r.huge_pages);
  EXPECT_EQ(d.topology().synthetic, "core:2 pu:1");
  EXPECT_EQ(d.region().policy, "flatten");
  EXPECT_EQ(d.origin("runtime.workers"), "laptop.toml:3:1");
  EXPECT_EQ(d.origin("memory.slab_bytes"), "laptop.toml:13:1");
}

TEST(document, complaints_name_file_line_column_and_the_nearest_name) {
  expect_error("[runtime]\nworkrs = 4\n", {"workrs", "laptop.toml:2:1", "did you mean 'workers'"});
  expect_error("[runtme]\nworkers = 4\n", {"runtme", "laptop.toml:1:2", "did you mean 'runtime'"});
  expect_error("workers = 4\n", {"workers", "laptop.toml:1:1", "belongs below [runtime]"});
  expect_error("[runtime]\nslab_bytes = 4\n", {"laptop.toml:2:1", "belongs below [memory]"});
  expect_error("[runtime]\n  workers = \"4\"\n", {"laptop.toml:2:3", "an integer", "without quotes"});
  expect_error("[runtime]\nworkers = 4.5\n", {"laptop.toml:2:1", "runtime.workers wants an integer"});
  expect_error("[runtime]\nworkers = -1\n", {"laptop.toml:2:1", "must not be negative"});
  expect_error("[runtime]\nworkers = 1000000\n", {"laptop.toml:2:1", "0 to 65535"});
  expect_error("[runtime]\nwindow_tasks = 0\n", {"laptop.toml:2:1", "out of range"});
  expect_error("[runtime]\nwindow_bytes = \"-1 GiB\"\n", {"laptop.toml:2:1", "negative"});
  expect_error("[runtime]\nwindow_bytes = \"9999 PiB\"\n", {"laptop.toml:2:1", "not \"9999 PiB\""});
  expect_error("[runtime]\nwindow_bytes = \"4 PiB\"\n", {"laptop.toml:2:1", "0 to 1 PiB"});
  expect_error("[memory]\nslab_bytes = \"64 Mibs\"\n", {"laptop.toml:2:1", "a size such as"});
  expect_error("[memory]\nslab_bytes = 12\n", {"laptop.toml:2:1", "64 KiB to 1 TiB"});
  expect_error("[runtime]\nspin = 50\n", {"laptop.toml:2:1", "a duration"});
  expect_error("[runtime]\nspin = \"50\"\n", {"laptop.toml:2:1", "units are ns"});
  expect_error("[runtime]\nspin = \"2 min\"\n", {"laptop.toml:2:1", "0 ns to 1 s"});
  expect_error("[runtime]\nbind = 1\n", {"laptop.toml:2:1", "true or false"});
  expect_error("[runtime]\nplacement = \"locallity\"\n", {"laptop.toml:2:1", "did you mean \"locality\""});
  expect_error("[runtime]\nplacement = \"zzz\"\n", {"eager, locality, pinned"});
  expect_error("[runtime]\nplugins = \"host\"\n", {"laptop.toml:2:1", "a list of texts"});
  expect_error("[runtime]\nplugins = [\n  \"host\",\n  3]\n", {"laptop.toml:4:3"});
  expect_error("[runtime]\nplugins = [\"\"]\n", {"empty entry"});
  expect_error("[runtime]\nplugin_path = [\"plugins\"]\n", {"relative", "laptop.toml:2:1"});
  expect_error("runtime = 3\n", {"laptop.toml:1:1", "is a table"});
  expect_error("[[runtime]]\nworkers = 1\n", {"is a table, not a list"});
  expect_error("plugin = 3\n", {"[plugin.NAME]"});
  expect_error("[plugin]\nsim = 3\n", {"laptop.toml:2:1", "[plugin.sim]"});
  expect_error("[runtime]\nworkers = 1979-05-27\n", {"laptop.toml:2:1", "dates"});
  expect_error("[runtime]\nworkers = 1\nworkers = 2\n", {"laptop.toml:3", "not TOML"});
  expect_error("[runtime\nworkers = 1\n", {"laptop.toml:1:9", "not TOML"});
  expect_error("[runtime]\nworkers = \n", {"laptop.toml:2", "not TOML"});
  expect_error("[checksums]\nsim = \"abc\"\n", {"laptop.toml:2:1", "64 hexadecimal"});
  expect_error("[checksums]\nsim = 1\n", {"laptop.toml:2:1"});
  // What is printed in lines, and what ends a path for the system.
  expect_error("[[plugin.sim.device]]\nname = \"a\\n\\u001b[31m\"\n", {"laptop.toml:2:1", "'a??[31m'", "U+000A"});
  expect_error("[runtime]\nhistory = \"\\u0000x\"\n", {"laptop.toml:2:1", "U+0000"});
  expect_error("[runtime]\nplugins = [\"host\", \"a\\tb\"]\n", {"laptop.toml:2", "U+0009"});
  expect_error("[[location]]\nname = \"a\\u007f\"\ntype = \"virtual\"\n", {"laptop.toml:2:1", "U+007F"});
}

TEST(document, plugin_tables_are_flattened_and_keep_their_places) {
  const document d = document::parse(
      "[plugin.sim]\nclock = \"virtual\"\nseed = 7\nscale = 0.5\nchecked = true\nlimits.memory = \"1 GiB\"\n"
      "[[plugin.sim.device]]\nname = \"fast\"\n[[plugin.sim.device]]\nname = \"slow\"\n",
      "sim.toml");
  const auto& values = d.plugin_values("sim");
  std::vector<std::string> names;
  for (const plugin_value& v : values) names.push_back(v.name);
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"checked", "clock", "device[0].name", "device[1].name", "limits.memory",
                                             "scale", "seed"}));
  for (const plugin_value& v : values) {
    if (v.name == "device[1].name") {
      EXPECT_EQ(std::get<std::string>(v.value), "slow");
      EXPECT_EQ(v.where, "sim.toml:10:1");
    }
    if (v.name == "seed") {
      EXPECT_EQ(std::get<std::int64_t>(v.value), 7);
    }
    if (v.name == "scale") {
      EXPECT_EQ(std::get<double>(v.value), 0.5);
    }
    if (v.name == "checked") {
      EXPECT_TRUE(std::get<bool>(v.value));
    }
  }
  EXPECT_TRUE(d.plugin_values("host").empty());
  EXPECT_EQ(d.plugins_with_values().size(), 1u);
}

TEST_F(files, later_layers_win) {
  const auto first =
      write("a.toml", "[runtime]\nworkers = 1\nplacement = \"eager\"\n[memory]\nslab_bytes = \"1 MiB\"\n");
  const auto second = write("b.toml", "[runtime]\nworkers = 2\n");
  EXPECT_EQ(load({first, second}).runtime().workers, 2u);
  EXPECT_EQ(load({first, second}).runtime().placement, "eager");
  EXPECT_EQ(load({second, first}).runtime().workers, 1u);
  const std::vector<std::pair<std::string, std::string>> environment{{"TESSERA_RUNTIME_WORKERS", "3"},
                                                                     {"TESSERA_MEMORY_SLAB_BYTES", "2 MiB"}};
  const document env = load({first}, environment);
  EXPECT_EQ(env.runtime().workers, 3u);
  EXPECT_EQ(env.runtime().slab_bytes, 2u << 20);
  EXPECT_EQ(env.origin("runtime.workers"), "environment TESSERA_RUNTIME_WORKERS");
  EXPECT_EQ(env.origin("runtime.placement"), first.string() + ":3:1");
  const document set = load({first}, environment, {"runtime.workers=4", "runtime.plugins=host, sim"});
  EXPECT_EQ(set.runtime().workers, 4u);
  EXPECT_EQ(set.origin("runtime.workers"), "command line");
  EXPECT_EQ(set.runtime().plugins, (std::vector<std::string>{"host", "sim"}));
  EXPECT_EQ(load({first}, environment, {"runtime.workers=4"}, 5).runtime().workers, 5u);
}

TEST_F(files, plugin_options_merge_by_name_and_arrays_of_tables_as_a_whole) {
  const auto first = write("a.toml",
                           "[plugin.sim]\nclock = \"real\"\nseed = 1\n[[plugin.sim.device]]\nname = \"a\"\nmemory = 1\n"
                           "[[plugin.sim.device]]\nname = \"b\"\n");
  const auto second = write("b.toml", "[plugin.sim]\nclock = \"virtual\"\n[[plugin.sim.device]]\nname = \"c\"\n");
  const auto find = [](const document& d, const std::string& name) -> const plugin_value* {
    for (const plugin_value& v : d.plugin_values("sim"))
      if (v.name == name) return &v;
    return nullptr;
  };
  const document d = load({first, second}, {}, {"plugin.sim.device[1].name=d", "plugin.sim.seed=9", "plugin.x.y=1.5"});
  EXPECT_EQ(std::get<std::string>(find(d, "clock")->value), "virtual");
  EXPECT_EQ(std::get<std::int64_t>(find(d, "seed")->value), 9);
  EXPECT_EQ(std::get<std::string>(find(d, "device[0].name")->value), "c");
  EXPECT_EQ(find(d, "device[0].memory"), nullptr);
  EXPECT_EQ(std::get<std::string>(find(d, "device[1].name")->value), "d");
  EXPECT_EQ(find(d, "device[1].name")->where, "command line");
  EXPECT_EQ(std::get<double>(d.plugin_values("x")[0].value), 1.5);
  for (const char* bad : {"plugin.sim.device[7].name=x", "plugin.sim.device[].name=x", "plugin.sim.device[a].name=x"})
    message_of([&] { load({first}, {}, {bad}); });
}

TEST_F(files, some_keys_have_a_short_variable_beside_the_long_one) {
  const document d = load({}, {{"TESSERA_REPORT", "a.html"}, {"TESSERA_STATS", "1"}, {"TESSERA_TRACE", "a.json"}});
  EXPECT_EQ(d.runtime().report, "a.html");
  EXPECT_EQ(d.runtime().trace_file, "a.json");
  EXPECT_TRUE(d.runtime().stats);
  EXPECT_EQ(d.origin("runtime.report"), "environment TESSERA_REPORT");
  for (const char* beside : {"TESSERA_REPORT", "TESSERA_STATS", "TESSERA_TRACE"}) {
    const document both = load({}, {{"TESSERA_RUNTIME_REPORT", "long"},
                                    {"TESSERA_RUNTIME_STATS", "false"},
                                    {"TESSERA_RUNTIME_TRACE_FILE", "long"},
                                    {beside, beside == std::string("TESSERA_STATS") ? "true" : "short"}});
    EXPECT_EQ(both.runtime().report, "long");
    EXPECT_EQ(both.runtime().trace_file, "long");
    EXPECT_FALSE(both.runtime().stats);
  }
  EXPECT_THROW(load({}, {{"TESSERA_TRACE", "1"}}), error);
  EXPECT_THROW(load({}, {{"TESSERA_STATS", "run.html"}}), error);
}

TEST_F(files, the_environment_names_the_file_and_the_ancestor_s_variables_work) {
  const auto file = write("env.toml", "[runtime]\nworkers = 7\n[region]\npolicy = \"any\"\n");
  EXPECT_EQ(load({}, {{"TESSERA_CONFIG", file.string()}}).runtime().workers, 7u);
  const auto other = write("other.toml", "[runtime]\nworkers = 8\n");
  EXPECT_EQ(load({other}, {{"TESSERA_CONFIG", file.string()}}).runtime().workers, 8u);
  EXPECT_EQ(load({file}, {{"GECKO_POLICY", "flatten"}}).region().policy, "flatten");
  EXPECT_EQ(load({file}, {{"TESSERA_REGION_POLICY", "static"}, {"GECKO_POLICY", "flatten"}}).region().policy, "static");
  const document d = load({}, {{"GECKO_CONFIG_FILE", "/somewhere/tree.csv"}});
  EXPECT_EQ(d.topology().declarations, "/somewhere/tree.csv");
  EXPECT_EQ(d.origin("topology.declarations"), "environment GECKO_CONFIG_FILE");
}

TEST_F(files, paths_in_a_file_are_relative_to_it) {
  const auto file = write("t.toml", "[topology]\nxml = \"machines/big.xml\"\ndeclarations = \"/abs/tree.csv\"\n");
  const document d = load({file});
  EXPECT_EQ(d.topology().xml, (folder / "machines/big.xml").string());
  EXPECT_EQ(d.topology().declarations, "/abs/tree.csv");
  EXPECT_EQ(load({}, {}, {"topology.xml=big.xml"}).topology().xml, "big.xml");
}

TEST_F(files, mistakes_outside_files_are_found_too) {
  const auto failing_environment = [](const char* name, const char* value = "1") {
    return message_of([&] { load({}, {{name, value}}); });
  };
  EXPECT_NE(failing_environment("TESSERA_RUNTIME_WORKRS").find("did you mean TESSERA_RUNTIME_WORKERS"),
            std::string::npos);
  EXPECT_NE(failing_environment("TESSERA_WORKERS").find("did you mean TESSERA_RUNTIME_WORKERS"), std::string::npos);
  EXPECT_NE(failing_environment("TESSERA_CONFIGS").find("TESSERA_CONFIG"), std::string::npos);
  EXPECT_NE(failing_environment("TESSERA_PLUGIN_SIM_CLOCK").find("--set plugin.NAME.option=value"), std::string::npos);
  EXPECT_NE(failing_environment("TESSERA_RUNTIME_WORKERS", "many").find("environment TESSERA_RUNTIME_WORKERS"),
            std::string::npos);
  load({}, {{"TESSERA_SOMETHING_ELSE_ENTIRELY", "1"}, {"HOME", "/root"}, {"TESSERA_PLUGIN_DIR", "/x"}});
  for (const char* bad : {"workers", "runtime.workers", "=4", "runtime.=4", ".workers=4", "plugin.sim=4"})
    message_of([&] { load({}, {}, {bad}); }, error_kind::usage);
  for (const char* bad : {"runtime.workers=four", "runtime.workers=", "runtime.workers=-1", "runtim.workers=1",
                          "runtime.workrs=1", "location.name=LocA", "runtime.bind=maybe", "checksums.sim=12"})
    EXPECT_NE(message_of([&] { load({}, {}, {bad}); }).find("command line"), std::string::npos) << bad;
  EXPECT_NE(message_of([&] { load({folder / "absent.toml"}); }).find("No such file"), std::string::npos);
  EXPECT_NE(message_of([&] { load({folder}); }).find("is a directory"), std::string::npos);
}

TEST(document, explain_shows_each_value_and_its_origin) {
  const document d = document::parse(
      "[runtime]\nworkers = 4\nplugins = [\"host\"]\n[plugin.sim]\nclock = \"real\"\n"
      "[checksums]\nsim = \"" +
          std::string(64, 'A') + "\"\n",
      "laptop.toml");
  bool seen_workers = false, seen_clock = false;
  for (const explained& line : d.explain()) {
    if (line.key == "runtime.workers") {
      seen_workers = line.value == "4" && !line.is_default && line.where == "laptop.toml:2:1";
    }
    if (line.key == "plugin.sim.clock") seen_clock = line.value == "\"real\"" && line.where == "laptop.toml:5:1";
    if (line.key == "memory.slab_bytes") {
      EXPECT_EQ(line.value, "\"64 MiB\"");
    }
  }
  EXPECT_TRUE(seen_workers && seen_clock);
  EXPECT_EQ(d.checksums().at(0).sha256, std::string(64, 'a'));
  const std::string text = to_text(d.explain()), json = to_json(d.explain());
  EXPECT_NE(text.find("laptop.toml:2:1"), std::string::npos);
  EXPECT_NE(
      json.find(R"({"key": "plugin.sim.clock", "value": "\"real\"", "default": false, "where": "laptop.toml:5:1"})"),
      std::string::npos)
      << json;
}

TEST(document, declarations_are_read_with_places) {
  const document d = document::parse(R"([[loctype]]
name = "tesla"
kind = "gpu"
plugin = "cuda"
match = "compute_units>=80"
memory = "16 GiB"
bandwidth = "12 GB/s"
latency = "5 us"
[[location]]
name = ["LocB", "LocC"]
type = "virtual"
[[location]]
name = "LocG"
type = "tesla"
all = true
[[hierarchy]]
parent = "LocB"
children = ["LocC", "LocG"]
[[hierarchy]]
parent = "LocB"
detach = "LocC"
)",
                                     "tree.toml");
  const declarations& t = d.declared();
  ASSERT_EQ(t.loctypes.size(), 1u);
  EXPECT_EQ(t.loctypes[0].memory->value, 16ull << 30);
  EXPECT_EQ(t.loctypes[0].memory->where, "tree.toml:6:1");
  EXPECT_EQ(t.loctypes[0].bandwidth->value, 12e9);
  EXPECT_EQ(t.loctypes[0].latency_ns->value, 5000.0);
  ASSERT_EQ(t.locations.size(), 2u);
  EXPECT_EQ(t.locations[0].names[1].value, "LocC");
  EXPECT_TRUE(t.locations[1].all);
  ASSERT_EQ(t.hierarchies.size(), 2u);
  EXPECT_TRUE(t.hierarchies[0].attach);
  EXPECT_FALSE(t.hierarchies[1].attach);
  EXPECT_EQ(t.hierarchies[0].children[1].value, "LocG");
}

TEST(document, wrong_declarations_name_their_place) {
  expect_error("[[loctype]]\nkind = \"gpu\"\n", {"no 'name'", "laptop.toml:1:1"});
  expect_error("[[loctype]]\nname = \"a\"\nkind = \"gpu\"\nmem = 3\n", {"'mem'", "laptop.toml:4:1"});
  expect_error("[[loctype]]\nname = \"a\"\nkind = \"cpu\"\ncores = 0\n", {"loctype.cores = 0", "laptop.toml:4:1"});
  expect_error("[[loctype]]\nname = \"a\"\nkind = \"cpu\"\ncores = -2\n", {"negative", "laptop.toml:4:1"});
  expect_error("[[loctype]]\nname = \"a\"\nkind = \"gpu\"\nmemory = \"lots\"\n", {"a size", "laptop.toml:4:1"});
  expect_error("[[loctype]]\nname = \"a\"\nkind = \"gpu\"\nmemory = 1\nsize = 1\n", {"not both", "laptop.toml:5:1"});
  expect_error("[[loctype]]\nname = \"a\"\nkind = \"gpu\"\nbandwidth = \"fast\"\n", {"a rate", "laptop.toml:4:1"});
  expect_error("[[location]]\nname = []\ntype = \"x\"\n", {"empty list", "laptop.toml:2:1"});
  expect_error("[[location]]\nname = [\"a\", 3]\ntype = \"x\"\n", {"names", "laptop.toml:2:14"});
  expect_error("[[location]]\nname = \"a\"\ntype = \"x\"\nall = true\ncount = 2\n", {"exclude each other"});
  expect_error("[[location]]\nname = \"a\"\ntype = \"x\"\nstart = 2\n", {"needs 'count'", "laptop.toml:4:1"});
  expect_error("[location]\nname = \"a\"\n", {"two brackets", "laptop.toml:1:2"});
  expect_error("[[hierarchy]]\nparent = \"a\"\nchildren = [\"b\"]\ndetach = [\"c\"]\n", {"not both"});
  expect_error("[[hierarchy]]\nparent = \"a\"\nchildrn = [\"b\"]\n", {"did you mean 'children'", "laptop.toml:3:1"});
}

TEST(document, letters_that_are_not_ascii_stand_in_quotes_and_comments) {
  const auto refused = [](const std::string& text, const std::string& where) {
    try {
      (void)document::parse(text, "laptop.toml");
      ADD_FAILURE() << "accepted: " << text;
    } catch (const error& e) {
      EXPECT_EQ(e.where(), where) << text;
      EXPECT_EQ(e.kind(), error_kind::configuration);
    }
  };
  refused("[caf\u00e9]\n", "laptop.toml:1:5");
  refused("# \u00e9\n[runtime]\nworkers = 1\u00e9\n", "laptop.toml:3:12");
  refused("[runtime]\n\u2028workers = 1\n", "laptop.toml:2:1");
  refused("[memory]\nslab_bytes = \"32 MiB\" \u2e80\n", "laptop.toml:2:23");
  refused("[[location]]\nname = \"\u00e9\" \u00e9\n", "laptop.toml:2:12");
  refused("[[location]]\nname = \"a\\\"\u00e9\" \u00e9\n", "laptop.toml:2:15");
  refused("[[location]]\nname = '''\na\u00e9''' \u00e9\n", "laptop.toml:3:7");
  const std::string types = "[[loctype]]\nname = \"t\"\nkind = \"cpu\"\n";
  for (const std::string name : {"\"k\u00fcche\"", "'k\u00fcche'", "\"\"\"\nk\u00fcche\"\"\"", "'''k\u00fcche'''"})
    EXPECT_NO_THROW((void)document::parse(
        "\xEF\xBB\xBF# \u00e4 \"\n" + types + "[[location]]\nname = " + name + "\ntype = \"t\"\n", "laptop.toml"))
        << name;
}

TEST(document, what_is_no_toml_has_its_place_and_what_to_write) {
  expect_error("[runtime]\nplacement = cost\n", {"laptop.toml:2:13", "a text wants quotes: \"cost\""});
  expect_error("[runtime]\nplacement = plugin:mine # mine\n",
               {"laptop.toml:2:", "a text wants quotes: \"plugin:mine\""});
  expect_error("[runtime]\nplugins = [\"host\", sim]\n", {"laptop.toml:2:", "a text wants quotes: \"sim\""});
  expect_error("[runtime]\nbind = tru\n", {"laptop.toml:2:", "a text wants quotes: \"tru\""});
  // The header of a table inside of what is a value already.
  expect_error("runtime = {workers = 2}\n\n  [runtime.more]\na = 1\n", {"existing", "laptop.toml:3:3"});
  expect_error("runtime = {workers = 2}\n[runtime.more] # x\n", {"existing", "laptop.toml:2:1"});
  expect_error("[runtime]\nworkers = 2\n[runtime]\n", {"existing", "laptop.toml:3:1"});
  for (const char* other :
       {"[runtime]\nworkers 3\n", "[runtime\n", "[runtime]\nworkers = 3 4\n", "[runtime]\nspin = \"2\n"})
    EXPECT_EQ(message_of([&] { document::parse(other, "laptop.toml"); }).find("wants quotes"), std::string::npos)
        << other;
}

TEST(document, values_inside_values_have_an_end) {
  const auto repeated = [](const std::string& piece, int times) {
    std::string text;
    for (int k = 0; k < times; ++k) text += piece;
    return text;
  };
  const std::vector<std::string> deep{"256 deep", "laptop.toml:1:"};
  for (const int parts : {257, 50000}) {
    expect_error("x" + repeated(".a", parts) + " = 1\n", deep);
    expect_error("[x" + repeated(".a", parts) + "]\nb = 1\n", deep);
    expect_error("[[x" + repeated(" . \"a.b\"", parts) + "]]\nb = 1\n", deep);
    expect_error("x = " + repeated("[", parts) + "1" + repeated("]", parts) + "\n", deep);
    expect_error("x = " + repeated("{a=", parts) + "1" + repeated("}", parts) + "\n", deep);
  }
  // Sums of levels that are few each.
  expect_error("[a" + repeated(".a", 99) + "]\nb" + repeated(".b", 99) + " = {c" + repeated(".c", 99) + " = 1}\n",
               {"256 deep", "laptop.toml:2:"});
  // What is long and not deep; the last is a comment.
  std::string list = "1.5";
  for (int k = 0; k < 1000; ++k) list += ", 0.5";
  const std::string text = "[plugin.sim]\nx = [" + list + "]\ny = [{a.b = 1.5}, {a.b = 2.5}]\nz = \"" +
                           repeated("a.", 1000) + "\"\n# " + repeated("a.", 1000) + repeated("[", 1000) + "\n";
  EXPECT_EQ(document::parse(text).plugin_values("sim").size(), 1001u + 2u + 1u);
}

TEST(document, a_file_whose_read_fails_is_an_error) {
  // It opens, and its first page cannot be read.
  EXPECT_NE(message_of([] { (void)read_text_file("/proc/self/mem"); }).find("Input/output error"), std::string::npos);
  EXPECT_NE(message_of([] {
              (void)document::load({{"/proc/self/mem"}, {}, {}, {{}}});
            }).find("/proc/self/mem"),
            std::string::npos);
  EXPECT_NE(message_of([] { (void)read_text_file("/proc/self"); }).find("it is a directory"), std::string::npos);
}

TEST(document, damaged_text_is_refused_and_never_worse) {
  const std::string whole =
      "[runtime]\nworkers = 3\nspin = \"20 us\"\nplugins = [\"host\", \"sim\"]\n[memory]\nslab_bytes = \"32 MiB\"\n"
      "[plugin.sim]\nclock = \"real\"\n[[plugin.sim.device]]\nmemory = 12\n[[loctype]]\nname = \"t\"\nkind = \"gpu\"\n"
      "[[location]]\nname = [\"a\", \"b\"]\ntype = \"t\"\n[[hierarchy]]\nparent = \"a\"\nchildren = [\"b\"]\n";
  test_support::read_damaged(whole, "damaged.toml",
                             [&](const std::string& text) { (void)document::parse(text, "damaged.toml").explain(); });
}

}  // namespace
}  // namespace tessera::config
