// Plugins compiled against frozen headers, and one of a version to come, under the current core.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "core/base/error.hpp"
#include "core/plugin/registry.hpp"
#include "tests/conformance/suite/conformance.hpp"

namespace {

using namespace tessera;

std::string file_of(const std::string& name) { return TESSERA_BINARY_DIR "/tests/plugins/tessera_" + name + ".so"; }

void moves_memory(const plugin::registry& all) {
  ASSERT_EQ(all.devices().size(), 1u);
  const plugin::device& device = *all.devices()[0];
  EXPECT_NE(device.table().copy, nullptr);
  tsr_memory* memory = nullptr;
  device.check(device.table().mem_alloc(device.handle(), 0, 128, &memory), "allocation");
  void* base = nullptr;
  device.check(device.table().mem_base(device.handle(), memory, &base), "mem_base");
  ASSERT_NE(base, nullptr);
  device.check(device.table().mem_free(device.handle(), memory), "free");
}

TEST(old_plugin_new_core, of_1_0_loads_and_is_completed) {
  const plugin::registry all({.wanted = {file_of("mini_1_0")}});
  ASSERT_EQ(all.plugins().size(), 1u);
  EXPECT_EQ(all.plugins()[0].abi_major, 1u);
  EXPECT_EQ(all.plugins()[0].abi_minor, 0u);
  moves_memory(all);
}

TEST(old_plugin_new_core, of_1_0_passes_the_suite) {
  const auto done = conformance::run({.plugin = file_of("mini_1_0"), .options = {{"count", std::int64_t{2}, "test"}}});
  EXPECT_EQ(done.plugin, "mini_1_0");
  EXPECT_GT(done.count(conformance::outcome::passed), 30u);
  for (const auto& result : done.results)
    EXPECT_NE(result.how, conformance::outcome::failed)
        << result.name << ": " << result.message << " (seed " << done.seed << ")";
}

/// Versions before 1.0 promised nothing: refused, with both numbers and the file.
TEST(old_plugin_new_core, of_0_1_is_refused) {
  try {
    const plugin::registry all({.wanted = {file_of("mini_0_1")}});
    FAIL() << "it was taken";
  } catch (const error& refused) {
    EXPECT_EQ(refused.kind(), error_kind::plugin);
    EXPECT_NE(refused.message().find("built for plugin ABI 0.1, this program offers 1."), std::string::npos)
        << refused.what();
    EXPECT_NE(refused.where().find("tessera_mini_0_1.so"), std::string::npos) << refused.what();
  }
}

/// One minor version ahead, with a longer header: what is younger is left alone.
TEST(new_plugin_old_core, of_a_minor_version_to_come_is_served) {
  const plugin::registry all({.wanted = {file_of("newer")}});
  ASSERT_EQ(all.plugins().size(), 1u);
  EXPECT_EQ(all.plugins()[0].abi_minor, TSR_ABI_MINOR + 1);
  moves_memory(all);
}

/// The suite must be able to fail: a plugin that opens nothing good does.
TEST(conformance_itself, a_refused_plugin_fails) {
  const auto done = conformance::run({.plugin = file_of("major")});
  ASSERT_EQ(done.results.size(), 1u);
  EXPECT_EQ(done.results[0].name, "load");
  EXPECT_FALSE(done.passed());
  EXPECT_NE(conformance::to_json(done).find("\"failed\": 1"), std::string::npos);
}

}  // namespace
