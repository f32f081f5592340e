#include "hierarchy/simulation/simulated_machine.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace tessera::hierarchy {
namespace {

std::unique_ptr<plugin::device> host_device(device_model& in) {
  const described_host& described = in.description().host;
  tsr_device_desc is{};
  is.struct_size = sizeof is;
  is.device_class = TSR_DEVICE_CPU;
  is.capabilities = TSR_DEVICE_HAS_FP64 | TSR_DEVICE_INLINE | TSR_DEVICE_DEVICE_WAIT;
  is.numa_node = described.domains == 1 ? 0 : -1;
  is.space_count = described.domains;
  is.compute_units = is.copy_engines = described.domains * described.cores;
  is.peak_f64 = described.core.peak_f64 * is.compute_units;
  is.peak_f32 = described.core.peak_f32 * is.compute_units;
  std::snprintf(is.name, sizeof is.name, "host");
  std::vector<plugin::space> spaces;
  for (std::uint32_t k = 0; k < described.domains; ++k) {
    plugin::space s;
    s.name = fmt::format("host:numa{}", k);
    s.description.struct_size = sizeof s.description;
    s.description.kind = TSR_SPACE_HOST;
    s.description.capabilities = TSR_SPACE_ADDRESSABLE | TSR_SPACE_HOST_VISIBLE;
    s.description.numa_node = static_cast<std::int32_t>(k);
    s.description.bytes = described.memory_bytes;
    s.description.granularity = s.description.alignment = 4096;
    spaces.push_back(std::move(s));
  }
  return std::make_unique<plugin::device>("host", "host", 0, reinterpret_cast<tsr_device*>(in.devices().front().get()),
                                          is, world_device_table(), std::move(spaces), &world_blas_table(),
                                          &world_tensor_table());
}

std::unique_ptr<plugin::device> discrete_device(device_model& in, const described_device& described,
                                                std::uint32_t number) {
  model_device& behind = *in.devices()[number];
  tsr_device_desc is{};
  is.struct_size = sizeof is;
  is.device_class = TSR_DEVICE_GPU;
  is.capabilities = TSR_DEVICE_HAS_FP64 | TSR_DEVICE_CALLBACK | TSR_DEVICE_DEVICE_WAIT;
  is.numa_node = -1;
  is.space_count = 1;
  is.compute_units = 1;
  is.copy_engines = 2;
  is.peak_f64 = described.speed.peak_f64;
  is.peak_f32 = described.speed.peak_f32;
  std::snprintf(is.name, sizeof is.name, "%s", described.name.c_str());
  plugin::space s;
  s.name = behind.name + ":memory";
  s.description.struct_size = sizeof s.description;
  s.description.kind = TSR_SPACE_DEVICE;
  s.description.numa_node = -1;
  s.description.bytes = described.memory_bytes;
  s.description.granularity = s.description.alignment = 512;
  return std::make_unique<plugin::device>(behind.name, "imagined", number, reinterpret_cast<tsr_device*>(&behind), is,
                                          world_device_table(), std::vector{s}, &world_blas_table(),
                                          &world_tensor_table());
}

}  // namespace

simulated_machine build_machine(const machine_description& description, config::runtime_settings settings,
                                std::vector<placement::history_cell> learnt) {
  auto made = std::make_shared<device_model>(description, std::move(learnt));
  const machine_description& d = made->description();
  std::vector<std::unique_ptr<plugin::device>> devices;
  devices.push_back(host_device(*made));
  location::properties machine_is;
  machine_is.kind = location::kind::machine;
  machine_is.name = "machine";
  machine_is.type = d.name;
  location::tree tree(machine_is);
  std::vector<location::node_id> domains;
  std::uint32_t core = 0;
  for (std::uint32_t k = 0; k < d.host.domains; ++k) {
    location::properties memory;
    memory.kind = location::kind::memory;
    memory.name = fmt::format("numa{}", k);
    memory.type = "NUMANode";
    memory.space = location::space_key{0, k};
    memory.memory_bytes = d.host.memory_bytes;
    memory.numa_node = static_cast<std::int32_t>(k);
    domains.push_back(tree.add(tree.root(), memory));
    for (std::uint32_t c = 0; c < d.host.cores; ++c, ++core) {
      location::properties worker;
      worker.kind = location::kind::worker;
      worker.name = fmt::format("core{}", core);
      worker.type = "Core";
      worker.cpus = {core};
      worker.device = 0;
      tree.add(domains.back(), worker);
    }
  }
  const std::uint32_t device_count = d.device_count();
  std::uint32_t number = 1;
  for (const described_device& kind : d.devices)
    for (std::uint32_t k = 0; k < kind.count; ++k, ++number) {
      devices.push_back(discrete_device(*made, kind, number));
      location::properties worker;
      worker.kind = location::kind::worker;
      worker.name = devices.back()->name();
      worker.type = kind.name;
      worker.device = number;
      worker.space = location::space_key{number, 0};
      worker.memory_bytes = kind.memory_bytes;
      if (const described_link* l = made->link_between(0, number)) {
        worker.bandwidth = l->bandwidth;
        worker.latency_ns = static_cast<double>(l->latency_ns);
      }
      tree.add(domains[(number - 1) * domains.size() / device_count],
               worker);  // the devices are spread over the domains
    }
  if (settings.workers == 0) settings.workers = core;
  if (settings.workers > core)
    throw error(error_kind::configuration,
                fmt::format("{} workers, and '{}' has {} cores", settings.workers, d.name, core), "runtime.workers");
  if (settings.validate)
    throw error(error_kind::configuration,
                "validation looks at the bytes of blocks, and in a simulated run they have none", "runtime.validate");
  settings.bind = false;
  settings.history = "off";
  settings.plugins = {"host"};
  simulated_machine all{made,
                        {settings,
                         std::make_shared<plugin::registry>(std::move(devices), "imagined", "1"),
                         std::move(tree),
                         {},
                         {},
                         made}};
  return all;
}

}  // namespace tessera::hierarchy
