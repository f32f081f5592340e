// The host plugin: the processor and its memory as a device. Query, options, open, enumerate.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <mutex>

#include "plugins/common/blas_call.hpp"
#include "plugins/common/option_reader.hpp"
#include "plugins/common/out_struct.hpp"
#include "plugins/host/handles.hpp"

#ifndef TSR_BUILD_SANITIZER
#define TSR_BUILD_SANITIZER TSR_SANITIZER_NONE
#endif

struct tsr_plugin_s {
  tessera::common::reporter report;
  bool huge_pages = true;
  double bandwidth = 0;
  std::vector<tessera::common::numa_domain> domains;
  std::string library;
  tsr_blas_table blas{};
  tsr_tensor_table tensor{};
  std::mutex mutex;
  std::vector<std::unique_ptr<tsr_device_s>> devices;  // under mutex; the last one may be open, the others are closed
};

namespace tessera::host {
namespace {

const tsr_option options[] = {
    {sizeof(tsr_option), TSR_OPTION_BOOL, "huge_pages", "true", 0, 0, nullptr,
     "Ask the operating system to back slabs of 2 MiB and more with huge pages."},
    {sizeof(tsr_option), TSR_OPTION_INT, "blas_threads", "1", 1, 1024, nullptr,
     "Threads of one BLAS call; the runtime runs calls side by side, so more than 1 is for programs of few big tasks."},
    {sizeof(tsr_option), TSR_OPTION_RATE, "bandwidth", "10 GiB/s", 1, 1e15, nullptr,
     "What one copy in host memory is assumed to reach, for planning."},
};

/// Floating-point operations per second of all usable CPUs: width of the vector unit times clock. A guess.
double guess_peak_f64(std::uint32_t cpus) {
  double hertz = 2.5e9;
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, 7, "cpu MHz") != 0) continue;
    const auto colon = line.find(':');
    const double mhz = colon == std::string::npos ? 0 : std::strtod(line.c_str() + colon + 1, nullptr);
    if (mhz > 100) hertz = mhz * 1e6;
    break;
  }
  double per_cycle = 4;  // two 128-bit operations
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) per_cycle = 16;
  else if (__builtin_cpu_supports("avx")) per_cycle = 8;
#endif
  return hertz * per_cycle * cpus;
}

