#include "hierarchy/discovery/devices.hpp"

#include <cstring>

namespace tessera::hierarchy {

const found_space* found_device::own_space() const noexcept {
  for (const tsr_space_kind wanted : {TSR_SPACE_DEVICE, TSR_SPACE_MANAGED, TSR_SPACE_STORAGE})
    for (const found_space& s : spaces)
      if (s.kind == wanted) return &s;
  return spaces.empty() ? nullptr : &spaces.front();
}

std::vector<found_device> devices_of(const plugin::registry& plugins) {
  std::vector<found_device> found;
  for (const auto& device : plugins.devices()) {
    const tsr_device_desc& described = device->description();
    found_device d;
    d.index = device->index();
    d.name = device->name();
    d.plugin = device->plugin_name();
    // Fixed-size fields of the ABI: a plugin may fill them to the last byte.
    d.description.assign(described.name, strnlen(described.name, sizeof described.name));
    d.pci_address.assign(described.pci_address, strnlen(described.pci_address, sizeof described.pci_address));
    d.device_class = described.device_class;
    d.numa_node = described.numa_node;
    d.compute_units = described.compute_units;
    d.copy_engines = described.copy_engines;
    d.peak_f32 = described.peak_f32;
    d.peak_f64 = described.peak_f64;
    for (std::uint32_t i = 0; i < device->spaces().size(); ++i) {
      const tsr_space_desc& space = device->spaces()[i].description;
      d.spaces.push_back({i, space.kind, space.numa_node, space.bytes});
    }
    if (const found_space* own = d.own_space(); own && d.device_class != TSR_DEVICE_CPU && device->table().link) {
      tsr_link_desc link{};
      link.struct_size = sizeof link;
      const tsr_space_ref host{nullptr, 0}, here{device->handle(), own->index};
      if (plugin::contained("link", [&] { return device->table().link(device->handle(), host, here, &link); }) ==
          TSR_OK) {
        d.bandwidth = link.bandwidth;
        d.latency_ns = link.latency;
      } else {
        plugin::take_error_details();  // no direct copies from host memory: a fact, not a failure
      }
    }
    found.push_back(std::move(d));
  }
  return found;
}

}  // namespace tessera::hierarchy
