// GPU plugins where there is no GPU: they load, and say quietly why they cannot serve.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>

#include "plugins/gpu_common/api/driver.hpp"
#include "tests/unit/plugins/opened_plugin.hpp"

namespace tessera {
namespace {

TEST(gpu_driver, is_missing_or_too_old_or_does) {
  EXPECT_EQ(gpu::complaint_about_driver("CUDA", 0, 13000), "no driver for CUDA devices is installed");
  EXPECT_EQ(gpu::complaint_about_driver("CUDA", 12020, 13000),
            "the driver serves CUDA 12.2 and older; this plugin needs a driver for CUDA 13.0 or newer");
  EXPECT_EQ(gpu::complaint_about_driver("CUDA", 13000, 13010), "");  // one major version
  EXPECT_EQ(gpu::complaint_about_driver("CUDA", 14000, 13000), "");
}

/// The plugins of real GPUs that this build has.
class gpu_plugin_without_a_device : public testing::TestWithParam<const char*> {};

TEST_P(gpu_plugin_without_a_device, says_why_it_cannot_serve) {
  const std::string name = GetParam();
  if (!std::filesystem::exists(std::string(TESSERA_PLUGIN_DIR) + "/tessera_" + name + ".so"))
    GTEST_SKIP() << "this build has no plugin " << name;
  const tsr_plugin_header* const header = test::opened_plugin::load(name);
  ASSERT_NE(header, nullptr);
  EXPECT_EQ(header->name, name);
  std::array<char, 8> little{};
  std::array<char, 256> reason{};
  const auto score = header->probe(nullptr, reason.data(), reason.size());
  EXPECT_EQ(header->probe(nullptr, little.data(), little.size()), score);
  EXPECT_EQ(little.back(), 0);
  EXPECT_EQ(header->probe(nullptr, nullptr, 0), score);
  if (score != 0) GTEST_SKIP() << "there is a driver on this machine";
  EXPECT_NE(std::string(reason.data()).find("driver"), std::string::npos) << reason.data();
  // Opened all the same, it has no device; that is no failure.
  const test::opened_plugin opened(name);
  EXPECT_EQ(opened.status, TSR_OK) << test::opened_plugin::last_error();
  EXPECT_TRUE(opened.devices.empty());
}

INSTANTIATE_TEST_SUITE_P(native, gpu_plugin_without_a_device, testing::Values("cuda", "hip", "hip_nvidia"),
                         [](const auto& which) { return std::string(which.param); });

}  // namespace
}  // namespace tessera
