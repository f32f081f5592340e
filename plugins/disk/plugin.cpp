// The disk plugin: a directory or a file as a memory space. Query, open, enumerate.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "plugins/disk/crc32c.hpp"
#include "plugins/disk/handles.hpp"
#include "plugins/kit/abi/plugin_calls.hpp"
#include "plugins/kit/abi/plugin_header.hpp"

namespace tessera::disk {
namespace {

tsr_device_desc describe() {
  tsr_device_desc desc{};
  desc.device_class = TSR_DEVICE_STORAGE;
  desc.capabilities = TSR_DEVICE_CALLBACK | TSR_DEVICE_DEVICE_WAIT | TSR_DEVICE_OWN_THREADS;
  desc.numa_node = -1;
  desc.space_count = 1;
  desc.copy_engines = 2;
  std::memcpy(desc.uuid, "tessera.disk", 12);
  std::snprintf(desc.name, sizeof desc.name, "disk");
  return desc;
}

std::unique_ptr<tsr_device_s> make_device(tsr_plugin& plugin) {
  auto device = std::make_unique<tsr_device_s>(plugin.report, plugin.setting);
  device->allocated.set_limit(plugin.setting.capacity);
  device->store = plugin.store.get();
  if (plugin.setting.io == io_kind::threads)
    device->threads = make_thread_engine(plugin.setting.threads, plugin.report.host());
  return device;
}

void close(tsr_device& device) {
  kit::close_streams(device.streams);
  device.memories.for_each([](tsr_memory_s& memory) {
    memory.magic.set(0);
    memory.range.reset();
  });
  device.threads.reset();
  device.allocated.clear();
  device.live_allocations = 0;
}

struct plugin_rules : rules {
  using plugin = tsr_plugin_s;
  static std::size_t device_count(const plugin&) { return 1; }
  static tsr_device_desc describe(const plugin&, std::uint32_t) { return disk::describe(); }
  static std::unique_ptr<tsr_device_s> make(plugin& in, std::uint32_t) { return make_device(in); }
  static const tsr_device_table& device_table() { return disk::device_table(); }
  static void close(tsr_device& device) { disk::close(device); }
  static std::vector<kit::offered_extension> extensions(const plugin& in) {
    return {{TSR_EXTENSION_TELEMETRY, in.telemetry.version, &in.telemetry}};
  }
  static void stop(plugin&) {}
};

/// Decides between io_uring and threads: a ring that can be made once can be made again.
tsr_status choose_io(tsr_plugin& plugin, std::string& why) {
  auto& setting = plugin.setting;
  if (setting.io == io_kind::threads) return TSR_OK;
  io_context io(setting);
  if (make_ring_engine(io, setting.queue_depth, why) != nullptr) {
    setting.io = io_kind::io_uring;
    return TSR_OK;
  }
  if (setting.io == io_kind::io_uring)
    return plugin.report.fail(TSR_UNAVAILABLE, "io is \"io_uring\", but %s; io = \"auto\" takes threads then",
                              why.c_str());
  setting.io = io_kind::threads;
  return TSR_OK;
}

/// Makes the setting say what there really is, and takes the disk.
tsr_status prepare(tsr_plugin& plugin) {
  auto& setting = plugin.setting;
  const auto& report = plugin.report;
  std::string why;
  if (const auto status = choose_io(plugin, why)) return status;
  if (const auto status = private_directory::create(report, setting.path, plugin.directory)) return status;
  const auto& path = plugin.directory->path();
  if (plugin.directory->swept() != 0)
    report.log(1, "disk: removed what %u crashed runs left in %s", plugin.directory->swept(), setting.path.c_str());
  if (setting.direct && !takes_direct(path)) {
    setting.direct = false;
    report.log(2, "disk: the file system of %s takes no O_DIRECT; going through the page cache", path.c_str());
  }
  if (setting.capacity == 0) setting.capacity = free_bytes_at(path) / 10 * 9 / cell_bytes * cell_bytes;
  if (setting.capacity == 0)
    return report.fail(TSR_RESOURCE_EXHAUSTED, "nothing is free on the disk of %s", path.c_str());
  if (setting.layout == layout_kind::files)
    plugin.store = make_files_store(report, path, setting.direct, setting.checksum);
  else if (const auto status =
               make_single_store(report, path, setting.capacity, setting.direct, setting.checksum, plugin.store))
    return status;
  report.log(
      1, "disk: %llu bytes in %s, %s, %s%s%s, %s, checksums %s", static_cast<unsigned long long>(setting.capacity),
      path.c_str(), setting.layout == layout_kind::files ? "a file per slab" : "one file",
      setting.io == io_kind::io_uring ? "io_uring" : "threads", why.empty() ? "" : " because io_uring: ", why.c_str(),
      setting.direct ? "O_DIRECT" : "page cache", setting.checksum ? crc32c_method() : "off");
  return TSR_OK;
}

tsr_status open(const tsr_host* host, const tsr_option_value* values, std::uint32_t count, tsr_plugin** out_plugin,
                const void** out_table) {
  const kit::reporter report(host);
  return kit::guarded(report, [&]() -> tsr_status {
    if (host == nullptr || out_plugin == nullptr || out_table == nullptr)
      return report.fail(TSR_INVALID_ARGUMENT, "open: a NULL argument");
    auto plugin = std::make_unique<tsr_plugin_s>();
    plugin->report = report;
    if (const auto status = read_settings(report, kit::option_reader(values, count), plugin->setting)) return status;
    if (const auto status = prepare(*plugin)) return status;
    plugin->telemetry = telemetry_table();
    *out_table = &kit::plugin_calls<plugin_rules>::table;
    *out_plugin = plugin.release();
    return TSR_OK;
  });
}

const tsr_plugin_header& header() {
  static const tsr_plugin_header value = [] {
    std::uint32_t count = 0;
    const auto* options = option_schema(count);
    return kit::make_header(TSR_PLUGIN_STORAGE, "disk", options, count, open);
  }();
  return value;
}

}  // namespace
}  // namespace tessera::disk

extern "C" const tsr_plugin_header* tsr_plugin_query(std::uint32_t host_major, std::uint32_t) {
  return host_major == TSR_ABI_MAJOR ? &tessera::disk::header() : nullptr;
}
