// The host plugin: the processor and its memory as a device. Query, options, open, enumerate.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "plugins/host/handles.hpp"
#include "plugins/kit/abi/option_reader.hpp"
#include "plugins/kit/abi/plugin_calls.hpp"
#include "plugins/kit/abi/plugin_header.hpp"
#include "plugins/kit/kernels/blas_call.hpp"

struct tsr_plugin_s {
  tessera::kit::reporter report;
  bool huge_pages = true, shared = false;
  double bandwidth = 0;
  std::vector<tessera::kit::numa_domain> domains;
  bool imagined_domains = false;
  std::string library;
  tsr_blas_table blas{};
  tsr_tensor_table tensor{};
  tsr_sparse_table sparse{};
  tsr_jit_table jit{};
  tsr_ipc_table ipc{};
  std::shared_ptr<const tessera::kit::host_compiler> compiler;
  tessera::kit::device_list<tsr_device_s, tessera::host::device_magic> devices;
};

namespace tessera::host {
namespace {

const tsr_option host_options[] = {
    {sizeof(tsr_option), TSR_OPTION_BOOL, "huge_pages", "true", 0, 0, nullptr,
     "Ask the operating system to back slabs of 2 MiB and more with huge pages."},
    {sizeof(tsr_option), TSR_OPTION_BOOL, "shared", "false", 0, 0, nullptr,
     "Give out memory that other processes can map too, and offer keys for it (IPC); without huge pages."},
    {sizeof(tsr_option), TSR_OPTION_INT, "domains", "0", 0, 64, nullptr,
     "Offer so many memories of equal size, as if the machine had as many NUMA nodes; 0: one for each node that it "
     "has. To try a program, with "
     "topology.synthetic = \"numa:2 core:2 pu:1\", on a machine with fewer."},
    {sizeof(tsr_option), TSR_OPTION_INT, "blas_threads", "1", 1, 1024, nullptr,
     "Threads of one BLAS call; the runtime runs calls side by side, so more than 1 is for programs of few big tasks."},
    {sizeof(tsr_option), TSR_OPTION_RATE, "bandwidth", "10 GiB/s", 1, 1e15, nullptr,
     "What one copy in host memory is assumed to reach, for planning."},
    {sizeof(tsr_option), TSR_OPTION_STRING, "compiler", nullptr, 0, 0, nullptr,
     "The C compiler for kernels that are compiled while the program runs: a path, or a name to be found in PATH; "
     "without it "
     "cc, gcc, clang or c++."},
    {sizeof(tsr_option), TSR_OPTION_DURATION, "compile_limit", "60 s", 1, 3.6e12, nullptr,
     "How long that compiler may take for one text before it is ended."},
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
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    per_cycle = 16;
  else if (__builtin_cpu_supports("avx"))
    per_cycle = 8;
#endif
  return hertz * per_cycle * cpus;
}

/// The same memory and CPUs in `count` equal parts.
std::vector<kit::numa_domain> in_parts(const std::vector<kit::numa_domain>& whole, std::uint32_t count) {
  kit::numa_domain sum{0, 0, 0};
  for (const auto& domain : whole) {
    sum.bytes += domain.bytes;
    sum.cpus += domain.cpus;
  }
  std::vector<kit::numa_domain> parts;
  for (std::uint32_t k = 0; k < count; ++k)
    parts.push_back({static_cast<int>(k), sum.bytes / count / kit::page_bytes() * kit::page_bytes(),
                     std::max(sum.cpus / count, 1u)});
  return parts;
}

tsr_device_desc describe(const tsr_plugin& plugin) {
  std::uint32_t cpus = 0;
  for (const auto& domain : plugin.domains) cpus += domain.cpus;
  tsr_device_desc desc{};
  desc.device_class = TSR_DEVICE_CPU;
  desc.capabilities =
      TSR_DEVICE_HAS_FP64 | TSR_DEVICE_INLINE | TSR_DEVICE_CALLBACK | TSR_DEVICE_DEVICE_WAIT | TSR_DEVICE_OWN_THREADS;
  desc.numa_node = plugin.domains.size() == 1 ? plugin.domains[0].node : -1;
  desc.space_count = static_cast<std::uint32_t>(plugin.domains.size());
  desc.compute_units = cpus;
  desc.copy_engines = cpus;
  desc.peak_f64 = guess_peak_f64(cpus);
  desc.peak_f32 = 2 * desc.peak_f64;
  desc.peaks_are_guesses = true;
  std::memcpy(desc.uuid, uuid, sizeof uuid);
  std::snprintf(desc.name, sizeof desc.name, "host");
  return desc;
}

std::unique_ptr<tsr_device_s> make_device(const tsr_plugin& plugin) {
  auto device = std::make_unique<tsr_device_s>();
  device->report = plugin.report;
  device->domains = plugin.domains;
  device->allocated = std::make_unique<kit::byte_budget[]>(device->domains.size());
  for (std::size_t i = 0; i < device->domains.size(); ++i) {
    device->space_names.push_back("numa" + std::to_string(std::max(device->domains[i].node, 0)));
    device->allocated[i].set_limit(device->domains[i].bytes);
  }
  device->imagined_domains = plugin.imagined_domains;
  device->huge_pages = plugin.huge_pages;
  device->shared = plugin.shared;
  device->bandwidth = plugin.bandwidth;
  device->compiler = plugin.compiler;
  device->opened_at = std::chrono::steady_clock::now();
  return device;
}

void close(tsr_device& device) {
  kit::close_streams(device.streams);
  kit::close_matrices(device.matrices);
  close_modules(device);
  device.memories.for_each([](tsr_memory_s& memory) {
    memory.magic.set(0);
    memory.pages = kit::pages();
  });
  device.live_allocations = 0;
}

struct plugin_rules : rules {
  using plugin = tsr_plugin_s;
  static std::size_t device_count(const plugin&) { return 1; }
  static tsr_device_desc describe(const plugin& in, std::uint32_t) { return host::describe(in); }
  static std::unique_ptr<tsr_device_s> make(plugin& in, std::uint32_t) { return make_device(in); }
  static const tsr_device_table& device_table() { return host::device_table(); }
  static void close(tsr_device& device) { host::close(device); }
  static std::vector<kit::offered_extension> extensions(const plugin& in) {
    std::vector<kit::offered_extension> all = {{TSR_EXTENSION_BLAS, in.blas.version, &in.blas},
                                               {TSR_EXTENSION_TENSOR, in.tensor.version, &in.tensor},
                                               {TSR_EXTENSION_SPARSE, in.sparse.version, &in.sparse},
                                               {TSR_EXTENSION_JIT, in.jit.version, &in.jit}};
    if (in.shared) all.push_back({TSR_EXTENSION_IPC, in.ipc.version, &in.ipc});
    return all;
  }
  static void stop(plugin&) {}
};

tsr_status open(const tsr_host* host, const tsr_option_value* values, std::uint32_t count, tsr_plugin** out_plugin,
                const void** out_table) {
  const kit::reporter report(host);
  return kit::guarded(report, [&]() -> tsr_status {
    if (host == nullptr || out_plugin == nullptr || out_table == nullptr)
      return report.fail(TSR_INVALID_ARGUMENT, "open: a NULL argument");
    const kit::option_reader option(values, count);
    auto plugin = std::make_unique<tsr_plugin_s>();
    plugin->report = report;
    plugin->huge_pages = option.flag("huge_pages", true);
    plugin->shared = option.flag("shared", false);
    plugin->bandwidth = option.number("bandwidth", 10.0 * (1u << 30));
    plugin->domains = kit::numa_domains(host->cpu_mask, host->cpu_words);
    if (const std::int64_t wanted = option.integer("domains", 0); wanted != 0) {
      plugin->domains = in_parts(plugin->domains, static_cast<std::uint32_t>(wanted));
      plugin->imagined_domains = true;
    }
    if (const auto status = kit::start_blas(report, static_cast<int>(option.integer("blas_threads", 1)))) return status;
    plugin->library = kit::blas_library();
    plugin->blas = blas_table(plugin->library.c_str());
    plugin->tensor = tensor_table();
    plugin->sparse = sparse_table();
    plugin->jit = jit_table();
    plugin->ipc = ipc_table();
    plugin->compiler = std::make_shared<const kit::host_compiler>(
        option.text("compiler", ""), static_cast<std::uint64_t>(option.integer("compile_limit", 60'000'000'000)));
    *out_table = &kit::plugin_calls<plugin_rules>::table;
    *out_plugin = plugin.release();
    return TSR_OK;
  });
}

const tsr_plugin_header header =
    kit::make_header(TSR_PLUGIN_DEVICE, "host", host_options, std::size(host_options), open);

}  // namespace
}  // namespace tessera::host

extern "C" const tsr_plugin_header* tsr_plugin_query(std::uint32_t host_major, std::uint32_t) {
  return host_major == TSR_ABI_MAJOR ? &tessera::host::header : nullptr;
}
