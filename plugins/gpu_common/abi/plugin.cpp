// Open, enumerate, open devices: the same for every vendor.
#include "plugins/gpu_common/abi/plugin.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "plugins/gpu_common/abi/handles.hpp"
#include "plugins/gpu_common/abi/modules.hpp"
#include "plugins/kit/abi/plugin_calls.hpp"

#if defined(TESSERA_GPU_EMULATED)
#include "plugins/gpu_common/api/emulator/runtime.hpp"
#endif

namespace tessera::gpu {
namespace {

tsr_device_desc describe_device(int ordinal, bool callbacks) {
  device_facts facts;
  describe(ordinal, facts);
  tsr_device_desc desc{};
  desc.device_class = facts.device_class;
  desc.capabilities = TSR_DEVICE_DEVICE_WAIT;
  if (callbacks) desc.capabilities |= TSR_DEVICE_CALLBACK;
  if (facts.has_fp64) desc.capabilities |= TSR_DEVICE_HAS_FP64;
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

/// cuBLAS, cuSPARSE and their like, and what is said of them.
void load_linear_algebra(tsr_plugin& plugin, const library_search& where) {
  const vendor_libraries& vendor = plugin.setting.vendor;
  if (!plugin.setting.libraries || vendor.dense == nullptr) return;
  plugin.dense = std::make_unique<const dense_library>(*vendor.dense, where);
  std::string found = plugin.dense->found(), lost = plugin.dense->lost();
  const auto append = [](std::string& to, const char* between, const std::string& one) {
    if (!to.empty() && !one.empty()) to += between;
    to += one;
  };
  if (vendor.sparse != nullptr) {
    auto sparse = std::make_unique<const sparse_library>(*vendor.sparse, where);
    append(found, ", ", sparse->found());
    append(lost, "; ", sparse->lost());
    if (*sparse) plugin.sparse_library = std::move(sparse);
  }
  // Nobody misses the libraries of an emulated device that were not asked for.
  const bool expected = vendor.system_too || !plugin.setting.library_path.empty();
  if (!found.empty()) plugin.library = found + (lost.empty() ? "" : ", and Tessera's own kernels");
  if (!lost.empty() && expected)
    plugin.report.log(2, "not found, its calls run on Tessera's own kernels: %s", lost.c_str());
}

/// Once a device is there: loading them is dear where they are large, and of no use without one.
void load_libraries(tsr_plugin& plugin) {
  const std::lock_guard lock(plugin.libraries_mutex);
  if (!plugin.library.empty()) return;
  plugin.library = "Tessera's own kernels";
  const vendor_libraries& vendor = plugin.setting.vendor;
  const library_search where{plugin.setting.library_path, vendor.system_too};
  std::string no_sensors;
  plugin.sensors = sensors::find(vendor.sensors, where, no_sensors);
  if (!no_sensors.empty() && (vendor.system_too || !where.folder.empty()))
    plugin.report.log(0, "no power, temperature and load are told: %s", no_sensors.c_str());
  load_linear_algebra(plugin, where);
  plugin.blas = blas_table(plugin.library.c_str());
  find_compiler(plugin);
}

/// With what most buses reach where that cannot be measured.
bus_rates measured_bus(const tsr_device_s& device) {
  const bus_rates found = measure_bus();
  if (found.in > 0 && found.out > 0) return found;
  device.report.log(1, "the bus of '%s' could not be measured", device.facts.name);
  return {usual_bus_bandwidth, usual_bus_bandwidth};
}

std::unique_ptr<tsr_device_s> make_device(tsr_plugin& plugin, std::uint32_t index) {
  auto device = std::make_unique<tsr_device_s>(&plugin, index, plugin.ordinals[index], plugin.report);
  revive_device(device->ordinal);
  use_device(device->ordinal);
  describe(device->ordinal, device->facts);
  const auto limit = plugin.setting.memory_limit;
  std::size_t free = device->facts.free_bytes;
  if (free == 0) free_memory(&free);                         // a device that cannot say is left without memory
  const bool beyond = plugin.setting.managed && limit != 0;  // the driver makes room
  const std::uint64_t unclaimed = free - std::min<std::uint64_t>(memory_of_others, free / 8);
  device->used[device_space].set_limit(limit == 0 ? unclaimed : beyond ? limit : std::min<std::uint64_t>(limit, free));
  if (release_waits && !plugin.setting.managed) device->kept.set_limit(device->used[device_space].limit() / 8);
  device->bus = {plugin.setting.bus_bandwidth, plugin.setting.bus_bandwidth};
  if (plugin.setting.bus_bandwidth == 0) device->bus = measured_bus(*device);
  if (has_pinned_memory) device->used[space_count - 1].set_limit(plugin.setting.pinned_limit);
  for (const int peer : plugin.ordinals)
    if (peer != device->ordinal && reaches(device->ordinal, peer)) enable_peer(peer);
  clear_error();  // "is enabled already" is none
  load_libraries(plugin);
  device->compiler_identity = compiler_identity(*device);
  return device;
}

void close(tsr_device& device) {
  use_device(device.ordinal);
  close_streams(device);
  device.sizes.reset();
  kit::close_matrices(device.matrices);
  close_modules(device);
  device.memories.for_each([](tsr_memory_s& memory) {
    if (memory.magic.take(memory_magic)) release_memory(memory);
  });
  release_kept(device);
  device.live_allocations = 0;
  for (auto& used : device.used) used.clear();
}

struct plugin_rules : rules {
  using plugin = tsr_plugin_s;
  static std::size_t device_count(const plugin& in) {
    if (in.ordinals.empty())
      in.report.fail(TSR_UNAVAILABLE, "%s", in.no_device.c_str());  // the count is right all the same
    return in.ordinals.size();
  }
  static tsr_device_desc describe(const plugin& in, std::uint32_t index) {
    return describe_device(in.ordinals[index], in.setting.callbacks);
  }
  static std::unique_ptr<tsr_device_s> make(plugin& in, std::uint32_t index) { return make_device(in, index); }
  static const tsr_device_table& device_table() { return gpu::device_table(); }
  static void close(tsr_device& device) { gpu::close(device); }
  static std::vector<kit::offered_extension> extensions(const plugin& in) {
    std::vector<kit::offered_extension> all = {{TSR_EXTENSION_BLAS, in.blas.version, &in.blas},
                                               {TSR_EXTENSION_TENSOR, in.tensor.version, &in.tensor},
                                               {TSR_EXTENSION_SPARSE, in.sparse.version, &in.sparse}};
    if (has_graphs) all.push_back({TSR_EXTENSION_GRAPH, in.graph.version, &in.graph});
    if (has_ipc(in)) all.push_back({TSR_EXTENSION_IPC, in.ipc.version, &in.ipc});
    if (has_modules() && has_compiler(in)) all.push_back({TSR_EXTENSION_JIT, in.jit.version, &in.jit});
    if (in.sensors != nullptr) all.push_back({TSR_EXTENSION_TELEMETRY, in.telemetry.version, &in.telemetry});
    return all;
  }
  static void stop(plugin&) {}
};

/// Those that the settings name, of the `found` that there are.
void choose_devices(tsr_plugin_s& plugin, int found) {
  const auto& setting = plugin.setting;
  for (int ordinal = 0; ordinal < found; ++ordinal) {
    if (setting.devices != 0 && static_cast<int>(plugin.ordinals.size()) == setting.devices) break;
    if (!setting.accepts || setting.accepts(ordinal)) plugin.ordinals.push_back(ordinal);
  }
  if (found > 0 && plugin.ordinals.empty())
    plugin.no_device = std::string(runtime_name) + ": " + (setting.why_none ? setting.why_none() : "none is chosen");
}

}  // namespace

tsr_status open_plugin(const tsr_host* host, const tsr_option_value* values, std::uint32_t count,
                       const settings& fallback, tsr_plugin** out_plugin, const void** out_table) {
  const kit::reporter report(host);
  return kit::guarded(report, [&]() -> tsr_status {
    if (host == nullptr || out_plugin == nullptr || out_table == nullptr)
      return report.fail(TSR_INVALID_ARGUMENT, "open: a NULL argument");
    auto plugin = std::make_unique<tsr_plugin_s>();
    plugin->report = report;
    plugin->setting = read_settings(kit::option_reader(values, count), fallback);
#if defined(TESSERA_GPU_EMULATED)
    emulator::use_host(host);
    emulator::share_memory(plugin->setting.shared);
#endif
    int found = 0;
    if (const auto error = count_devices(&found); kind_of(error) != error_kind::none) {
      // No driver or no device is a fact, not a failure: the plugin opens without devices.
      plugin->no_device = std::string(runtime_name) + ": " + text_of(error);
      report.log(0, "%s", plugin->no_device.c_str());
      clear_error();
      found = 0;
    }
    choose_devices(*plugin, found);
    plugin->tensor = tensor_table();
    plugin->sparse = sparse_table();
    plugin->graph = graph_table();
    plugin->telemetry = telemetry_table();
    plugin->jit = jit_table();
    plugin->ipc = ipc_table();
    *out_table = &kit::plugin_calls<plugin_rules>::table;
    *out_plugin = plugin.release();
    return TSR_OK;
  });
}

}  // namespace tessera::gpu
