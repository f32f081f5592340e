// The device table of the host: spaces, links, queries.
#include "plugins/common/out_struct.hpp"
#include "plugins/host/handles.hpp"

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
    desc.granularity = common::page_bytes();
    desc.alignment = common::page_bytes();
    desc.name = device->space_names[index].c_str();
    common::fill_out(out_desc, desc);
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
    common::fill_out(out_link, desc);
    return TSR_OK;
  });
}

tsr_status query(tsr_device* device, tsr_query_key key, std::uint32_t index, std::uint64_t* out_value) {
  return gate::on_device(device, [&]() -> tsr_status {
    if (out_value == nullptr) return device->report.fail(TSR_INVALID_ARGUMENT, "query: out_value is NULL");
    switch (key) {
      case TSR_QUERY_FREE_BYTES: {
        if (index >= device->domains.size())
          return device->report.fail(TSR_OUT_OF_RANGE, "query: space %u of %zu", index, device->domains.size());
        // What this device may still give out; pages that others use are the operating system's business.
        const auto total = device->domains[index].bytes;
        const auto used = device->allocated[index].used();
        *out_value = total != 0 ? total - used : common::free_bytes_of(device->domains[index].node);
        return TSR_OK;
      }
      case TSR_QUERY_CLOCK_NS:
        *out_value = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                                    std::chrono::steady_clock::now() - device->opened_at)
                                                    .count());
        return TSR_OK;
      case TSR_QUERY_LIVE_ALLOCATIONS:
        *out_value = device->live_allocations.load(std::memory_order_relaxed);
        return TSR_OK;
      default:
        return device->report.fail(TSR_UNIMPLEMENTED, "query: key %u is not offered", key);
    }
  });
}

tsr_status health(tsr_device* device) {
  return gate::on_device(device, [] { return TSR_OK; });
}

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
    t.query = query;
    t.health = health;
    t.mem_base = mem_base;
    t.fill = fill;
    t.host_task = host_task;
    stream_calls::put_into(t);
    registration_calls::put_into(t);
    return t;
  }();
  return table;
}

}  // namespace tessera::host
