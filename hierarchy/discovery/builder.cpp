#include "hierarchy/discovery/builder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/units.hpp"

namespace tessera::hierarchy {
namespace {

using location::kind;
using location::node_id;

location::properties machine_properties(hwloc_topology_t from) {
  const hwloc_obj_t root = hwloc_get_root_obj(from);
  location::properties is;
  is.kind = kind::machine;
  is.name = "machine";
  is.type = "Machine";
  is.memory_bytes = root->total_memory;
  return is;
}

/// "L2 1 MiB, L1d 32 KiB": the caches that contain exactly these CPUs or, with `shared`, at least them.
std::string caches_of(hwloc_obj_t first_pu, hwloc_const_cpuset_t cpus) {
  std::string text;
  for (hwloc_obj_t o = first_pu; o != nullptr; o = o->parent) {
    if (!hwloc_obj_type_is_cache(o->type) || o->attr->cache.type == HWLOC_OBJ_CACHE_INSTRUCTION) continue;
    if (!hwloc_bitmap_isequal(o->cpuset, cpus)) continue;
    const char* letter = o->attr->cache.type == HWLOC_OBJ_CACHE_DATA ? "d" : "";
    text = fmt::format("L{}{} {}{}{}", o->attr->cache.depth, letter,
                       format_bytes(static_cast<double>(o->attr->cache.size)), text.empty() ? "" : ", ", text);
  }
  return text;
}

/// Caches shared by several cores inside a domain, the largest: "L3 32 MiB".
std::string shared_cache(hwloc_topology_t from, hwloc_const_cpuset_t cpus) {
  const int pu = hwloc_bitmap_first(cpus);
  if (pu < 0) return {};
  hwloc_obj_t largest = nullptr;
  for (hwloc_obj_t o = hwloc_get_pu_obj_by_os_index(from, static_cast<unsigned>(pu)); o != nullptr; o = o->parent)
    if (hwloc_obj_type_is_cache(o->type) && hwloc_bitmap_isincluded(o->cpuset, cpus)) largest = o;
  if (largest == nullptr || hwloc_get_nbobjs_inside_cpuset_by_type(from, largest->cpuset, HWLOC_OBJ_CORE) < 2)
    return {};
  const int count = hwloc_get_nbobjs_inside_cpuset_by_depth(from, cpus, largest->depth);
  return fmt::format("{}L{} {}", count > 1 ? fmt::format("{} x ", count) : "", largest->attr->cache.depth,
                     format_bytes(static_cast<double>(largest->attr->cache.size)));
}

std::string joined(std::string head, const std::string& tail) {
  return tail.empty() ? head : std::move(head) + ", " + tail;
}

}  // namespace

std::vector<std::uint32_t> numbers_of(hwloc_const_bitmap_t set) {
  std::vector<std::uint32_t> numbers;
  if (hwloc_bitmap_weight(set) < 0) return numbers;  // infinite: nothing is restricted
  for (int bit = hwloc_bitmap_first(set); bit >= 0; bit = hwloc_bitmap_next(set, bit))
    numbers.push_back(static_cast<std::uint32_t>(bit));
  return numbers;
}

tree_builder::tree_builder(hwloc_topology_t from, std::span<const found_device> devices, std::uint64_t machine_memory)
    : m_from(from), m_devices(devices), m_tree(machine_properties(from)), m_machine_memory(machine_memory) {
  location::properties& machine = m_tree.edit(m_tree.root());
  machine.memory_bytes = std::max(machine.memory_bytes, m_machine_memory);
  const auto host = std::ranges::find(devices, tsr_device_class{TSR_DEVICE_CPU}, &found_device::device_class);
  if (host != devices.end()) m_host = &*host;
  m_several_packages = hwloc_get_nbobjs_by_type(from, HWLOC_OBJ_PACKAGE) > 1;
}

location::tree tree_builder::build() && {
  add_domains();
  add_cores();
  for (const found_device& d : m_devices)
    if (&d != m_host) add_device(d);
  return std::move(m_tree);
}

/// A domain whose CPUs all lie outside the inherited set belongs to another process; one that never had any (memory on
/// a card) is every process's.
bool tree_builder::wanted(hwloc_obj_t domain) const {
  return !hwloc_bitmap_iszero(domain->cpuset) || hwloc_bitmap_iszero(domain->complete_cpuset);
}

node_id tree_builder::package_below(hwloc_obj_t package, node_id parent) {
  if (const auto known = m_nodes.find(package); known != m_nodes.end()) return known->second;
  location::properties is;
  is.kind = kind::virtual_group;
  is.name = fmt::format("package{}", package->logical_index);
  const char* model = hwloc_obj_get_info_by_name(package, "CPUModel");
  is.type = model && *model ? fmt::format("Package, {}", model) : "Package";
  return m_nodes[package] = m_tree.add(parent, std::move(is));
}

void tree_builder::add_domains() {
  bool all_matched = true;
  const bool only_one = hwloc_get_nbobjs_by_type(m_from, HWLOC_OBJ_NUMANODE) == 1;
  for (hwloc_obj_t domain = nullptr; (domain = hwloc_get_next_obj_by_type(m_from, HWLOC_OBJ_NUMANODE, domain));) {
    if (!wanted(domain)) continue;
    node_id parent = m_tree.root();
    if (hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(m_from, HWLOC_OBJ_PACKAGE, domain);
        package != nullptr && m_several_packages)
      parent = package_below(package, parent);
    location::properties is;
    is.kind = kind::memory;
    is.name = fmt::format("numa{}", domain->os_index);
    is.type = joined(domain->subtype ? domain->subtype : "NUMANode", shared_cache(m_from, domain->cpuset));
    is.numa_node = static_cast<std::int32_t>(domain->os_index);
    is.memory_bytes = domain->attr->numanode.local_memory;
    // The system does not count memory with a domain that was added while it ran; to the only domain it belongs all the
    // same.
    if (only_one) is.memory_bytes = std::max<std::uint64_t>(is.memory_bytes, m_machine_memory);
    if (m_host != nullptr) {
      const auto space = std::ranges::find(m_host->spaces, is.numa_node, &found_space::numa_node);
      if (space != m_host->spaces.end()) {
        is.space = location::space_key{m_host->index, space->index};
        if (is.memory_bytes == 0) is.memory_bytes = space->bytes;
      } else {
        all_matched = false;
      }
    }
    m_nodes[domain] = m_tree.add(parent, std::move(is));
  }
  if (m_host == nullptr || m_host->spaces.empty() || all_matched) return;
  const location::space_key first{m_host->index, m_host->spaces.front().index};
  for (const node_id id : m_tree.subtree(m_tree.root()))
    if (m_tree.at(id).properties.space == first) m_tree.edit(id).space.reset();
  m_tree.edit(m_tree.root()).space = first;
}

/// The first domain that has all of a core's CPUs. Ordinary memory comes before special kinds in hwloc's order.
hwloc_obj_t tree_builder::domain_of(hwloc_obj_t core) const {
  for (hwloc_obj_t domain = nullptr; (domain = hwloc_get_next_obj_by_type(m_from, HWLOC_OBJ_NUMANODE, domain));)
    if (!hwloc_bitmap_iszero(core->cpuset) && hwloc_bitmap_isincluded(core->cpuset, domain->cpuset)) return domain;
  return nullptr;
}

void tree_builder::add_cores() {
  // Some virtual machines tell nothing of cores, only of processing units.
  const auto type = hwloc_get_nbobjs_by_type(m_from, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  for (hwloc_obj_t core = nullptr; (core = hwloc_get_next_obj_by_type(m_from, type, core));) {
    node_id parent = m_tree.root();
    const hwloc_obj_t domain = domain_of(core);
    if (domain != nullptr) parent = m_nodes.at(domain);
    const hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(m_from, HWLOC_OBJ_PACKAGE, core);
    const bool domain_spans_packages =
        domain == nullptr || (package && !hwloc_bitmap_isincluded(domain->cpuset, package->cpuset));
    if (m_several_packages && package != nullptr && domain_spans_packages) parent = package_below(package, parent);
    location::properties is;
    is.kind = kind::worker;
    is.name = fmt::format("core{}", core->logical_index);
    is.type = joined(hwloc_obj_type_string(core->type), caches_of(core, core->cpuset));
    is.cpus = numbers_of(core->cpuset);
    if (m_host != nullptr) is.device = m_host->index;
    if (domain != nullptr) is.numa_node = static_cast<std::int32_t>(domain->os_index);
    m_tree.add(parent, std::move(is));
  }
}

/// The deepest domain or package that holds all these CPUs. A set that several domains share goes to the package or the
/// machine above them.
node_id tree_builder::place_of(hwloc_const_cpuset_t cpus) const {
  node_id best = m_tree.root();
  if (cpus == nullptr || hwloc_bitmap_iszero(cpus)) return best;
  for (const auto& [object, id] : m_nodes) {
    if (!hwloc_bitmap_isincluded(cpus, object->cpuset)) continue;
    const auto d = m_tree.depth(id), deepest = m_tree.depth(best);
    if (d > deepest || (d == deepest && id < best)) best = id;
  }
  return best;
}

node_id tree_builder::place_of(const found_device& d) const {
  if (!d.pci_address.empty())
    if (const hwloc_obj_t pci = hwloc_get_pcidev_by_busidstring(m_from, d.pci_address.c_str()))
      if (const hwloc_obj_t above = hwloc_get_non_io_ancestor_obj(m_from, pci)) return place_of(above->cpuset);
  if (d.numa_node >= 0)
    if (const auto id = m_tree.find(fmt::format("numa{}", d.numa_node))) return *id;
  return m_tree.root();
}

void tree_builder::add_device(const found_device& d) {
  location::properties is;
  const bool storage = d.device_class == TSR_DEVICE_STORAGE;
  is.kind = storage ? kind::storage : kind::worker;
  is.name = d.name;
  is.type = d.description.empty() ? d.plugin : d.description;
  is.device = d.index;
  is.pci_address = d.pci_address;
  is.folder = d.folder;
  is.numa_node = d.numa_node;
  is.bandwidth = d.bandwidth;
  is.latency_ns = d.latency_ns;
  if (const found_space* own = d.own_space()) {
    is.space = location::space_key{d.index, own->index};
    is.memory_bytes = own->bytes;
  }
  m_tree.add(storage ? m_tree.root() : place_of(d), std::move(is));
}

}  // namespace tessera::hierarchy
