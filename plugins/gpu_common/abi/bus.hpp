#pragma once
// How fast a device's bus is.
#include <cstdint>

namespace tessera::gpu {

/// Bytes per second of a copy to the device and back from it.
struct bus_rates {
  double in = 0, out = 0;
};

/// Measures with pinned memory of its own, in a few milliseconds, on the current device. A rate of 0: something was
/// refused.
bus_rates measure_bus();

}  // namespace tessera::gpu
