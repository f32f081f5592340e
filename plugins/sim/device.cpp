// The device table of a simulated device: its space, its links, its queries.
#include <algorithm>

#include "plugins/kit/abi/device_calls.hpp"
#include "plugins/kit/abi/out_struct.hpp"
#include "plugins/sim/handles.hpp"

namespace tessera::sim {
namespace {

/// Whether the reference names host memory or an open device of this plugin, and its one space.
tsr_status check_side(const tsr_device* device, const tsr_space_ref& side) {
  if (side.device == nullptr) return TSR_OK;
  if (!device->plugin->devices.holds(side.device))
    return device->report.fail(TSR_INVALID_ARGUMENT, "a side is no open device of this plugin");
  if (side.space != 0) return device->report.fail(TSR_OUT_OF_RANGE, "space %u of 1", side.space);
  return TSR_OK;
}

}  // namespace

tsr_status find_route(tsr_device* device, const tsr_space_ref& source, const tsr_space_ref& destination, route& out) {
  if (const auto status = check_side(device, source)) return status;
  if (const auto status = check_side(device, destination)) return status;
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

namespace {

tsr_status spaces(tsr_device* device, std::uint32_t index, tsr_space_desc* out_desc) {
  return gate::on_device(device, [&]() -> tsr_status {
    if (out_desc == nullptr) return device->report.fail(TSR_INVALID_ARGUMENT, "spaces: out_desc is NULL");
    if (index != 0) return device->report.fail(TSR_OUT_OF_RANGE, "spaces: index %u of 1", index);
    const auto& links = device->plugin->links;
    const auto incoming =
        std::count_if(links.begin(), links.end(), [&](const auto& link) { return link->setting.to == device->index; });
    const auto others = static_cast<std::ptrdiff_t>(device->plugin->setting.devices.size()) - 1;
    tsr_space_desc desc{};
    desc.kind = TSR_SPACE_DEVICE;
    if (others > 0 && incoming == others) desc.capabilities |= TSR_SPACE_PEER_COPY;
    desc.numa_node = device->setting.numa_node;
    desc.bytes = device->setting.memory;
    desc.granularity = 256;
    desc.alignment = kit::page_bytes();
    desc.name = device->space_name.c_str();
    kit::fill_out(out_desc, desc);
    return TSR_OK;
  });
}

tsr_status link(tsr_device* device, tsr_space_ref source, tsr_space_ref destination, tsr_link_desc* out_link) {
  return gate::on_device(device, [&]() -> tsr_status {
    if (out_link == nullptr) return device->report.fail(TSR_INVALID_ARGUMENT, "link: out_link is NULL");
    route way;
    if (const auto status = find_route(device, source, destination, way)) return status;
    tsr_link_desc desc{};
    desc.link_class = way.link_class;
    desc.bandwidth = way.bandwidth;
    desc.latency = static_cast<double>(way.latency_ns);
    kit::fill_out(out_link, desc);
    return TSR_OK;
  });
}

/// What query tells.
struct told : rules {
  static std::size_t space_count(const tsr_device&) { return 1; }
  static std::uint64_t free_bytes(const tsr_device& of, std::uint32_t) { return of.setting.memory - of.used.used(); }
  static std::uint64_t clock_ns(const tsr_device& of) {
    const sim_clock& clock = of.plugin->clock;
    return clock.is_virtual() ? of.latest_ns.load(std::memory_order_relaxed) : clock.now() - of.opened_ns;
  }
  static std::uint64_t busy_ns(const tsr_device& of) { return of.busy_ns.load(std::memory_order_relaxed); }
};

}  // namespace

const tsr_device_table& device_table() {
  static const tsr_device_table table = [] {
    tsr_device_table t{};
    t.struct_size = sizeof t;
    t.spaces = spaces;
    t.link = link;
    t.mem_alloc = mem_alloc;
    t.mem_free = mem_free;
    t.stream_create = stream_create;
    t.copy = copy;
    t.fill = fill;
    kit::put_host_work_into<run_host_work>(t);
    kit::device_calls<told>::put_into(t);
    stream_calls::put_into(t);
    registration_calls::put_into(t);
    put_refusals_into(t);
    return t;
  }();
  return table;
}

}  // namespace tessera::sim
