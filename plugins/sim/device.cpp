// The device table of a simulated device: its space, its links, its queries.
#include <algorithm>

#include "plugins/kit/abi/device_calls.hpp"
#include "plugins/sim/handles.hpp"

namespace tessera::sim {
namespace {

/// What the device tells of itself.
struct device_queries : rules {
  static std::size_t space_count(const tsr_device&) { return 1; }
  static tsr_space_desc describe(const tsr_device& of, std::uint32_t) {
    const auto& links = of.plugin->links;
    const auto incoming =
        std::count_if(links.begin(), links.end(), [&](const auto& link) { return link->setting.to == of.index; });
    const auto others = static_cast<std::ptrdiff_t>(of.plugin->setting.devices.size()) - 1;
    tsr_space_desc desc{};
    desc.kind = TSR_SPACE_DEVICE;
    if (others > 0 && incoming == others) desc.capabilities |= TSR_SPACE_PEER_COPY;
    desc.numa_node = of.setting.numa_node;
    desc.bytes = of.setting.memory;
    desc.granularity = 256;
    desc.alignment = kit::page_bytes();
    desc.name = of.space_name.c_str();
    return desc;
  }
  static tsr_status find_link(tsr_device& of, const tsr_space_ref& source, const tsr_space_ref& destination,
                              tsr_link_desc& out) {
    route way;
    if (const auto status = find_route(&of, source, destination, way)) return status;
    out.link_class = way.link_class;
    out.bandwidth = way.bandwidth;
    out.latency = static_cast<double>(way.latency_ns);
    return TSR_OK;
  }
  static std::uint64_t free_bytes(const tsr_device& of, std::uint32_t) { return of.setting.memory - of.used.used(); }
  static std::uint64_t clock_ns(const tsr_device& of) {
    const sim_clock& clock = of.plugin->clock;
    return clock.is_virtual() ? of.latest_ns.load(std::memory_order_relaxed) : clock.now() - of.opened_ns;
  }
  static std::uint64_t busy_ns(const tsr_device& of) { return of.busy_ns.load(std::memory_order_relaxed); }
};

}  // namespace

tsr_status find_route(tsr_device* device, const tsr_space_ref& source, const tsr_space_ref& destination, route& out) {
  for (const auto* side : {&source, &destination})
    if (const auto status = kit::device_calls<device_queries>::check_side(*device, *side)) return status;
  const auto& setting = device->setting;
  if (source.device != device && destination.device != device)
    return device->report.fail(TSR_UNIMPLEMENTED, "neither side belongs to device '%s'", setting.name.c_str());
  if (source.device == destination.device) {
    out = {&device->within, TSR_LINK_SAME, setting.memory_bandwidth, 0};
  } else if (source.device == nullptr) {
    out = {&device->into, TSR_LINK_BUS, setting.bandwidth_in, setting.latency_ns};
  } else if (destination.device == nullptr) {
    out = {&device->to_host(), TSR_LINK_BUS, setting.bandwidth_out, setting.latency_ns};
  } else {
    for (const auto& link : device->plugin->links) {
      if (link->setting.from != source.device->index || link->setting.to != destination.device->index) continue;
      out = {&link->line, TSR_LINK_PEER, link->setting.bandwidth, link->setting.latency_ns};
      return TSR_OK;
    }
    return device->report.fail(TSR_UNIMPLEMENTED, "no link from device '%s' to '%s'",
                               source.device->setting.name.c_str(), destination.device->setting.name.c_str());
  }
  return TSR_OK;
}

const tsr_device_table& device_table() {
  static const tsr_device_table table = [] {
    tsr_device_table t = kit::make_device_table<device_queries>(mem_alloc, mem_free, stream_create, copy, fill);
    kit::put_host_work_into<run_host_work>(t);
    stream_calls::put_into(t);
    registration_calls::put_into(t);
    put_refusals_into(t);
    put_modules_into(t);
    return t;
  }();
  return table;
}

}  // namespace tessera::sim
