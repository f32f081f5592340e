#pragma once
// From a loaded hwloc topology to a tree. Internal to this room.
#include <hwloc.h>

#include <map>
#include <span>

#include "core/location/tree.hpp"
#include "hierarchy/discovery/devices.hpp"

namespace tessera::hierarchy {

/// Builds one tree; used once.
class tree_builder {
 public:
  /// `machine_memory`: what the machine has as a whole; 0: not known.
  tree_builder(hwloc_topology_t from, std::span<const found_device> devices, std::uint64_t machine_memory);
  location::tree build() &&;

 private:
  hwloc_topology_t m_from;
  std::span<const found_device> m_devices;
  const found_device* m_host = nullptr;  // the first device of class CPU
  location::tree m_tree;
  std::uint64_t m_machine_memory;
  bool m_several_packages = false;
  std::map<hwloc_obj_t, location::node_id> m_nodes;  // packages and NUMA domains

  void add_domains();
  void add_cores();
  void add_device(const found_device& d);
  bool wanted(hwloc_obj_t domain) const;
  location::node_id package_below(hwloc_obj_t package, location::node_id parent);
  hwloc_obj_t domain_of(hwloc_obj_t core) const;
  location::node_id place_of(const found_device& d) const;
  location::node_id place_of(hwloc_const_cpuset_t cpus) const;
};

/// The PUs of a set, as the system numbers them.
std::vector<std::uint32_t> numbers_of(hwloc_const_bitmap_t set);

}  // namespace tessera::hierarchy
