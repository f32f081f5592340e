#pragma once
// What a vendor's management library tells of its devices: power, temperature, clock, load.
#include <tessera/plugin.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugins/gpu_common/libraries/shared_library.hpp"

namespace tessera::gpu {

/// Which one knows a vendor's devices.
enum class sensor_library {
  none,
  nvml,  ///< NVIDIA's, which comes with the driver
  rocm,  ///< AMD's librocm_smi64, which comes with ROCm and with Debian
};

/// One library, loaded and begun. Thread-safe.
class sensors {
 public:
  /// Null where it is not there or does not begin; `out_why` says why, "" where none is asked for.
  static std::unique_ptr<const sensors> find(sensor_library which, const library_search& where, std::string& out_why);

  sensors() = default;
  virtual ~sensors() = default;
  sensors(const sensors&) = delete;
  sensors& operator=(const sensors&) = delete;

  /// What can be read of the device at a PCI address ("0000:c1:00.0") now; empty if the library does not know the
  /// device.
  virtual std::vector<tsr_counter> read(const std::string& pci_address) const = 0;
  virtual std::optional<std::uint64_t> milliwatts(const std::string& pci_address) const = 0;
};

/// The parts of a PCI address as AMD's library packs them: the domain from bit 32 on, the bus from 8, the device from
/// 3, the function. Nothing if it is none.
std::optional<std::uint64_t> packed_pci_address(const std::string& text);

// sensors_nvml.cpp, sensors_rocm.cpp
std::unique_ptr<const sensors> find_nvml(const library_search& where, std::string& out_why);
std::unique_ptr<const sensors> find_rocm_smi(const library_search& where, std::string& out_why);

}  // namespace tessera::gpu
