// The device table of the host: spaces, links, queries.
#include "plugins/host/handles.hpp"
#include "plugins/kit/abi/device_calls.hpp"
#include "plugins/kit/abi/out_struct.hpp"

namespace tessera::host {
namespace {

tsr_status spaces(tsr_device* device, std::uint32_t index, tsr_space_desc* out_desc) {
  return gate::on_device(device, [&]() -> tsr_status {
    if (out_desc == nullptr) return device->report.fail(TSR_INVALID_ARGUMENT, "spaces: out_desc is NULL");
    if (index >= device->domains.size())
      return device->report.fail(TSR_OUT_OF_RANGE, "spaces: index %u of %zu", index, device->domains.size());
    tsr_space_desc desc{};
    desc.kind = TSR_SPACE_HOST;
    desc.capabilities = TSR_SPACE_ADDRESSABLE | TSR_SPACE_HOST_VISIBLE;
    desc.numa_node = device->domains[index].node;
    desc.bytes = device->domains[index].bytes;
    desc.granularity = kit::page_bytes();
    desc.alignment = kit::page_bytes();
    desc.name = device->space_names[index].c_str();
    kit::fill_out(out_desc, desc);
    return TSR_OK;
  });
}

/// Host memory to host memory, also to plain pointers. Bandwidth is the option's; another domain costs twice.
tsr_status link(tsr_device* device, tsr_space_ref source, tsr_space_ref destination, tsr_link_desc* out_link) {
  return gate::on_device(device, [&]() -> tsr_status {
    if (out_link == nullptr) return device->report.fail(TSR_INVALID_ARGUMENT, "link: out_link is NULL");
    for (const auto* side : {&source, &destination}) {
      if (side->device != nullptr && side->device != device)
        return device->report.fail(TSR_INVALID_ARGUMENT, "link: a side belongs to a device of another plugin");
      if (side->device != nullptr && side->space >= device->domains.size())
        return device->report.fail(TSR_OUT_OF_RANGE, "link: space %u of %zu", side->space, device->domains.size());
    }
    const bool far = source.device != nullptr && destination.device != nullptr && source.space != destination.space;
    tsr_link_desc desc{};
    desc.link_class = far ? TSR_LINK_BUS : TSR_LINK_SAME;
    desc.bandwidth = far ? device->bandwidth / 2 : device->bandwidth;
    desc.latency = far ? 300 : 100;
    kit::fill_out(out_link, desc);
    return TSR_OK;
  });
}

/// What query tells.
struct told : rules {
  static std::size_t space_count(const tsr_device& of) { return of.domains.size(); }
  /// What this device may still give out; pages that others use are the operating system's business.
  static std::uint64_t free_bytes(const tsr_device& of, std::uint32_t space) {
    const kit::numa_domain& domain = of.domains[space];
    return domain.bytes != 0 ? domain.bytes - of.allocated[space].used() : kit::free_bytes_of(domain.node);
  }
  static std::uint64_t clock_ns(const tsr_device& of) { return kit::ns_since(of.opened_at); }
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
    t.mem_base = mem_base;
    t.fill = fill;
    kit::put_host_work_into<run_host_work>(t);
    kit::device_calls<told>::put_into(t);
    stream_calls::put_into(t);
    registration_calls::put_into(t);
    put_modules_into(t);
    return t;
  }();
  return table;
}

}  // namespace tessera::host
