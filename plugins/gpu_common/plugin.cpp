// Open, enumerate, open devices: the same for every vendor.
#include "plugins/gpu_common/plugin.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "plugins/common/plugin_calls.hpp"
#include "plugins/gpu_common/handles.hpp"

namespace tessera::gpu {
namespace {

tsr_device_desc describe_device(std::uint32_t index) {
  device_facts facts;
  describe(static_cast<int>(index), facts);
  tsr_device_desc desc{};
  desc.device_class = TSR_DEVICE_GPU;
  desc.capabilities = TSR_DEVICE_HAS_FP64 | TSR_DEVICE_CALLBACK | TSR_DEVICE_DEVICE_WAIT;
  if (device_memory_is_host_memory) desc.capabilities |= TSR_DEVICE_OWN_THREADS;
  desc.numa_node = -1;  // the core finds it by the PCI address
  desc.space_count = space_count;
  desc.compute_units = static_cast<std::uint32_t>(std::max(facts.compute_units, 0));
  desc.copy_engines = static_cast<std::uint32_t>(std::max(facts.copy_engines, 1));
  const double clocks = facts.clock_hz * facts.compute_units * 2;
  desc.peak_f32 = clocks * facts.lanes_f32;
  desc.peak_f64 = clocks * facts.lanes_f64;
  desc.peaks_are_guesses = true;
  std::memcpy(desc.uuid, facts.uuid, sizeof desc.uuid);
  std::snprintf(desc.name, sizeof desc.name, "%s", facts.name);
  std::snprintf(desc.pci_address, sizeof desc.pci_address, "%s", facts.pci_address);
  return desc;
}

std::unique_ptr<tsr_device_s> make_device(tsr_plugin& plugin, std::uint32_t index) {
  auto device = std::make_unique<tsr_device_s>(&plugin, index, static_cast<int>(index), plugin.report);
  revive_device(device->ordinal);
  use_device(device->ordinal);
  describe(device->ordinal, device->facts);
  const auto limit = plugin.setting.memory_limit;
  const std::uint64_t free = device->facts.free_bytes;
  device->used[device_space].set_limit(limit == 0 ? free : std::min(limit, free));
  device->used[pinned_space].set_limit(plugin.setting.pinned_limit);
  for (int peer = 0; peer < plugin.device_count; ++peer)
    if (peer != device->ordinal && reaches(device->ordinal, peer)) enable_peer(peer);
  clear_error();  // "is enabled already" is none
  return device;
}

void close(tsr_device& device) {
  use_device(device.ordinal);
  close_streams(device);
  device.memories.for_each([](tsr_memory_s& memory) {
    if (memory.magic.take(memory_magic)) release_memory(memory);
  });
  device.live_allocations = 0;
  for (auto& used : device.used) used.clear();
}

struct plugin_rules : rules {
  using plugin = tsr_plugin_s;
  static std::size_t device_count(const plugin& in) { return static_cast<std::size_t>(in.device_count); }
  static tsr_device_desc describe(const plugin&, std::uint32_t index) { return describe_device(index); }
  static std::unique_ptr<tsr_device_s> make(plugin& in, std::uint32_t index) { return make_device(in, index); }
  static const tsr_device_table& device_table() { return gpu::device_table(); }
  static void close(tsr_device& device) { gpu::close(device); }
  static std::vector<common::offered_extension> extensions(const plugin& in) {
    return {{TSR_EXTENSION_BLAS, in.blas.version, &in.blas}, {TSR_EXTENSION_TENSOR, in.tensor.version, &in.tensor}};
  }
  static void stop(plugin&) {}
};

}  // namespace

tsr_status open_plugin(const tsr_host* host, const tsr_option_value* values, std::uint32_t count,
                       const settings& fallback, tsr_plugin** out_plugin, const void** out_table) {
  const common::reporter report(host);
  return common::guarded(report, [&]() -> tsr_status {
    if (host == nullptr || out_plugin == nullptr || out_table == nullptr)
      return report.fail(TSR_INVALID_ARGUMENT, "open: a NULL argument");
    auto plugin = std::make_unique<tsr_plugin_s>();
    plugin->report = report;
    plugin->setting = read_settings(common::option_reader(values, count), fallback);
#if defined(TESSERA_GPU_EMULATED)
    emulator::use_host(host);
#endif
    int found = 0;
    if (const auto error = count_devices(&found); kind_of(error) != error_kind::none) {
      // No driver or no device is a fact, not a failure: the plugin opens without devices.
      report.log(0, "%s: %s", runtime_name, text_of(error));
      clear_error();
      found = 0;
    }
    plugin->device_count = plugin->setting.devices == 0 ? found : std::min(plugin->setting.devices, found);
    plugin->blas = blas_table();
    plugin->tensor = tensor_table();
    *out_table = &common::plugin_calls<plugin_rules>::table;
    *out_plugin = plugin.release();
    return TSR_OK;
  });
}

}  // namespace tessera::gpu
