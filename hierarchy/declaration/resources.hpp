#pragma once
// What the discovered machine has to give, and who took it.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/location/tree.hpp"
#include "hierarchy/declaration/type.hpp"
#include "hierarchy/discovery/devices.hpp"

namespace tessera::hierarchy {

/// Cores, host memories and devices of a discovered tree; each is given once, the first free one that fits.
class resources {
 public:
  resources(const location::tree& discovered, std::span<const found_device> devices);

  /// How many free things fit a type: devices, host memories, or cores.
  std::size_t free(const checked_type& type) const;
  /// Takes a device or host memory for the location `by`; nullopt when none is free.
  std::optional<location::properties> take(const checked_type& type, const std::string& by);
  /// Whether it is known of the device with these properties.
  bool has_capability(const location::properties& device) const;
  /// Takes the next `count` cores, or none when there are fewer.
  std::vector<location::properties> take_cores(std::size_t count);
  std::size_t free_cores() const noexcept { return m_cores.size() - m_next_core; }
  std::size_t cores() const noexcept { return m_cores.size(); }
  /// The first host memory that was not taken.
  std::optional<location::properties> take_host_memory(const std::string& by);
  /// Names of host memories that were not taken.
  std::vector<std::string> free_host_memories() const;
  /// "sim0 (accelerator of plugin 'sim', 512 MiB, taken by LocG[0]), ..." of what the kind of a type can be bound to,
  /// with what the type asks for.
  std::string inventory(const checked_type& type) const;

 private:
  struct entry {
    location::properties properties;
    const found_device* device;
    std::string taken_by;  // "": free
  };
  std::vector<location::properties> m_cores;
  std::size_t m_next_core = 0;
  std::vector<entry> m_memories, m_devices;

  bool fits(const entry& e, const checked_type& type) const;
  const std::vector<entry>& list(type_kind kind) const;
};

}  // namespace tessera::hierarchy
