// The device table of the host: spaces, links, queries.
#include "plugins/host/handles.hpp"
#include "plugins/kit/abi/device_calls.hpp"

namespace tessera::host {
namespace {

/// What the device tells of itself.
struct device_queries : rules {
  static std::size_t space_count(const tsr_device& of) { return of.domains.size(); }
  static tsr_space_desc describe(const tsr_device& of, std::uint32_t space) {
    tsr_space_desc desc{};
    desc.kind = TSR_SPACE_HOST;
    desc.capabilities = TSR_SPACE_ADDRESSABLE | TSR_SPACE_HOST_VISIBLE;
    desc.numa_node = of.domains[space].node;
    desc.bytes = of.domains[space].bytes;
    desc.granularity = kit::page_bytes();
    desc.alignment = kit::page_bytes();
    desc.name = of.space_names[space].c_str();
    return desc;
  }
  /// Host memory to host memory, also to plain pointers. Bandwidth is the option's; another domain costs twice.
  static tsr_status find_link(tsr_device& of, const tsr_space_ref& source, const tsr_space_ref& destination,
                              tsr_link_desc& out) {
    for (const auto* side : {&source, &destination}) {
      if (side->device != nullptr && side->device != &of)
        return of.report.fail(TSR_INVALID_ARGUMENT, "link: a side belongs to a device of another plugin");
      if (side->device != nullptr && side->space >= of.domains.size())
        return of.report.fail(TSR_OUT_OF_RANGE, "link: space %u of %zu", side->space, of.domains.size());
    }
    const bool far = source.device != nullptr && destination.device != nullptr && source.space != destination.space;
    out.link_class = far ? TSR_LINK_BUS : TSR_LINK_SAME;
    out.bandwidth = far ? of.bandwidth / 2 : of.bandwidth;
    out.latency = far ? 300 : 100;
    return TSR_OK;
  }
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
    tsr_device_table t = kit::make_device_table<device_queries>(mem_alloc, mem_free, stream_create, copy, fill);
    t.mem_base = mem_base;
    kit::put_host_work_into<run_host_work>(t);
    stream_calls::put_into(t);
    registration_calls::put_into(t);
    put_modules_into(t);
    return t;
  }();
  return table;
}

}  // namespace tessera::host
