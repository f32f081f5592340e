// The device table of a GPU: its spaces, its links, its queries; and what an error of the vendor's runtime becomes.
#include <algorithm>
#include <optional>

#include "plugins/gpu_common/abi/handles.hpp"
#include "plugins/kit/abi/device_calls.hpp"

namespace tessera::gpu {

tsr_status alive(const tsr_device* device) {
  if (!device->loss.is_lost()) return TSR_OK;
  return device->report.fail(TSR_DEVICE_LOST, "device '%s' is lost: %s", device->facts.name, device->loss.reason());
}

tsr_status tell(tsr_device* device, error_t error, const char* call) {
  const auto kind = kind_of(error);
  if (kind == error_kind::none) return TSR_OK;
  if (kind == error_kind::sticky) {
    device->loss.begin(device, error);
    device->loss.wait();
    return alive(device);
  }
  clear_error();
  const tsr_status status = kind == error_kind::out_of_memory   ? TSR_RESOURCE_EXHAUSTED
                            : kind == error_kind::no_device     ? TSR_UNAVAILABLE
                            : kind == error_kind::bad_argument  ? TSR_INVALID_ARGUMENT
                            : kind == error_kind::already_there ? TSR_ALREADY_EXISTS
                            : kind == error_kind::gone          ? TSR_NOT_FOUND
                            : kind == error_kind::denied        ? TSR_PERMISSION_DENIED
                            : kind == error_kind::unsupported   ? TSR_UNIMPLEMENTED
                                                                : TSR_UNKNOWN;
  return device->report.fail(status, "%s: %s (%s, error %d)", call, text_of(error), runtime_name,
                             static_cast<int>(error));
}

bool reaches(int ordinal, int peer) {
  int can = 0;
  return kind_of(can_access_peer(&can, ordinal, peer)) == error_kind::none && can != 0;
}

namespace {

/// What the device tells of itself.
struct device_queries : rules {
  static std::size_t space_count(const tsr_device&) { return gpu::space_count; }
  static tsr_space_desc describe(const tsr_device& of, std::uint32_t space) {
    const bool own = space == device_space;
    tsr_space_desc desc{};
    const bool managed = own && of.plugin->setting.managed;
    desc.kind = managed ? TSR_SPACE_MANAGED : own ? TSR_SPACE_DEVICE : TSR_SPACE_PINNED;
    if (device_memory_is_addressable) desc.capabilities |= TSR_SPACE_ADDRESSABLE;
    if (!own || managed) desc.capabilities |= TSR_SPACE_HOST_VISIBLE;
    const auto& all = of.plugin->ordinals;
    const bool all_peers = own && all.size() > 1 && std::all_of(all.begin(), all.end(), [&](int peer) {
                             return peer == of.ordinal || reaches(peer, of.ordinal);
                           });
    if (all_peers) desc.capabilities |= TSR_SPACE_PEER_COPY;
    desc.numa_node = -1;
    desc.bytes = of.used[space].limit();
    desc.granularity = 256;
    desc.alignment = 256;  // what vendors promise
    desc.name = own ? "memory" : "pinned";
    return desc;
  }
  static tsr_status find_link(tsr_device& of, const tsr_space_ref& source, const tsr_space_ref& destination,
                              tsr_link_desc& out) {
    return gpu::find_link(&of, source, destination, out);
  }
  static std::uint64_t free_bytes(const tsr_device& of, std::uint32_t space) {
    return of.used[space].limit() - of.used[space].used();
  }
  static std::optional<std::uint64_t> milliwatts(const tsr_device& of) {
    const auto& sensors = of.plugin->sensors;
    return sensors != nullptr ? sensors->milliwatts(of.facts.pci_address) : std::nullopt;
  }
  static std::uint64_t clock_ns(const tsr_device& of) { return kit::ns_since(of.opened_at); }
};

}  // namespace

tsr_status find_link(tsr_device* device, const tsr_space_ref& source, const tsr_space_ref& destination,
                     tsr_link_desc& out) {
  for (const auto* side : {&source, &destination})
    if (const auto status = kit::device_calls<device_queries>::check_side(*device, *side)) return status;
  if (source.device != device && destination.device != device)
    return device->report.fail(TSR_UNIMPLEMENTED, "neither side belongs to device '%s'", device->facts.name);
  const auto& setting = device->plugin->setting;
  const auto on_device = [](const tsr_space_ref& side) { return side.device != nullptr && side.space == device_space; };
  if (!on_device(source) || !on_device(destination)) {
    out.link_class = TSR_LINK_BUS;
    out.bandwidth = on_device(destination) ? device->bus.in : device->bus.out;
    out.latency = static_cast<double>(setting.bus_latency_ns);
  } else if (source.device == destination.device) {
    out.link_class = TSR_LINK_SAME;
    out.bandwidth =
        device->facts.memory_bandwidth > 0 ? device->facts.memory_bandwidth / 2 : 100e9;  // read and written
    out.latency = 2000;
  } else if (reaches(source.device->ordinal, destination.device->ordinal)) {
    out.link_class = TSR_LINK_PEER;
    out.bandwidth = setting.peer_bandwidth;
    out.latency = static_cast<double>(setting.bus_latency_ns);
  } else {
    return device->report.fail(TSR_UNIMPLEMENTED, "device '%s' does not reach device '%s'", source.device->facts.name,
                               destination.device->facts.name);
  }
  return TSR_OK;
}

const tsr_device_table& device_table() {
  static const tsr_device_table table = [] {
    tsr_device_table t = kit::make_device_table<device_queries>(mem_alloc, mem_free, stream_create, copy, fill);
    if (device_memory_is_addressable) t.mem_base = mem_base;
    if (has_pinned_memory) t.host_register = host_register;
    if (has_pinned_memory) t.host_unregister = host_unregister;
#if defined(TESSERA_GPU_EMULATED)
    kit::put_host_work_into<run_host_work>(t);
#endif
    put_streams_into(t);
    put_modules_into(t);
    return t;
  }();
  return table;
}

}  // namespace tessera::gpu
