// The tree that a configuration file describes, on the devices of a running runtime.
#include "core/config/find_file.hpp"
#include "hierarchy/declaration/bind.hpp"
#include "hierarchy/discovery/devices.hpp"
#include "hierarchy/discovery/topology.hpp"
#include "hierarchy/machine/installed_places.hpp"
#include "tessera/machine.hpp"

namespace tessera {

location::tree read_tree(const runtime& on, const std::filesystem::path& file) {
  config::sources from;
  from.files.push_back(config::find_file(file, hierarchy::default_config_directories()));
  const config::document configuration = config::document::load(from);
  const std::vector<hierarchy::found_device> devices = hierarchy::devices_of(on.plugins());
  const location::tree discovered = hierarchy::topology::as_configured(configuration).tree(devices);
  std::vector<std::string> notes;
  const config::declarations declared = hierarchy::declarations_of(configuration, notes);
  return declared.empty() ? discovered : hierarchy::declared_tree(declared, discovered, devices, notes);
}

}  // namespace tessera
