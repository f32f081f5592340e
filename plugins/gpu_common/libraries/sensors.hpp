#pragma once
// What a vendor's management library tells of its devices: power, temperature, clock, load.
#include <tessera/plugin.h>

#include <optional>
#include <string>
#include <vector>

#include "plugins/gpu_common/libraries/shared_library.hpp"

namespace tessera::gpu {

/// NVML, where the driver brings it. Thread-safe.
class nvidia_sensors {
 public:
  explicit nvidia_sensors(const library_search& where);

  /// The library is there and works.
  explicit operator bool() const noexcept { return m_ready; }

  /// What can be read of the device at a PCI address now; empty if NVML does not know the device.
  std::vector<tsr_counter> read(const std::string& pci_address) const;
  std::optional<std::uint64_t> milliwatts(const std::string& pci_address) const;

 private:
  void* device_at(const std::string& pci_address) const;

  shared_library m_library;
  bool m_ready = false;
};

}  // namespace tessera::gpu
