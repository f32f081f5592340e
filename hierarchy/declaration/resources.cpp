#include "hierarchy/declaration/resources.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/units.hpp"
#include "hierarchy/declaration/match.hpp"

namespace tessera::hierarchy {
namespace {

bool is_of(type_kind kind, const found_device& d) {
  return kind == type_kind::storage ? d.device_class == TSR_DEVICE_STORAGE
                                    : d.device_class == TSR_DEVICE_GPU || d.device_class == TSR_DEVICE_ACCELERATOR;
}

std::string_view word_for(tsr_device_class c) {
  return c == TSR_DEVICE_GPU ? "gpu" : c == TSR_DEVICE_STORAGE ? "storage" : "accelerator";
}

/// A host memory in the clothes of a device, so that conditions can look at it.
found_device as_device(const location::properties& memory) {
  found_device d;
  d.name = memory.name;
  d.numa_node = memory.numa_node;
  d.spaces.push_back({0, TSR_SPACE_HOST, memory.numa_node, memory.memory_bytes});
  return d;
}

}  // namespace

resources::resources(const location::tree& discovered, std::span<const found_device> devices) {
  const auto device_of = [&](std::uint32_t index) -> const found_device* {
    const auto found = std::ranges::find(devices, index, &found_device::index);
    return found == devices.end() ? nullptr : &*found;
  };
  for (const location::node_id id : discovered.subtree(discovered.root())) {
    const location::properties& is = discovered.at(id).properties;
    const found_device* d = is.device ? device_of(*is.device) : nullptr;
    if (is.kind == location::kind::worker && (d == nullptr || d->device_class == TSR_DEVICE_CPU))
      m_cores.push_back(is);
    else if (is.kind == location::kind::worker || is.kind == location::kind::storage)
      m_devices.push_back({is, d, {}});
    else if (is.space || is.kind == location::kind::memory)
      m_memories.push_back({is, nullptr, {}});
  }
  // Where spaces are known, only memories that have one can be used.
  if (std::ranges::any_of(m_memories, [](const entry& e) { return e.properties.space.has_value(); }))
    std::erase_if(m_memories, [](const entry& e) { return !e.properties.space; });
}

const std::vector<resources::entry>& resources::list(type_kind kind) const {
  return kind == type_kind::unified || kind == type_kind::cpu ? m_memories : m_devices;
}

bool resources::fits(const entry& e, const checked_type& type) const {
  if (type.kind == type_kind::unified) return !type.type.match || matches(*type.type.match, as_device(e.properties));
  if (e.device == nullptr) return false;
  const bool matching = !type.type.match || matches(*type.type.match, *e.device);
  if (!is_of(type.kind, *e.device)) return false;
  if (type.type.plugin && type.type.plugin->value != e.device->plugin) return false;
  // An accelerator passes for a GPU only when the user names its plugin.
  if (type.kind == type_kind::gpu && e.device->device_class != TSR_DEVICE_GPU && !type.type.plugin) return false;
  if (type.type.path && normalised_folder(type.type.path->value) != e.device->folder) return false;
  if (type.capability && e.device->capability && *e.device->capability < *type.capability) return false;
  return matching;
}

std::size_t resources::free(const checked_type& type) const {
  if (type.kind == type_kind::cpu) return free_cores();
  return static_cast<std::size_t>(
      std::ranges::count_if(list(type.kind), [&](const entry& e) { return e.taken_by.empty() && fits(e, type); }));
}

std::optional<location::properties> resources::take(const checked_type& type, const std::string& by) {
  for (entry& e : type.kind == type_kind::unified ? m_memories : m_devices) {
    if (!e.taken_by.empty() || !fits(e, type)) continue;
    e.taken_by = by;
    return e.properties;
  }
  return std::nullopt;
}

bool resources::has_capability(const location::properties& device) const {
  return std::ranges::any_of(m_devices, [&](const entry& e) {
    return e.properties.device == device.device && e.device != nullptr && e.device->capability;
  });
}

std::vector<location::properties> resources::take_cores(std::size_t count) {
  if (count > free_cores()) return {};
  const auto begin = m_cores.begin() + static_cast<std::ptrdiff_t>(m_next_core);
  m_next_core += count;
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

std::optional<location::properties> resources::take_host_memory(const std::string& by) {
  for (entry& e : m_memories)
    if (e.taken_by.empty()) {
      e.taken_by = by;
      return e.properties;
    }
  return std::nullopt;
}

std::vector<std::string> resources::free_host_memories() const {
  std::vector<std::string> names;
  for (const entry& e : m_memories)
    if (e.taken_by.empty()) names.push_back(e.properties.name);
  return names;
}

std::string resources::inventory(const checked_type& type) const {
  const type_kind kind = type.kind;
  std::vector<std::string> parts;
  for (const entry& e : list(kind)) {
    if (e.device != nullptr && !is_of(kind, *e.device)) continue;
    std::string what = e.device ? fmt::format("{} of plugin '{}'", word_for(e.device->device_class), e.device->plugin)
                                : std::string("host memory");
    if (e.properties.memory_bytes != 0) what += ", " + format_bytes(static_cast<double>(e.properties.memory_bytes));
    if (type.type.path && e.device != nullptr)
      what += e.device->folder.empty() ? fmt::format(", plugin.{}.path is not set", e.device->plugin)
                                       : ", at " + e.device->folder;
    if (type.asks_for_capability() && e.device != nullptr)
      what += e.device->capability ? fmt::format(", cc {:.1f}", *e.device->capability) : std::string(", cc not known");
    if (!e.taken_by.empty()) what += ", taken by " + e.taken_by;
    parts.push_back(fmt::format("{} ({})", e.properties.name, what));
  }
  return parts.empty() ? "nothing of that kind" : fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace tessera::hierarchy
