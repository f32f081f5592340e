// Names inside values are looked up like keys: what is not there is an error with its place and the nearest name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/integration/cli/program.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace {

using namespace cli_test;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// A configuration with two simulated devices, "fast" and "slow", and some more lines.
class names : public testing::Test {
 protected:
  std::string config(const std::string& runtime, const std::string& rest = "") {
    const std::string file = (m_place.path() / "m.toml").string();
    std::ofstream(file) << "[runtime]\nplugins = [\"host\", \"sim\"]\n"
                        << runtime << "\n[[plugin.sim.device]]\nname = \"fast\"\n"
                        << "[[plugin.sim.device]]\nname = \"slow\"\n"
                        << rest;
    return file;
  }
  void refuses(const std::string& file, const std::vector<std::string>& parts,
               const std::vector<std::string>& command = {"topology"}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--config", file});
    const outcome done = run(arguments);
    EXPECT_EQ(done.code, 3) << done.out << done.err;
    for (const std::string& part : parts) EXPECT_THAT(done.err, HasSubstr(part));
  }
  plugin_test::folder m_place;
};

TEST_F(names, of_devices_in_rules_of_faults) {
  const std::string rule = "[[plugin.sim.inject]]\nkind = \"slow\"\nlatency = \"1 us\"\ndevice = ";
  refuses(config("", rule + "\"sim7\"\n"), {"m.toml:11:1", "'sim7'", "sim0 (fast), sim1 (slow)"});
  for (const std::string name : {"fast", "sim0", "slow", "sim1"}) {
    const outcome done = run({"topology", "--config", config("", rule + "\"" + name + "\"\n")});
    EXPECT_EQ(done.code, 0) << name << "\n" << done.err;
  }
  // The layer's rules hold for every plugin that it wraps.
  const std::string layered = "[[plugin.fault.inject]]\nkind = \"slow\"\nlatency = \"1 us\"\ndevice = ";
  refuses(config("layers = [\"fault:sim\"]", layered + "\"none\"\n"), {"m.toml:11:1", "'none'", "sim0 (fast)"});
  const outcome done =
      run({"topology", "--config", config("layers = [\"fault:sim\", \"fault:host\"]", layered + "\"sim1\"\n")});
  EXPECT_EQ(done.code, 0) << done.err;
}

TEST_F(names, of_a_device_strike_it_whichever_is_used) {
  for (const std::string name : {"fast", "sim0"}) {
    const std::string rule = "[[plugin.sim.inject]]\nkind = \"kernel_refused\"\ndevice = \"" + name + "\"\n";
    const outcome done = run({"gemm", "--n", "128", "--tile", "32", "--quiet", "--set", "runtime.placement=eager",
                              "--config", config("detached = [\"slow\"]", rule)});
    EXPECT_NE(done.code, 0) << name;
    EXPECT_THAT(done.err, HasSubstr("injected into device 'fast'")) << name;
  }
}

TEST_F(names, of_detached_devices) {
  refuses(config("detached = [\"fats\"]"), {"m.toml:3:1", "did you mean 'fast'?"});
  for (const std::string name : {"fast", "sim0"}) {
    const outcome done = run({"gemm", "--n", "64", "--json", "-", "--config", config("detached = [\"" + name + "\"]")});
    ASSERT_EQ(done.code, 0) << done.err;
    EXPECT_EQ(json_of(done.out)["statistics"]["detached_devices"], nlohmann::json::array({"sim0"})) << name;
  }
}

TEST_F(names, of_layers_and_of_what_they_wrap) {
  for (const std::string command : {"topology", "config"}) {
    const std::vector<std::string> words =
        command == "config" ? std::vector<std::string>{"config", "explain"} : std::vector<std::string>{command};
    refuses(config("layers = [\"fault:nope\"]"), {"m.toml:3:1", "'nope' is not opened"}, words);
    refuses(config("layers = [\"fault:sin\"]"), {"m.toml:3:1", "did you mean \"fault:sim\"?"}, words);
    refuses(config("layers = [\"fault:disk\"]"),
            {"m.toml:3:1", "'disk' is not opened", "add \"disk\" to runtime.plugins"}, words);
  }
}

TEST_F(names, of_plugins_twice) {
  const std::string file = (m_place.path() / "m.toml").string();
  for (const std::string list : {R"(["host", "host"])", R"(["host", "sim", "sim?"])"}) {
    std::ofstream(file) << "[runtime]\nplugins = " << list << "\n";
    refuses(file, {"m.toml:2:1", "twice", "leave one of them out"});
  }
}

/// A tree from its first device on: what stands before depends on the memory that is available at the time.
std::string below_sim0(const std::string& tree) { return tree.substr(std::min(tree.find("sim0"), tree.size())); }

