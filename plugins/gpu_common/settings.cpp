#include "plugins/gpu_common/settings.hpp"

namespace tessera::gpu {

std::vector<tsr_option> option_schema(const char* devices, const char* memory_limit) {
  return {
      {sizeof(tsr_option), TSR_OPTION_INT, "devices", devices, 0, 64, nullptr,
       "How many devices to use at most, the first ones; 0: all."},
      {sizeof(tsr_option), TSR_OPTION_BYTES, "memory_limit", memory_limit, 1, 1e18, nullptr,
       "How much of each device's memory to use; without it what is free when the device is opened."},
      {sizeof(tsr_option), TSR_OPTION_BYTES, "pinned_limit", "8 GiB", 1, 1e18, nullptr,
       "How much pinned host memory each device may give out through its second space."},
      {sizeof(tsr_option), TSR_OPTION_RATE, "bus_bandwidth", "20 GiB/s", 1, 1e15, nullptr,
       "What one copy between host and device is assumed to reach, for planning."},
      {sizeof(tsr_option), TSR_OPTION_RATE, "peer_bandwidth", "100 GiB/s", 1, 1e15, nullptr,
       "What one copy between two devices that reach each other is assumed to reach, for planning."},
      {sizeof(tsr_option), TSR_OPTION_DURATION, "bus_latency", "8 us", 0, 1e9, nullptr,
       "What one small copy between host and device is assumed to take, for planning."},
  };
}

settings read_settings(const common::option_reader& option, const settings& fallback) {
  const auto amount = [&](const char* name, std::uint64_t otherwise) {
    return static_cast<std::uint64_t>(option.integer(name, static_cast<std::int64_t>(otherwise)));
  };
  settings read = fallback;
  read.devices = static_cast<int>(option.integer("devices", fallback.devices));
  read.memory_limit = amount("memory_limit", fallback.memory_limit);
  read.pinned_limit = amount("pinned_limit", fallback.pinned_limit);
  read.bus_bandwidth = option.number("bus_bandwidth", fallback.bus_bandwidth);
  read.peer_bandwidth = option.number("peer_bandwidth", fallback.peer_bandwidth);
  read.bus_latency_ns = amount("bus_latency", fallback.bus_latency_ns);
  return read;
}

}  // namespace tessera::gpu