tsr_status enumerate(tsr_plugin* plugin, std::uint32_t index, tsr_device_desc* out_desc, std::uint32_t* out_count) {
  if (plugin == nullptr) return TSR_INVALID_ARGUMENT;
  return common::guarded(plugin->report, [&]() -> tsr_status {
    if (out_desc != nullptr && index > 0) return plugin->report.fail(TSR_OUT_OF_RANGE, "enumerate: device %u of 1", index);
    if (out_count != nullptr) *out_count = 1;
    if (out_desc == nullptr) return TSR_OK;
    std::uint32_t cpus = 0;
    for (const auto& domain : plugin->domains) cpus += domain.cpus;
    tsr_device_desc desc{};
    desc.device_class = TSR_DEVICE_CPU;
    desc.capabilities = TSR_DEVICE_HAS_FP64 | TSR_DEVICE_INLINE | TSR_DEVICE_CALLBACK | TSR_DEVICE_DEVICE_WAIT |
                        TSR_DEVICE_OWN_THREADS;
    desc.numa_node = plugin->domains.size() == 1 ? plugin->domains[0].node : -1;
    desc.space_count = static_cast<std::uint32_t>(plugin->domains.size());
    desc.compute_units = cpus;
    desc.copy_engines = cpus;
    desc.peak_f64 = guess_peak_f64(cpus);
    desc.peak_f32 = 2 * desc.peak_f64;
    desc.peaks_are_guesses = true;
    std::memcpy(desc.uuid, "tessera.host", 12);
    std::snprintf(desc.name, sizeof desc.name, "host");
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
    if (index > 0) return plugin->report.fail(TSR_OUT_OF_RANGE, "device_open: device %u of 1", index);
    const std::lock_guard lock(plugin->mutex);
    if (!plugin->devices.empty() && plugin->devices.back()->magic.is(device_magic))
      return plugin->report.fail(TSR_ALREADY_EXISTS, "device_open: the host device is open");
    auto device = std::make_unique<tsr_device_s>();
    device->report = plugin->report;
    device->domains = plugin->domains;
    for (const auto& domain : device->domains)
      device->space_names.push_back("numa" + std::to_string(std::max(domain.node, 0)));
    device->allocated = std::make_unique<std::atomic<std::uint64_t>[]>(device->domains.size());
    device->huge_pages = plugin->huge_pages;
    device->bandwidth = plugin->bandwidth;
    device->opened_at = std::chrono::steady_clock::now();
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
  device.memories.for_each([](tsr_memory_s& memory) {
    memory.magic.set(0);
    memory.pages = common::pages();
  });
  device.live_allocations = 0;
}

tsr_status device_close(tsr_plugin* plugin, tsr_device* device) {
  if (plugin == nullptr) return TSR_INVALID_ARGUMENT;
  return common::guarded(plugin->report, [&]() -> tsr_status {
    const std::lock_guard lock(plugin->mutex);
    const auto ours = [&](const auto& one) { return one.get() == device; };
    if (device == nullptr || std::none_of(plugin->devices.begin(), plugin->devices.end(), ours) ||
        !device->magic.take(device_magic))
      return plugin->report.fail(TSR_INVALID_ARGUMENT, "device_close: not an open device of this plugin");
    close(*device);
    return TSR_OK;
  });
}

tsr_status extension(tsr_plugin* plugin, tsr_device* device, tsr_extension_id id, std::uint32_t min_version,
                     const void** out_table) {
  if (plugin == nullptr || device == nullptr || !device->magic.is(device_magic)) return TSR_INVALID_ARGUMENT;
  if (out_table == nullptr) return plugin->report.fail(TSR_INVALID_ARGUMENT, "extension: out_table is NULL");
  if (id == TSR_EXTENSION_BLAS && min_version <= plugin->blas.version) {
    *out_table = &plugin->blas;
    return TSR_OK;
  }
  if (id == TSR_EXTENSION_TENSOR && min_version <= plugin->tensor.version) {
    *out_table = &plugin->tensor;
    return TSR_OK;
  }
  return plugin->report.fail(TSR_UNIMPLEMENTED, "extension %u version %u is not offered", id, min_version);
}

tsr_status shutdown(tsr_plugin* plugin) {
  std::unique_ptr<tsr_plugin> owner(plugin);
  if (plugin == nullptr) return TSR_INVALID_ARGUMENT;
  for (const auto& device : plugin->devices)
    if (device->magic.take(device_magic)) close(*device);
  owner.reset();
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
    const common::option_reader option(values, count);
    auto plugin = std::make_unique<tsr_plugin_s>();
    plugin->report = report;
    plugin->huge_pages = option.flag("huge_pages", true);
    plugin->bandwidth = option.number("bandwidth", 10.0 * (1u << 30));
    plugin->domains = common::numa_domains(host->cpu_mask, host->cpu_words);
    common::set_blas_threads(static_cast<int>(option.integer("blas_threads", 1)));
    plugin->library = common::blas_library();
    plugin->blas = blas_table(plugin->library.c_str());
    plugin->tensor = tensor_table();
    *out_table = &plugin_table;
    *out_plugin = plugin.release();
    return TSR_OK;
  });
}

const tsr_plugin_header header = {
    sizeof(tsr_plugin_header),
    TSR_ABI_MAJOR,
    TSR_ABI_MINOR,
    TSR_PLUGIN_DEVICE,
    TSR_BUILD_SANITIZER,
    0,
    "host",
    "Tessera",
    "0.1.0",
    "GCC " __VERSION__,
    options,
    sizeof options / sizeof options[0],
    nullptr,
    open,
    nullptr,
    {nullptr, nullptr, nullptr, nullptr},
};

}  // namespace
}  // namespace tessera::host

extern "C" const tsr_plugin_header* tsr_plugin_query(std::uint32_t host_major, std::uint32_t) {
  return host_major == TSR_ABI_MAJOR ? &tessera::host::header : nullptr;
}
