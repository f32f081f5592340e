#pragma once
// Host code in a stream's order, by whichever entry a device offers for it: host_task, else host_work.
#include <span>

#include "core/plugin/device.hpp"

namespace tessera::conformance {

using host_function = tsr_status (*)(void* argument, void* const* bases);

/// Memory that host code has mapped.
struct mapped_range {
  tsr_address address;
  std::uint64_t bytes;
};

bool runs_host_code(const plugin::device& on);
/// The reason to skip what is about host code.
inline constexpr const char* no_host_code = "neither host_task nor host_work is offered";

/// On a device that runs host code. `flops` is told to simulated devices.
tsr_status enqueue_host_code(const plugin::device& on, tsr_stream* stream, host_function function, void* argument,
                             std::span<const mapped_range> ranges = {}, double flops = 0);

}  // namespace tessera::conformance
