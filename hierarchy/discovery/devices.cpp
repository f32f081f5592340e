#include "hierarchy/discovery/devices.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace tessera::hierarchy {
namespace {

bool is_of_a_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The directory that the plugin of a storage device was given, under the name that all such plugins have for it.
std::string folder_of(const plugin::registry& plugins, const std::string& plugin) {
  const auto opened = std::ranges::find(plugins.plugins(), plugin, &plugin::registry::opened_plugin::name);
  return opened != plugins.plugins().end() ? normalised_folder(opened->text_of("path")) : std::string();
}

/// What a GPU's run-time compiler makes code for; the device itself is described without it.
std::optional<double> capability_of(const plugin::device& device) {
  const tsr_jit_table* const jit = device.jit();
  if (jit == nullptr || jit->identity == nullptr) return std::nullopt;
  const char* const target = jit->identity(device.handle());
  return target != nullptr ? capability_in(target) : std::nullopt;
}

}  // namespace

std::string normalised_folder(const std::string& path) {
  if (path.empty()) return {};
  std::error_code failed;
  std::filesystem::path whole = std::filesystem::weakly_canonical(std::filesystem::absolute(path, failed), failed);
  if (failed) whole = std::filesystem::path(path).lexically_normal();
  return (whole.has_filename() || whole == whole.root_path() ? whole : whole.parent_path()).string();
}

std::optional<double> capability_in(std::string_view target) {
  constexpr std::string_view mark = "sm_";
  for (auto at = target.find(mark); at != target.npos; at = target.find(mark, at + 1)) {
    if (at != 0 && is_of_a_word(target[at - 1])) continue;
    const std::string_view rest = target.substr(at + mark.size());
    unsigned digits = 0;
    const auto [end, status] = std::from_chars(rest.data(), rest.data() + rest.size(), digits);
    // The last digit is the minor number, whatever follows: sm_90, sm_90a, sm_120.
    if (status == std::errc{} && digits >= 10) return digits / 10.0;
  }
  return std::nullopt;
}

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
    if (d.device_class == TSR_DEVICE_STORAGE) d.folder = folder_of(plugins, d.plugin);
    if (d.device_class == TSR_DEVICE_GPU) d.capability = capability_of(*device);
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
