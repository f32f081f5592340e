// NVML and ROCm SMI in emulated GPU plugins.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "plugins/gpu_common/libraries/sensors.hpp"
#include "tests/unit/plugins/opened_plugin.hpp"

namespace tessera::test {
namespace {

namespace fs = std::filesystem;

struct sensor_vendor {
  const char *name, *plugin, *folder;
  std::vector<std::pair<std::string, double>> counters;
};
void PrintTo(const sensor_vendor& one, std::ostream* to) { *to << one.name; }

class gpu_sensors : public testing::TestWithParam<sensor_vendor> {
 protected:
  static opened_plugin open(const fs::path& folder) {
    return opened_plugin(GetParam().plugin, {{"library_path", TSR_OPTION_STRING, 0, 0, folder.string()}});
  }
  static fs::path folder() { return fs::path(TESSERA_BINARY_DIR) / "tests/vendor" / GetParam().folder; }
};

TEST_P(gpu_sensors, are_read_where_the_library_is_found) {
  const opened_plugin with = open(folder());
  const auto& device = with.devices[0];
  const void* raw = nullptr;
  opened_plugin::check(with.table->extension(with.plugin, device.handle, TSR_EXTENSION_TELEMETRY, 1, &raw));
  const auto& telemetry = *static_cast<const tsr_telemetry_table*>(raw);
  const auto& expected = GetParam().counters;
  std::vector<tsr_counter> counters(2);
  std::uint32_t count = 0;
  opened_plugin::check(telemetry.read(device.handle, counters.data(), 2, &count));
  ASSERT_EQ(count, expected.size());
  counters.resize(count);
  opened_plugin::check(telemetry.read(device.handle, counters.data(), count, &count));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(counters[i].name, expected[i].first);
    EXPECT_DOUBLE_EQ(counters[i].value, expected[i].second) << counters[i].name;
  }
  std::uint64_t power = 0;
  opened_plugin::check(device.table->query(device.handle, TSR_QUERY_MILLIWATTS, 0, &power));
  EXPECT_EQ(static_cast<double>(power), expected[0].second * 1000);
  EXPECT_EQ(telemetry.read(device.handle, nullptr, 1, &count), TSR_INVALID_ARGUMENT);
}

TEST_P(gpu_sensors, are_done_without_and_told_of_where_they_were_looked_for) {
  const opened_plugin without(GetParam().plugin), empty = open(folder() / "nothing");
  for (const opened_plugin* plugin : {&without, &empty}) {
    const void* raw = nullptr;
    const auto& device = plugin->devices[0];
    EXPECT_EQ(plugin->table->extension(plugin->plugin, device.handle, TSR_EXTENSION_TELEMETRY, 1, &raw),
              TSR_UNIMPLEMENTED);
    std::uint64_t power = 0;
    EXPECT_EQ(device.table->query(device.handle, TSR_QUERY_MILLIWATTS, 0, &power), TSR_UNIMPLEMENTED);
    const auto told = testing::HasSubstr("no power, temperature and load are told");
    if (plugin == &empty)
      EXPECT_THAT(plugin->logged(), told);
    else
      EXPECT_THAT(plugin->logged(), testing::Not(told));
  }
}

TEST(rocm_smi, knows_devices_by_their_address) {
  std::string why;
  const auto found = gpu::sensors::find(gpu::sensor_library::rocm,
                                        {(fs::path(TESSERA_BINARY_DIR) / "tests/vendor/amd").string(), false}, why);
  ASSERT_NE(found, nullptr) << why;
  EXPECT_EQ(found->milliwatts("0000:c1:00.0"), 300000u);
  for (const char* other :
       {"0000:c2:00.0", "0001:c1:00.0", "0000:c1:01.0", "0000:c1:00.1", "0000:c1:00", "c1", "0000:1c1:00.0"}) {
    EXPECT_EQ(found->milliwatts(other), std::nullopt) << other;
    EXPECT_TRUE(found->read(other).empty()) << other;
  }
}

INSTANTIATE_TEST_SUITE_P(
    vendors, gpu_sensors,
    testing::Values(
        sensor_vendor{"nvidia",
                      "cuda_emulated",
                      "nvidia",
                      {{"power", 250}, {"temperature", 61}, {"clock", 1.5e9}, {"load", 0.8}, {"throttled", 1}}},
        sensor_vendor{
            "amd",
            "hip_emulated",
            "amd",
            {{"power", 300}, {"temperature", 65}, {"clock", 1.7e9}, {"load", 0.4}, {"memory_used", 2147483648.0}}},
        sensor_vendor{
            "amd_before_6",
            "hip_emulated",
            "amd_old",
            {{"power", 300}, {"temperature", 65}, {"clock", 1.7e9}, {"load", 0.4}, {"memory_used", 2147483648.0}}}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace tessera::test
