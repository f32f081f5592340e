// A plugin compiled against the frozen header 0.1 under the current core.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

#include "core/plugin/registry.hpp"
#include "tests/conformance/suite/conformance.hpp"

namespace {

using namespace tessera;

const std::string old_plugin = TESSERA_BINARY_DIR "/tests/plugins/tessera_mini_0_1.so";

TEST(old_plugin_new_core, loads_and_is_completed) {
  const plugin::registry all({.wanted = {old_plugin}});
  ASSERT_EQ(all.plugins().size(), 1u);
  EXPECT_EQ(all.plugins()[0].abi_minor, 1u);
  EXPECT_LT(all.plugins()[0].abi_minor, TSR_ABI_MINOR);
  ASSERT_EQ(all.devices().size(), 1u);
  const plugin::device& device = *all.devices()[0];
  EXPECT_EQ(device.table().host_task, nullptr) << "a field that 0.1 does not know";
  EXPECT_NE(device.table().copy, nullptr);
  tsr_memory* memory = nullptr;
  device.check(device.table().mem_alloc(device.handle(), 0, 128, &memory), "allocation");
  void* base = nullptr;
  device.check(device.table().mem_base(device.handle(), memory, &base), "mem_base");
  ASSERT_NE(base, nullptr);
  device.check(device.table().mem_free(device.handle(), memory), "free");
}

TEST(old_plugin_new_core, passes_the_suite) {
  const auto done = conformance::run({.plugin = old_plugin, .options = {{"count", std::int64_t{2}, "test"}}});
  EXPECT_EQ(done.plugin, "mini_0_1");
  EXPECT_GT(done.count(conformance::outcome::passed), 30u);
  for (const auto& result : done.results)
    EXPECT_NE(result.how, conformance::outcome::failed)
        << result.name << ": " << result.message << " (seed " << done.seed << ")";
}

/// The suite must be able to fail: a plugin that opens nothing good does.
TEST(conformance_itself, a_refused_plugin_fails) {
  const auto done = conformance::run({.plugin = TESSERA_BINARY_DIR "/tests/plugins/tessera_major.so"});
  ASSERT_EQ(done.results.size(), 1u);
  EXPECT_EQ(done.results[0].name, "load");
  EXPECT_FALSE(done.passed());
  EXPECT_NE(conformance::to_json(done).find("\"failed\": 1"), std::string::npos);
}

}  // namespace
