// The sim plugin: simulated discrete devices in host memory. Query, open, enumerate.
#include <cstdio>
#include <cstring>

#include "plugins/fault/interposer.hpp"
#include "plugins/kit/abi/plugin_calls.hpp"
#include "plugins/kit/abi/plugin_header.hpp"
#include "plugins/kit/kernels/blas_call.hpp"
#include "plugins/sim/handles.hpp"

namespace tessera::sim {
namespace {

tsr_device_desc describe(const tsr_plugin& plugin, std::uint32_t index) {
  const auto& setting = plugin.setting.devices[index];
  tsr_device_desc desc{};
  desc.device_class = TSR_DEVICE_ACCELERATOR;
  desc.capabilities = TSR_DEVICE_HAS_FP64 | TSR_DEVICE_CALLBACK | TSR_DEVICE_DEVICE_WAIT | TSR_DEVICE_OWN_THREADS;
  if (plugin.clock.is_virtual()) desc.capabilities |= TSR_DEVICE_VIRTUAL_CLOCK;
  desc.numa_node = setting.numa_node;
  desc.space_count = 1;
  desc.compute_units = setting.compute_streams;
  desc.copy_engines = setting.copy_engines;
  desc.max_streams = setting.max_streams;
  desc.max_allocation = setting.max_allocation;
  desc.max_copy = setting.max_copy;
  desc.peak_f32 = desc.peak_f64 = setting.flops * setting.compute_streams;
  desc.peaks_are_guesses = setting.flops == 0;
  put_uuid(index, desc.uuid);
  std::snprintf(desc.name, sizeof desc.name, "%s", setting.name.c_str());
  return desc;
}

std::unique_ptr<tsr_device_s> make_device(tsr_plugin& plugin, std::uint32_t index) {
  auto device = std::make_unique<tsr_device_s>(&plugin, index);
  device->space_name = "memory";
  device->opened_ns = plugin.clock.now();
  return device;
}

void close(tsr_device& device) {
  kit::close_streams(device.streams);
  kit::close_matrices(device.matrices);
  close_modules(device);
  device.graphs.for_each([](tsr_graph_s& graph) {
    graph.magic.set(0);
    graph.nodes.reset();
  });
  device.plugin->memory.remove_all_of(&device);
  device.recording.clear();
  device.used.clear();
  device.live_allocations = 0;
}

struct plugin_rules : rules {
  using plugin = tsr_plugin_s;
  static std::size_t device_count(const plugin& in) { return in.setting.devices.size(); }
  static tsr_device_desc describe(const plugin& in, std::uint32_t index) { return sim::describe(in, index); }
  static std::unique_ptr<tsr_device_s> make(plugin& in, std::uint32_t index) { return make_device(in, index); }
  static const tsr_device_table& device_table() { return sim::device_table(); }
  static void close(tsr_device& device) { sim::close(device); }
  static std::vector<kit::offered_extension> extensions(const plugin& in) {
    std::vector<kit::offered_extension> all = {{TSR_EXTENSION_BLAS, in.blas.version, &in.blas},
                                               {TSR_EXTENSION_TENSOR, in.tensor.version, &in.tensor},
                                               {TSR_EXTENSION_SPARSE, in.sparse.version, &in.sparse},
                                               {TSR_EXTENSION_GRAPH, in.graph.version, &in.graph}};
    if (!in.compiler.identity().empty()) all.push_back({TSR_EXTENSION_JIT, in.jit.version, &in.jit});
    if (in.setting.shared) all.push_back({TSR_EXTENSION_IPC, in.ipc.version, &in.ipc});
    return all;
  }
  static void stop(plugin& in) { in.clock.interrupt(); }  // nobody waits for modelled times any more
};

tsr_status open(const tsr_host* host, const tsr_option_value* values, std::uint32_t count, tsr_plugin** out_plugin,
                const void** out_table) {
  const kit::reporter report(host);
  return kit::guarded(report, [&]() -> tsr_status {
    if (host == nullptr || out_plugin == nullptr || out_table == nullptr)
      return report.fail(TSR_INVALID_ARGUMENT, "open: a NULL argument");
    settings setting;
    if (const auto status = read_settings(report, kit::option_reader(values, count), setting)) return status;
    // One number for the process, which the host plugin owns; step in only where nobody has chosen.
    if (const auto status = kit::start_blas(report, setting.blas_threads)) return status;
    auto plugin = std::make_unique<tsr_plugin_s>(report, std::move(setting));
    for (const auto& link : plugin->setting.links) {
      plugin->links.push_back(std::make_unique<peer_link>());
      plugin->links.back()->setting = link;
    }
    plugin->library = kit::blas_library();
    plugin->blas = blas_table(plugin->library.c_str());
    plugin->tensor = tensor_table();
    plugin->sparse = sparse_table();
    plugin->graph = graph_table();
    plugin->ipc = ipc_table();
    plugin->jit = jit_table();
    const void* table = &kit::plugin_calls<plugin_rules>::table;
    if (!plugin->setting.faults.rules.empty())  // the devices break as they were told to, like those behind a layer
      if (const auto status = fault::interpose(report, plugin.get(), "sim", table, plugin->setting.faults, &table))
        return status;
    *out_table = table;
    *out_plugin = plugin.release();
    return TSR_OK;
  });
}

const tsr_plugin_header& header() {
  static const tsr_plugin_header value = [] {
    std::uint32_t count = 0;
    const auto* options = option_schema(count);
    return kit::make_header(TSR_PLUGIN_DEVICE, "sim", options, count, open);
  }();
  return value;
}

}  // namespace
}  // namespace tessera::sim

extern "C" const tsr_plugin_header* tsr_plugin_query(std::uint32_t host_major, std::uint32_t) {
  return host_major == TSR_ABI_MAJOR ? &tessera::sim::header() : nullptr;
}
