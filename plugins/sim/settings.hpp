#pragma once
// What the user says about the simulated machine.
#include <tessera/plugin.h>

#include <cstdint>
#include <string>
#include <vector>

#include "plugins/fault/rules.hpp"
#include "plugins/kit/abi/option_reader.hpp"
#include "plugins/kit/abi/report.hpp"

namespace tessera::sim {

/// One simulated device; rates per second, times in nanoseconds.
struct device_settings {
  std::string name;
  std::uint64_t memory = 1ull << 30;
  double bandwidth_in = 12.0 * (1u << 30), bandwidth_out = 12.0 * (1u << 30);  ///< host to device, device to host
  double memory_bandwidth = 100.0 * (1u << 30);                                ///< within the device
  std::uint64_t latency_ns = 5000;                                             ///< of one copy from or to the host
  std::uint64_t launch_latency_ns = 0;                                         ///< of one kernel, or one graph of them
  double flops = 0;                                                            ///< 0: as fast as the host computes
  double kernel_speed = 1;            ///< of compiled kernels, whose operations nobody counts: relative to the host's
  std::uint32_t compute_streams = 2;  ///< computations that run side by side
  std::uint32_t copy_engines = 2;     ///< 1: copies in and out share one engine
  int numa_node = -1;
  std::uint64_t max_allocation = 0, max_copy = 0;  ///< limits that it states; 0: none
  std::uint32_t max_streams = 0;                   ///< likewise
};

/// A direct way from one device to another. One direction only.
struct link_settings {
  std::uint32_t from = 0, to = 0;
  double bandwidth = 40.0 * (1u << 30);
  std::uint64_t latency_ns = 3000;
};

struct settings {
  bool virtual_clock = false;
  bool poison = true;
  bool shared = false;                              ///< other processes can map devices' memory
  std::string compiler;                             ///< of kernels; "": the first that is found
  std::uint64_t compile_limit_ns = 60'000'000'000;  ///< of one compilation
  int blas_threads = 0;                             ///< 0: leave OpenBLAS alone if anybody has set it, else 1
  std::vector<device_settings> devices;
  std::vector<link_settings> links;
  fault::settings faults;
};

/// The options that the plugin publishes.
const tsr_option* option_schema(std::uint32_t& count);

/// Reads and checks the values given to open. Fails: INVALID_ARGUMENT (a name used twice or longer than 63 bytes, a
/// link from or to a device that does not exist, from a device to itself, or given twice; no memory).
tsr_status read_settings(const kit::reporter& report, const kit::option_reader& option, settings& out);

}  // namespace tessera::sim
