#pragma once
// The machine as hwloc sees it, and the tree of locations made of it.
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/config/document.hpp"
#include "core/location/tree.hpp"
#include "hierarchy/discovery/devices.hpp"

namespace tessera::hierarchy {

/// A loaded hwloc topology. Cheap to move; immutable, so reading is thread-safe.
class topology {
 public:
  /// This machine, restricted to the CPU set that the process inherited. Throws tessera::error (kind internal) when the
  /// operating system does not answer.
  static topology of_this_machine();
  /// An imagined machine in hwloc's synthetic form, e.g. "package:2 numa:4 core:16 pu:2". Throws tessera::error (kind
  /// configuration) when the text is not one; `where` is its place.
  static topology synthetic(const std::string& description, const std::string& where = {});
  /// A machine from an XML file written by lstopo. Throws tessera::error (kind configuration) when it cannot be used.
  static topology from_xml(const std::filesystem::path& file, const std::string& where = {});
  /// What [topology] of the configuration asks for.
  static topology as_configured(const config::document& configuration);

  topology(topology&&) noexcept;
  topology& operator=(topology&&) noexcept;
  ~topology();

  bool is_this_machine() const noexcept;
  /// CPUs that this process may use (of the real machine, also when the topology is imagined), 64 per word.
  std::vector<std::uint64_t> cpu_mask() const;
  std::size_t core_count() const;

  /// The discovered tree. Names: "machine", "package0", "numa0" (the system's number), "core0"; devices keep theirs.
  /// Host spaces are matched to NUMA domains by number; when some domain finds none, the first host space belongs to
  /// the machine as a whole, so that every core has memory. A device goes below the domain (else package) of its PCI
  /// address, else of its NUMA number, else below the machine.
  location::tree tree(std::span<const found_device> devices) const;

 private:
  struct implementation;
  explicit topology(std::unique_ptr<implementation> loaded);
  std::unique_ptr<implementation> m_loaded;
};

}  // namespace tessera::hierarchy
