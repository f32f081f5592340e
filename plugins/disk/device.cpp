// The device table of the disk: its space, its links, its queries, its counters.
#include "plugins/disk/handles.hpp"
#include "plugins/kit/abi/device_calls.hpp"

namespace tessera::disk {

tsr_status check_sides(const tsr_device* device, const tsr_space_ref& source, const tsr_space_ref& destination) {
  for (const auto* side : {&source, &destination}) {
    if (side->device != nullptr && side->device != device)
      return device->report.fail(TSR_INVALID_ARGUMENT, "a side belongs to no device of this plugin");
    if (side->device != nullptr && side->space != 0)
      return device->report.fail(TSR_OUT_OF_RANGE, "space %u of 1", side->space);
  }
  if (source.device == nullptr && destination.device == nullptr)
    return device->report.fail(TSR_UNIMPLEMENTED, "neither side belongs to the disk");
  return TSR_OK;
}

namespace {

/// What the device tells of itself.
struct device_queries : rules {
  static std::size_t space_count(const tsr_device&) { return 1; }
  static tsr_space_desc describe(const tsr_device& of, std::uint32_t) {
    tsr_space_desc desc{};
    desc.kind = TSR_SPACE_STORAGE;
    desc.numa_node = -1;
    desc.bytes = of.allocated.limit();
    desc.granularity = cell_bytes;
    desc.alignment = cell_bytes;
    desc.name = "storage";
    return desc;
  }
  static tsr_status find_link(tsr_device& of, const tsr_space_ref& source, const tsr_space_ref& destination,
                              tsr_link_desc& out) {
    if (const auto status = check_sides(&of, source, destination)) return status;
    const bool inside = source.device == destination.device;  // each byte crosses twice
    out.link_class = inside ? TSR_LINK_SAME : TSR_LINK_STORAGE;
    out.bandwidth = inside ? of.setting.bandwidth / 2 : of.setting.bandwidth;
    out.latency = static_cast<double>(of.setting.latency_ns) * (inside ? 2 : 1);
    return TSR_OK;
  }
  static std::uint64_t free_bytes(const tsr_device& of, std::uint32_t) {
    return of.allocated.limit() - of.allocated.used();
  }
  static std::uint64_t clock_ns(const tsr_device& of) { return kit::ns_since(of.opened_at); }
};

tsr_status read_counters(tsr_device* device, tsr_counter* counters, std::uint32_t capacity, std::uint32_t* out_count) {
  return gate::on_device(device, [&]() -> tsr_status {
    if (out_count == nullptr || (counters == nullptr && capacity > 0))
      return device->report.fail(TSR_INVALID_ARGUMENT, "telemetry: a NULL argument");
    const auto value = [](const std::atomic<std::uint64_t>& of) {
      return static_cast<double>(of.load(std::memory_order_relaxed));
    };
    const auto& count = device->io.count;
    const tsr_counter all[] = {
        {"bytes_read", "bytes", value(count.bytes_read)},
        {"bytes_written", "bytes", value(count.bytes_written)},
        {"cells_checked", "cells", value(count.cells_checked)},
        {"cells_lost", "cells", value(count.cells_lost)},
        {"io_uring", "yes or no", device->threads == nullptr ? 1.0 : 0.0},
        {"direct", "yes or no", device->setting.direct ? 1.0 : 0.0},
    };
    *out_count = static_cast<std::uint32_t>(std::size(all));
    for (std::uint32_t i = 0; i < std::min<std::uint32_t>(capacity, *out_count); ++i) counters[i] = all[i];
    return TSR_OK;
  });
}

}  // namespace

const tsr_device_table& device_table() {
  static const tsr_device_table table = [] {
    tsr_device_table t = kit::make_device_table<device_queries>(mem_alloc, mem_free, stream_create, copy, fill);
    stream_calls::put_into(t);
    registration_calls::put_into(t);
    return t;
  }();
  return table;
}

tsr_telemetry_table telemetry_table() { return {sizeof(tsr_telemetry_table), 1, read_counters}; }

}  // namespace tessera::disk