TEST_F(names, of_configurations_that_come_with_tessera) {
  for (const std::string name : {"sim_two", "sim_two.toml"}) {
    const outcome given = run({"topology", "--config", name}), named = run({"topology"}, {"TESSERA_CONFIG=" + name});
    EXPECT_EQ(given.code, 0) << given.err;
    EXPECT_THAT(given.out, HasSubstr("sim1"));
    EXPECT_EQ(below_sim0(named.out), below_sim0(given.out)) << named.err;
  }
  const outcome near = run({"topology", "--config", "sim_tow"});
  EXPECT_EQ(near.code, 3);
  EXPECT_THAT(near.err, AllOf(HasSubstr("cannot read the file 'sim_tow': No such file"),
                              HasSubstr("did you mean 'sim_two'? found by name alone are sim_two, sim_")));
  const outcome elsewhere = run({"topology"}, {"TESSERA_CONFIG=configs/in/the/wrong/place/sim_two.toml"});
  EXPECT_EQ(elsewhere.code, 3);
  EXPECT_THAT(elsewhere.err, HasSubstr("'sim_two'"));
  const outcome none = run({"topology", "--config", "laptop"});
  EXPECT_EQ(none.code, 3);
  EXPECT_THAT(none.err, AllOf(HasSubstr("host"), HasSubstr("sim_one"), HasSubstr("two_domains")));
  // A file that is there is what is meant, whatever it is called.
  const std::string own = (m_place.path() / "sim_two.toml").string();
  std::ofstream(own) << "[runtime]\nplugins = [\"host\"]\n";
  EXPECT_THAT(run({"topology", "--config", own}).out, Not(HasSubstr("sim1")));
  const outcome folder = run({"topology", "--config", m_place.path().string()});
  EXPECT_EQ(folder.code, 3);
  EXPECT_THAT(folder.err, HasSubstr("it is a directory"));
  // No result takes the place of one.
  const outcome over = run({"topology", "--config", "sim_two", "--json", source("configs/sim_two.toml")});
  EXPECT_EQ(over.code, 2) << over.err;
}

TEST_F(names, of_tables_of_plugins) {
  for (const std::string command : {"topology", "config"}) {
    const std::vector<std::string> words =
        command == "config" ? std::vector<std::string>{"config", "explain"} : std::vector<std::string>{command};
    refuses(config("", "[plugin.nope]\nx = 1\n"), {"m.toml:8:9", "there is no plugin 'nope'", "the plugins are"},
            words);
    refuses(config("", "[plugin.dusk]\nx = 1\n"), {"did you mean [plugin.disk]?"}, words);
  }
  const outcome noted = run({"topology", "--config", config("", "[plugin.disk]\ncapacity = \"1 GiB\"\n")});
  EXPECT_EQ(noted.code, 0) << noted.err;
  EXPECT_THAT(noted.err, HasSubstr("note: [plugin.disk]"));
}

TEST_F(names, of_options_of_plugins_that_are_not_opened) {
  const std::string file = (m_place.path() / "m.toml").string();
  std::ofstream(file) << "[runtime]\nplugins = [\"host\"]\n[plugin.sim]\nmemori = 1\n";
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"topology"}, {"config", "explain"}, {"gemm", "--n", "10"}})
    refuses(file, {"m.toml:4:1", "plugin \"sim\" has no option \"memori\"", "did you mean \"device[].memory\"?"},
            words);
  const outcome done = run({"config", "explain", "--set", "plugin.sim.device[0].memori=1"});
  EXPECT_EQ(done.code, 3);
  EXPECT_THAT(done.err, AllOf(HasSubstr("command line"), HasSubstr("did you mean \"device[0].memory\"?")));
}

TEST_F(names, of_options_in_config_explain) {
  const outcome typo = run({"config", "explain", "--set", "plugin.sim.device[0].memori=1", "--config", config("")});
  EXPECT_EQ(typo.code, 3) << typo.out;
  EXPECT_THAT(typo.err, AllOf(HasSubstr("command line"), HasSubstr("did you mean \"device[0].memory\"?")));
  const outcome range =
      run({"config", "explain", "--set", "plugin.sim.device[0].copy_engines=99", "--config", config("")});
  EXPECT_EQ(range.code, 3) << range.out;
}

TEST_F(names, of_all_options_are_in_config_explain_with_their_origin) {
  const outcome done = run({"config", "explain", "--json", "-", "--config", config("layers = [\"fault:sim\"]")});
  ASSERT_EQ(done.code, 0) << done.err;
  std::map<std::string, nlohmann::json> lines;
  for (const auto& line : json_of(done.out)) lines[line["key"]] = line;
  EXPECT_EQ(lines["plugin.sim.device[1].name"]["value"], "\"slow\"");
  EXPECT_THAT(lines["plugin.sim.device[1].name"]["where"].get<std::string>(), HasSubstr("m.toml:7:1"));
  EXPECT_EQ(
      lines["plugin.sim.clock"],
      (nlohmann::json{{"key", "plugin.sim.clock"}, {"value", "\"real\""}, {"default", true}, {"where", "default"}}));
  EXPECT_EQ(lines["plugin.sim.device[0].memory"]["value"], "\"1 GiB\"");
  EXPECT_EQ(lines["plugin.sim.blas_threads"]["value"], "(none)");
  EXPECT_TRUE(lines.contains("plugin.fault.seed"));
  const outcome changed = run({"config", "explain", "--changed", "--config", config("")});
  EXPECT_THAT(changed.out, AllOf(HasSubstr("plugin.sim.device[0].name"), Not(HasSubstr("plugin.sim.clock"))));
}

TEST_F(names, of_plugins_that_a_plugin_path_leaves_out) {
  std::filesystem::copy_file(TESSERA_PLUGIN_DIR "/tessera_sim.so", m_place.path() / "tessera_sim.so");
  const outcome done =
      run({"topology", "--set", "runtime.plugin_path=" + m_place.path().string(), "--config", config("")});
  EXPECT_EQ(done.code, 5);
  EXPECT_THAT(done.err, AllOf(HasSubstr("there is no plugin \"host\""),
                              HasSubstr("runtime.plugin_path takes the place of the usual directory"),
                              HasSubstr(std::filesystem::canonical(TESSERA_PLUGIN_DIR).string())));
}

}  // namespace
