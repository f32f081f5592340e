// The sim plugin: simulated discrete devices in host memory. Query, open, enumerate.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "plugins/common/blas_call.hpp"
#include "plugins/common/out_struct.hpp"
#include "plugins/sim/handles.hpp"

#ifndef TSR_BUILD_SANITIZER
#define TSR_BUILD_SANITIZER TSR_SANITIZER_NONE
#endif

namespace tessera::sim {
namespace {

tsr_status enumerate(tsr_plugin* plugin, std::uint32_t index, tsr_device_desc* out_desc, std::uint32_t* out_count) {
  if (plugin == nullptr) return TSR_INVALID_ARGUMENT;
  return common::guarded(plugin->report, [&]() -> tsr_status {
    const auto& devices = plugin->setting.devices;
    if (out_desc != nullptr && index >= devices.size())
      return plugin->report.fail(TSR_OUT_OF_RANGE, "enumerate: device %u of %zu", index, devices.size());
    if (out_count != nullptr) *out_count = static_cast<std::uint32_t>(devices.size());
    if (out_desc == nullptr) return TSR_OK;
    const auto& setting = devices[index];
    tsr_device_desc desc{};
    desc.device_class = TSR_DEVICE_ACCELERATOR;
    desc.capabilities = TSR_DEVICE_HAS_FP64 | TSR_DEVICE_CALLBACK | TSR_DEVICE_DEVICE_WAIT | TSR_DEVICE_OWN_THREADS;
    if (plugin->clock.is_virtual()) desc.capabilities |= TSR_DEVICE_VIRTUAL_CLOCK;
    desc.numa_node = setting.numa_node;
    desc.space_count = 1;
    desc.compute_units = setting.compute_streams;
    desc.copy_engines = setting.copy_engines;
    desc.peak_f32 = desc.peak_f64 = setting.flops * setting.compute_streams;
    desc.peaks_are_guesses = setting.flops == 0;
    std::memcpy(desc.uuid, "tessera.sim", 11);
    std::memcpy(desc.uuid + 12, &index, sizeof index);
    std::snprintf(desc.name, sizeof desc.name, "%s", setting.name.c_str());
    common::fill_out(out_desc, desc);
    return TSR_OK;
  });
}

tsr_status device_open(tsr_plugin* plugin, std::uint32_t index, tsr_device** out_device,
                       const tsr_device_table** out_table) {
  if (plugin == nullptr) return TSR_INVALID_ARGUMENT;
  return common::guarded(plugin->report, [&]() -> tsr_status {
    if (out_device == nullptr || out_table == nullptr)
      return plugin->report.fail(TSR_INVALID_ARGUMENT, "device_open: a NULL argument");
    if (index >= plugin->setting.devices.size())
      return plugin->report.fail(TSR_OUT_OF_RANGE, "device_open: device %u of %zu", index,
                                 plugin->setting.devices.size());
    const std::lock_guard lock(plugin->mutex);
    for (const auto& device : plugin->devices)
      if (device->index == index && device->magic.is(device_magic))
        return plugin->report.fail(TSR_ALREADY_EXISTS, "device_open: device %u is open", index);
    auto device = std::make_unique<tsr_device_s>(plugin, index);
    device->space_name = "memory";
    device->opened_ns = plugin->clock.now();
    device->magic.set(device_magic);
    *out_device = device.get();
    *out_table = &device_table();
    plugin->devices.push_back(std::move(device));
    return TSR_OK;
  });
}

void close(tsr_device& device) {
  // Queues first, all of them: they may wait for each other's tickets, and drain on their own.
  device.streams.for_each([](tsr_stream_s& stream) {
    stream.magic.set(0);
    stream.queue.reset();
  });
  device.streams.for_each([](tsr_stream_s& stream) { stream.line.reset(); });
  device.plugin->memory.remove_all_of(&device);
  device.used = 0;
  device.live_allocations = 0;
}

tsr_status device_close(tsr_plugin* plugin, tsr_device* device) {
  if (plugin == nullptr) return TSR_INVALID_ARGUMENT;
  return common::guarded(plugin->report, [&]() -> tsr_status {
    {
      const std::lock_guard lock(plugin->mutex);
      const auto ours = [&](const auto& one) { return one.get() == device; };
      if (device == nullptr || std::none_of(plugin->devices.begin(), plugin->devices.end(), ours) ||
          !device->magic.take(device_magic))
        return plugin->report.fail(TSR_INVALID_ARGUMENT, "device_close: not an open device of this plugin");
    }
    close(*device);
    return TSR_OK;
  });
}

tsr_status extension(tsr_plugin* plugin, tsr_device* device, tsr_extension_id id, std::uint32_t min_version,
                     const void** out_table) {
  if (plugin == nullptr) return TSR_INVALID_ARGUMENT;
  return on_device(device, [&]() -> tsr_status {
    if (out_table == nullptr) return plugin->report.fail(TSR_INVALID_ARGUMENT, "extension: out_table is NULL");
    if (id == TSR_EXTENSION_BLAS && min_version <= plugin->blas.version)
      *out_table = &plugin->blas;
    else if (id == TSR_EXTENSION_TENSOR && min_version <= plugin->tensor.version)
      *out_table = &plugin->tensor;
    else
      return plugin->report.fail(TSR_UNIMPLEMENTED, "extension %u version %u is not offered", id, min_version);
    return TSR_OK;
  });
}

tsr_status shutdown(tsr_plugin* plugin) {
  if (plugin == nullptr) return TSR_INVALID_ARGUMENT;
  std::unique_ptr<tsr_plugin> owner(plugin);
  plugin->clock.interrupt();  // nobody waits for modelled times any more
  for (const auto& device : plugin->devices)
    if (device->magic.take(device_magic)) close(*device);
  return TSR_OK;
}

const tsr_plugin_table plugin_table = {sizeof(tsr_plugin_table), enumerate, device_open, device_close, nullptr,
                                       extension, shutdown};

tsr_status open(const tsr_host* host, const tsr_option_value* values, std::uint32_t count, tsr_plugin** out_plugin,
                const void** out_table) {
  const common::reporter report(host);
  return common::guarded(report, [&]() -> tsr_status {
    if (host == nullptr || out_plugin == nullptr || out_table == nullptr)
      return report.fail(TSR_INVALID_ARGUMENT, "open: a NULL argument");
    settings setting;
    if (const auto status = read_settings(report, common::option_reader(values, count), setting)) return status;
    // One number for the process, which the host plugin owns; step in only where nobody has chosen.
    if (setting.blas_threads > 0)
      common::set_blas_threads(setting.blas_threads);
    else if (common::blas_threads_untouched())
      common::set_blas_threads(1);
    auto plugin = std::make_unique<tsr_plugin_s>(report, std::move(setting));
    for (const auto& link : plugin->setting.links) {
      plugin->links.push_back(std::make_unique<peer_link>());
      plugin->links.back()->setting = link;
    }
    plugin->library = common::blas_library();
    plugin->blas = blas_table(plugin->library.c_str());
    plugin->tensor = tensor_table();
    *out_table = &plugin_table;
    *out_plugin = plugin.release();
    return TSR_OK;
  });
}

const tsr_plugin_header& header() {
  static const tsr_plugin_header value = [] {
    tsr_plugin_header h{};
    h.struct_size = sizeof h;
    h.abi_major = TSR_ABI_MAJOR;
    h.abi_minor = TSR_ABI_MINOR;
    h.kind = TSR_PLUGIN_DEVICE;
    h.sanitizer = TSR_BUILD_SANITIZER;
    h.name = "sim";
    h.vendor = "Tessera";
    h.version = "0.1.0";
    h.build = "GCC " __VERSION__;
    h.options = option_schema(h.option_count);
    h.open = open;
    return h;
  }();
  return value;
}

}  // namespace
}  // namespace tessera::sim

extern "C" const tsr_plugin_header* tsr_plugin_query(std::uint32_t host_major, std::uint32_t) {
  return host_major == TSR_ABI_MAJOR ? &tessera::sim::header() : nullptr;
}
