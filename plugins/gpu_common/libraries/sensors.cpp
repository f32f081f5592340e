#include "plugins/gpu_common/libraries/sensors.hpp"

#include <cstdio>

namespace tessera::gpu {

std::unique_ptr<const sensors> sensors::find(sensor_library which, const library_search& where, std::string& out_why) {
  out_why.clear();
  switch (which) {
    case sensor_library::nvml:
      return find_nvml(where, out_why);
    case sensor_library::rocm:
      return find_rocm_smi(where, out_why);
    case sensor_library::none:
      break;
  }
  return nullptr;
}

std::optional<std::uint64_t> packed_pci_address(const std::string& text) {
  unsigned domain = 0, bus = 0, device = 0, function = 0;
  int end = 0;
  if (std::sscanf(text.c_str(), "%x:%x:%x.%x%n", &domain, &bus, &device, &function, &end) != 4 ||
      static_cast<std::size_t>(end) != text.size() || bus > 0xff || device > 0x1f || function > 7)
    return std::nullopt;
  return std::uint64_t{domain} << 32 | bus << 8 | device << 3 | function;
}

}  // namespace tessera::gpu
