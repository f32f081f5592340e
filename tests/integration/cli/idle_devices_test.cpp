// A device that gets no tasks is told, with the reason: by `tessera plugins`, and by --stats and --json of every
// command.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/integration/cli/program.hpp"
#include "tests/unit/plugin/folder.hpp"

namespace {

using namespace cli_test;
using plugin_test::built;
using testing::Contains;
using testing::HasSubstr;

/// --set words for the host beside plugins of tests/plugins.
std::vector<std::string> with(const std::string& plugin, std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--set", "runtime.plugins=[\"host\", \"" + built(plugin) + "\"]"});
  return arguments;
}

nlohmann::json device_of(const std::string& plugin) {
  const outcome done = run(with(plugin, {"plugins", "--json", "-"}));
  EXPECT_EQ(done.code, 0) << done.err;
  const nlohmann::json list = json_of(done.out);
  for (const auto& one : list.at("plugins"))
    if (one.at("name") == plugin) return one.at("devices").at(0);
  ADD_FAILURE() << plugin << " is not listed";
  return {};
}

TEST(idle_devices, whose_memory_is_the_hosts_are_no_places) {
  const auto device = device_of("host_space");
  EXPECT_EQ(device.at("runs_tasks"), false);
  EXPECT_THAT(device.at("why_not").get<std::string>(), HasSubstr("TSR_SPACE_DEVICE"));
  const outcome text = run(with("host_space", {"plugins"}));
  EXPECT_THAT(text.out, HasSubstr("no place for tasks"));
}

TEST(idle_devices, say_what_they_can_run) {
  const auto device = device_of("mini");
  EXPECT_EQ(device.at("runs_tasks"), true);
  EXPECT_EQ(device.at("why_not"), "");
  ASSERT_EQ(device.at("operations").size(), 1u);
  EXPECT_EQ(device.at("operations").at(0).at("name"), "axpy");
  EXPECT_THAT(device.at("operations").at(0).at("types").get<std::vector<std::string>>(), Contains("f64"));
  EXPECT_EQ(device.at("compiles_kernels"), false);
}

TEST(idle_devices, are_told_after_a_run) {
  for (const auto& [plugin, reason] : {std::pair<std::string, std::string>{"host_space", "no place for tasks"},
                                       std::pair<std::string, std::string>{"mini", "runs axpy"}}) {
    const outcome text = run(with(plugin, {"gemm", "--n", "100", "--stats"}));
    EXPECT_EQ(text.code, 0) << text.err;
    EXPECT_THAT(text.out, HasSubstr("no tasks     " + plugin + "0: ")) << text.out;
    EXPECT_THAT(text.out, HasSubstr(reason));
    const outcome json = run(with(plugin, {"gemm", "--n", "100", "--json", "-"}));
    const auto idle = json_of(json.out).at("statistics").at("idle_devices");
    ASSERT_EQ(idle.size(), 1u) << json.out;
    EXPECT_EQ(idle.at(0).at("name"), plugin + "0");
    EXPECT_THAT(idle.at(0).at("reason").get<std::string>(), HasSubstr(reason));
  }
}

TEST(idle_devices, whose_memory_is_the_hosts_run_no_part_of_a_region) {
  const outcome done = run(with("host_space", {"hotspot", "--size", "64", "--stats", "--verify"}));
  EXPECT_EQ(done.code, 0) << done.err << done.out;
  EXPECT_THAT(done.out, HasSubstr("no tasks     host_space0: "));
  EXPECT_THAT(done.out, Not(HasSubstr("host_space0 50 %")));
}

}  // namespace
