#pragma once
// What discovery wants to know about devices, apart from the registry, so that tests can invent them.
#include <tessera/plugin.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/plugin/registry.hpp"

namespace tessera::hierarchy {

/// One memory space of a device.
struct found_space {
  std::uint32_t index = 0;
  tsr_space_kind kind = TSR_SPACE_DEVICE;
  std::int32_t numa_node = -1;
  std::uint64_t bytes = 0;  ///< 0: unknown
};

/// One device, as reported by its plugin.
struct found_device {
  std::uint32_t index = 0;  ///< in the registry
  std::string name;         ///< unique: "sim0"
  std::string plugin;       ///< "sim"
  std::string description;  ///< the vendor's name of it
  tsr_device_class device_class = TSR_DEVICE_GPU;
  std::int32_t numa_node = -1;
  std::string pci_address;
  std::string folder;                ///< of storage: the directory that its plugin was given; "": none
  std::optional<double> capability;  ///< compute capability, 9.0 of "sm_90"; nothing: not known
  std::vector<found_space> spaces;
  std::uint32_t compute_units = 0, copy_engines = 0;
  double peak_f32 = 0, peak_f64 = 0;
  double bandwidth = 0;   ///< bytes per second from host memory into the first own space; 0: unknown
  double latency_ns = 0;  ///< of that link; 0: unknown

  /// The space that stands for the device in the tree: the first of its own memory (kind DEVICE, else MANAGED, else
  /// STORAGE, else the first); null when it has none.
  const found_space* own_space() const noexcept;
};

/// An absolute path without links, dots and a slash at the end, as far as it exists; so two names of a directory are
/// equal. "" stays.
std::string normalised_folder(const std::string& path);

/// The compute capability that the words for a compiler's target name: 9.0 of "driver 12040; sm_90". Nothing: they name
/// none.
std::optional<double> capability_in(std::string_view target);

/// The devices of a registry, in its order.
std::vector<found_device> devices_of(const plugin::registry& plugins);

}  // namespace tessera::hierarchy
