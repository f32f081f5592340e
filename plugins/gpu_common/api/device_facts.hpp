#pragma once
// What a vendor's runtime says about one device, in our words.
#include <tessera/plugin.h>

#include <cstddef>
#include <cstdint>

namespace tessera::gpu {

struct device_facts {
  tsr_device_class device_class = TSR_DEVICE_GPU;
  bool has_fp64 = true;
  char name[64] = {};
  char pci_address[24] = {};   ///< "0000:3b:00.0", or ""
  char architecture[64] = {};  ///< for a compiler: "sm_90", "gfx90a:sramecc+:xnack-"; "": it need not know
  std::uint8_t uuid[16] = {};
  std::size_t bytes = 0;       ///< of its memory, all of it; 0: unknown
  std::size_t free_bytes = 0;  ///< now; 0: free_memory tells, once the device is used
  int compute_units = 0;
  int copy_engines = 0;
  double clock_hz = 0;          ///< 0: unknown
  double memory_bandwidth = 0;  ///< bytes per second; 0: unknown
  int lanes_f32 = 0;            ///< fused multiply-adds per clock and unit
  int lanes_f64 = 0;
};

/// What an error of the vendor's runtime means for us.
enum class error_kind : std::uint8_t {
  none,
  not_ready,
  out_of_memory,
  no_device,  ///< no driver, none that is new enough, or nothing behind it
  bad_argument,
  already_there,        ///< host memory registered twice
  gone,                 ///< memory of another process that cannot be mapped any more
  denied,               ///< by the operating system
  unsupported,          ///< not on this device, or not this kind of memory
  not_while_capturing,  ///< refused as long as some thread records work
  spoilt_capture,       ///< work was asked for that cannot be recorded
  sticky,               ///< the device's context is broken for good
  other
};

}  // namespace tessera::gpu
