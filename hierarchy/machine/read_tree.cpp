// The tree that a configuration file describes, on the devices of a running runtime.
#include "hierarchy/declaration/bind.hpp"
#include "hierarchy/discovery/devices.hpp"
#include "hierarchy/discovery/topology.hpp"
#include "tessera/machine.hpp"

namespace tessera {

location::tree read_tree(const runtime& on, const std::filesystem::path& file) {
  config::sources from;
  from.files.push_back(file);
  const config::document configuration = config::document::load(from);
  const std::vector<hierarchy::found_device> devices = hierarchy::devices_of(on.plugins());
  const location::tree discovered = hierarchy::topology::as_configured(configuration).tree(devices);
  std::vector<std::string> notes;
  const config::declarations declared = hierarchy::declarations_of(configuration, notes);
  return declared.empty() ? discovered : hierarchy::declared_tree(declared, discovered, devices, notes);
}

}  // namespace tessera
