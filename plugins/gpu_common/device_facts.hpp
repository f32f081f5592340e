#pragma once
// What a vendor's runtime says about one device, in our words.
#include <cstddef>
#include <cstdint>

namespace tessera::gpu {

struct device_facts {
  char name[64] = {};
  char pci_address[24] = {};  ///< "0000:3b:00.0", or ""
  std::uint8_t uuid[16] = {};
  std::size_t bytes = 0;       ///< of its memory, all of it
  std::size_t free_bytes = 0;  ///< now
  int compute_units = 0;
  int copy_engines = 0;
  double clock_hz = 0;            ///< 0: unknown
  double memory_bandwidth = 0;    ///< bytes per second; 0: unknown
  int lanes_f32 = 0;              ///< fused multiply-adds per clock and unit
  int lanes_f64 = 0;
};

/// What an error of the vendor's runtime means for us.
enum class error_kind : std::uint8_t {
  none,
  not_ready,
  out_of_memory,
  no_device,        ///< no driver, none that is new enough, or nothing behind it
  bad_argument,
  already_there,    ///< host memory registered twice
  sticky,           ///< the device's context is broken for good
  other
};

}  // namespace tessera::gpu
