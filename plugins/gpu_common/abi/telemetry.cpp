// The TELEMETRY table.
#include "plugins/gpu_common/abi/handles.hpp"

namespace tessera::gpu {
namespace {

tsr_status read(tsr_device* device, tsr_counter* counters, std::uint32_t capacity, std::uint32_t* out_count) {
  return gate::on_device(device, [&]() -> tsr_status {
    if (out_count == nullptr || (counters == nullptr && capacity > 0))
      return device->report.fail(TSR_INVALID_ARGUMENT, "read: a NULL argument");
    const auto all = device->plugin->sensors->read(device->facts.pci_address);
    for (std::size_t i = 0; i < all.size() && i < capacity; ++i) counters[i] = all[i];
    *out_count = static_cast<std::uint32_t>(all.size());
    return TSR_OK;
  });
}

}  // namespace

tsr_telemetry_table telemetry_table() { return {sizeof(tsr_telemetry_table), 1, read}; }

}  // namespace tessera::gpu
