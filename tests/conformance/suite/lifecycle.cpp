// Opening and closing, also with work under way.
#include <algorithm>

#include "core/plugin/tables.hpp"
#include "tests/conformance/suite/rig.hpp"

namespace tessera::conformance {
namespace {

void open_close_100_times(const subject& what) {
  std::size_t devices = 0;
  for (int i = 0; i < 100; ++i) {
    const opened all(what);
    expect(i == 0 || all.devices.size() == devices, "opening number {} finds {} devices, the first found {}", i + 1,
           all.devices.size(), devices);
    devices = all.devices.size();
    expect(devices > 0, "the plugin has no device");
  }
}

/// Enqueues work and leaves streams and memory alive.
void leave_work_behind(const device& device, std::vector<unsigned char>& host) {
  const std::uint32_t space = compute_space(device);
  const std::uint64_t bytes = allocatable(device, copyable(device, host.size()));
  for (std::size_t s = 0; s < streams_of(device, 4); ++s) {
    tsr_stream* stream = nullptr;
    tsr_memory* memory = nullptr;
    expect_ok(device.table().stream_create(device.handle(), TSR_STREAM_COMPUTE, &stream), "stream_create");
    expect_ok(device.table().mem_alloc(device.handle(), space, bytes, &memory), "mem_alloc");
    for (int i = 0; i < 16; ++i) {
      const tsr_copy copy =
          plain_copy({device.handle(), space}, {memory, 0}, host_space, host_address(host.data()), bytes);
      expect_ok(device.table().copy(device.handle(), stream, &copy), "copy");
      tsr_ticket ticket;
      expect_ok(device.table().stream_signal(device.handle(), stream, &ticket), "stream_signal");
    }
  }
}

void close_with_live_streams(const subject& what) {
  std::vector<unsigned char> host(4096, 1);
  for (int i = 0; i < 3; ++i) {
    const opened all(what);
    for_each_device(all, [&](const device& device) { leave_work_behind(device, host); });
  }
}

void shutdown_with_open_devices(const subject& what) {
  std::vector<unsigned char> host(4096, 1);
  for (int i = 0; i < 3; ++i) {
    const auto& path = what.plugin.path;
    tsr_plugin* opened_plugin = nullptr;
    const void* raw = nullptr;
    std::vector<tsr_option_value> values;
    for (const auto& o : what.options)
      values.push_back({sizeof(tsr_option_value), o.type, o.name.c_str(), o.integer, o.number, o.text.c_str()});
    expect_ok(what.plugin.header.open(what.host.table(), values.data(), static_cast<std::uint32_t>(values.size()),
                                      &opened_plugin, &raw),
              "open");
    const tsr_plugin_table table = plugin::checked_table(static_cast<const tsr_plugin_table*>(raw), path);
    std::uint32_t count = 0;
    expect_ok(table.enumerate(opened_plugin, 0, nullptr, &count), "enumerate");
    for (std::uint32_t d = 0; d < count; ++d) {
      tsr_device* device = nullptr;
      const tsr_device_table* raw_device = nullptr;
      tsr_device_desc description{};
      description.struct_size = sizeof description;
      expect_ok(table.enumerate(opened_plugin, d, &description, &count), "enumerate");
      std::uint64_t bytes = host.size();
      if (TSR_HAS(tsr_device_desc, &description, max_copy))
        for (const std::uint64_t limit : {description.max_allocation, description.max_copy})
          if (limit != 0) bytes = std::min(bytes, limit);
      expect_ok(table.device_open(opened_plugin, d, &device, &raw_device), "device_open");
      const tsr_device_table calls = plugin::checked_table(raw_device, path);
      tsr_stream* stream = nullptr;
      expect_ok(calls.stream_create(device, TSR_STREAM_COMPUTE, &stream), "stream_create");
      tsr_memory* memory = nullptr;
      expect_ok(calls.mem_alloc(device, 0, bytes, &memory), "mem_alloc");
      const tsr_copy copy = plain_copy({device, 0}, {memory, 0}, host_space, host_address(host.data()), bytes);
      expect_ok(calls.copy(device, stream, &copy), "copy");
    }
    expect_ok(table.shutdown(opened_plugin), "shutdown with devices, streams and memory alive");
  }
  const opened again(what);
  expect(!again.devices.empty(), "after such a shutdown the plugin opens without devices");
}

void devices_keep_their_descriptions(const subject& what) {
  std::vector<std::string> first;
  for (int i = 0; i < 2; ++i) {
    const opened all(what);
    std::vector<std::string> names;
    for (const auto& device : all.devices) names.emplace_back(device->description().name);
    if (i == 0) first = names;
    expect(names == first, "a second opening enumerates the devices in another order or with other names");
  }
}

}  // namespace

std::vector<check> lifecycle_checks() {
  return {{"lifecycle.open_close_100_times", open_close_100_times},
          {"lifecycle.close_with_live_streams", close_with_live_streams},
          {"lifecycle.shutdown_with_open_devices", shutdown_with_open_devices},
          {"lifecycle.devices_keep_their_descriptions", devices_keep_their_descriptions}};
}

}  // namespace tessera::conformance
