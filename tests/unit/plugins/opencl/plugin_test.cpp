// The OpenCL plugin on the drivers that this machine has (PoCL at least): its options, its memory, its kernels on disk.
#include <CL/cl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "plugins/opencl/program_cache.hpp"
#include "tests/unit/plugin/folder.hpp"
#include "tests/unit/plugins/opencl/scaling.hpp"

namespace tessera {
namespace {

using test::at;
using test::given_option;
using test::opened_plugin;
using test::owned_stream;
using test::text;
using testing::HasSubstr;
namespace fs = std::filesystem;

std::size_t files_in(const fs::path& folder) {
  return fs::exists(folder) ? static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {})) : 0;
}

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(opencl_plugin, has_opaque_device_memory_alone) {
  const opened_plugin plugin("opencl", {{"memory_limit", TSR_OPTION_BYTES, 1 << 20, 0, {}}});
  ASSERT_GE(plugin.devices.size(), 1u);
  const auto& device = plugin.devices[0];
  EXPECT_EQ(device.description.space_count, 1u);
  EXPECT_NE(device.description.device_class, TSR_DEVICE_CPU) << "the core takes that one for the host";
  tsr_space_desc space{};
  space.struct_size = sizeof space;
  opened_plugin::check(device.table->spaces(device.handle, 0, &space));
  EXPECT_EQ(space.kind, TSR_SPACE_DEVICE);
  EXPECT_EQ(space.capabilities & (TSR_SPACE_ADDRESSABLE | TSR_SPACE_HOST_VISIBLE), 0u);
  EXPECT_EQ(space.bytes, 1u << 20);
  EXPECT_EQ(device.table->mem_base, nullptr);
  EXPECT_EQ(device.table->host_register, nullptr);
  tsr_memory* memory = nullptr;
  EXPECT_EQ(device.table->mem_alloc(device.handle, 0, (1 << 20) + 1, &memory), TSR_RESOURCE_EXHAUSTED);
}

TEST(opencl_plugin, chooses_platforms_and_devices_by_number_and_by_name) {
  const opened_plugin all("opencl");
  ASSERT_GE(all.devices.size(), 1u);
  const std::string name = all.devices[0].description.name;
  EXPECT_EQ(opened_plugin("opencl", {text("platform", "0"), text("device", "0")}).devices.size(), 1u);
  EXPECT_GE(opened_plugin("opencl", {text("device", name.substr(0, 7))}).devices.size(), 1u);
  const opened_plugin none("opencl", {text("device", "no such device")});
  EXPECT_EQ(none.status, TSR_OK);
  EXPECT_TRUE(none.devices.empty());
  EXPECT_THAT(opened_plugin::last_error(), HasSubstr("no such device"));
  EXPECT_THAT(opened_plugin::last_error(), HasSubstr(name.substr(0, 20))) << "it says which there are";
  EXPECT_TRUE(opened_plugin("opencl", {text("platform", "77")}).devices.empty());
}

TEST(opencl_plugin, gives_its_own_queue) {
  const opened_plugin plugin("opencl");
  const auto& device = plugin.devices[0];
  const owned_stream stream(device);
  void* native = nullptr;
  opened_plugin::check(device.table->stream_native(device.handle, stream.handle, &native));
  EXPECT_NE(native, nullptr);
}

TEST(opencl_plugin, says_where_a_kernel_does_not_compile) {
  const opened_plugin plugin("opencl", {text("build_options", "-Dscale=+"), {"cache", TSR_OPTION_BOOL, 0, 0, {}}});
  test::scaling work(plugin.devices[0]);
  EXPECT_EQ(work.enqueue(), TSR_UNKNOWN);
  EXPECT_THAT(opened_plugin::last_error(), testing::ContainsRegex("vector\\.cl:[0-9]+"));
  work.stream.finish();  // the device goes on
}

TEST(opencl_plugin, keeps_compiled_kernels_and_makes_damaged_ones_again) {
  const plugin_test::folder place;
  const fs::path folder = place.path() / "kernels";
  // Options that nobody else has: the driver has not compiled this before.
  const std::vector<given_option> options{text("cache_folder", folder), text("build_options", "-DNOBODY_ELSE=1")};
  const auto run = [&] {
    const opened_plugin plugin("opencl", options);
    test::scaling work(plugin.devices[0]);
    opened_plugin::check(work.enqueue());
    EXPECT_EQ(work.result(), work.expected());
  };
  run();
  ASSERT_EQ(files_in(folder), 1u);
  const fs::path file = fs::directory_iterator(folder)->path();
  const auto size = fs::file_size(file);
  const auto flip = [&](std::uintmax_t where) {
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekg(static_cast<std::streamoff>(where));
    const auto old = static_cast<char>(bytes.get());
    bytes.seekp(static_cast<std::streamoff>(where));
    bytes.put(static_cast<char>(old ^ 1));
  };
  flip(size - 10);
  const std::string damaged = bytes_of(file);
  // In between with other options: else this process would know the kernel still.
  { const opened_plugin other("opencl", {{"cache", TSR_OPTION_BOOL, 0, 0, {}}}); }
  run();
  EXPECT_NE(bytes_of(file), damaged) << "it was written again";
  EXPECT_EQ(files_in(folder), 1u);
}

TEST(opencl_plugin, keeps_nothing_when_told_so) {
  const plugin_test::folder place;
  const fs::path folder = place.path() / "kernels";
  const opened_plugin plugin("opencl", {text("cache_folder", folder), {"cache", TSR_OPTION_BOOL, 0, 0, {}}});
  test::scaling work(plugin.devices[0]);
  opened_plugin::check(work.enqueue());
  EXPECT_EQ(work.result(), work.expected());
  EXPECT_EQ(files_in(folder), 0u);
}

TEST(opencl_plugin, works_where_nothing_can_be_kept) {
  const plugin_test::folder place;
  const opened_plugin plugin("opencl", {text("cache_folder", place.write("file", "in the way") / "kernels")});
  test::scaling work(plugin.devices[0]);
  opened_plugin::check(work.enqueue());
  EXPECT_EQ(work.result(), work.expected());
}

TEST(opencl_program_cache, answers_only_what_was_written_for_the_same_key) {
  using gpu::opencl::program_cache;
  const plugin_test::folder place;
  const program_cache one(place.path(), "key\nof two lines"), other(place.path(), "another key");
  EXPECT_EQ(one.read(), "");
  const std::string binary("\0binary\n", 8);
  one.write(binary);
  EXPECT_EQ(one.read(), binary);
  EXPECT_EQ(other.read(), "");
  fs::copy_file(one.file(), other.file());  // as if two keys had the same name
  EXPECT_EQ(other.read(), "");

  // Every byte of it counts, and so does its end.
  const std::string whole = bytes_of(one.file());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    std::ofstream(one.file(), std::ios::binary) << damaged;
    EXPECT_EQ(one.read(), "") << "byte " << i;
    std::ofstream(one.file(), std::ios::binary) << whole.substr(0, i);
    EXPECT_EQ(one.read(), "") << "cut at " << i;
  }
  std::ofstream(one.file(), std::ios::binary) << whole;
  EXPECT_EQ(one.read(), binary);
  fs::permissions(one.file(), fs::perms::others_write,
                  fs::perm_options::add);  // anybody could have written what the driver would run
  EXPECT_EQ(one.read(), "");
  const program_cache none("", "key");
  none.write(binary);
  EXPECT_EQ(none.read(), "");
}

}  // namespace
}  // namespace tessera
