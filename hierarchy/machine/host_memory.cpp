#include "hierarchy/machine/host_memory.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <vector>

#include "core/base/environment.hpp"
#include "core/base/units.hpp"

namespace tessera::hierarchy {
namespace {

/// 0 would mean that the size is not known.
constexpr std::uint64_t min_bytes = 4096;

/// A host memory of the tree.
struct host_memory {
  location::node_id id;
  std::uint64_t size = 0;  ///< what is there, or declared
  bool declared = false;   ///< the user has said how much
};

std::string bytes_text(std::uint64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

const found_space* host_space(const location::properties& is, std::span<const found_device> devices) {
  if (!is.space || is.space->device >= devices.size()) return nullptr;
  const found_device& device = devices[is.space->device];
  if (device.device_class != TSR_DEVICE_CPU || is.space->space >= device.spaces.size()) return nullptr;
  return &device.spaces[is.space->space];
}

std::vector<host_memory> host_memories(const location::tree& tree, const location::tree& discovered,
                                       std::span<const found_device> devices) {
  std::vector<host_memory> found;
  for (const location::node_id id : tree.subtree(tree.root())) {
    const location::properties& is = tree.at(id).properties;
    const found_space* const space = host_space(is, devices);
    if (space == nullptr) continue;
    host_memory one{id, is.memory_bytes != 0 ? is.memory_bytes : space->bytes};
    for (const location::node_id before : discovered.subtree(discovered.root())) {
      const location::properties& was = discovered.at(before).properties;
      one.declared = one.declared || (was.space == is.space && was.memory_bytes != is.memory_bytes);
    }
    found.push_back(one);
  }
  return found;
}

}  // namespace

void save_addresses() {
#if defined(M_ARENA_MAX)
  if (environment_variable("MALLOC_ARENA_MAX") == nullptr) ::mallopt(M_ARENA_MAX, 1);
#endif
}

void bound_host_memory(machine& made, const location::tree& discovered, std::span<const found_device> devices,
                       const memory_bound& bound, const std::string& limit_from) {
  const std::uint64_t room = bound.for_blocks(), limit = made.settings.host_limit;
  const std::vector<host_memory> memories = host_memories(made.tree, discovered, devices);
  std::vector<std::uint64_t> sizes;
  std::uint64_t declared = 0;
  for (const host_memory& one : memories) {
    if (one.declared)
      declared += one.size;
    else
      sizes.push_back(one.size);
  }
  const std::vector<std::uint64_t> shares = shared_room(sizes, room - std::min(room, declared));
  std::uint64_t all = 0;
  auto share = shares.begin();
  for (const host_memory& one : memories) {
    location::properties& is = made.tree.edit(one.id);
    is.memory_bytes = one.declared ? one.size : std::max(*share++, min_bytes);
    if (limit != 0) is.memory_bytes = one.declared ? std::min(is.memory_bytes, limit) : limit;
    if (!one.declared && is.memory_bytes < one.size && limit == 0) made.host_bound = bound.text();
    if (const std::uint64_t most = host_space(is, devices)->bytes; limit != 0 && most != 0 && is.memory_bytes > most) {
      made.notes.push_back(fmt::format("memory.host_limit at {} is {}, and {} has {}, which counts", limit_from,
                                       bytes_text(limit), is.name, bytes_text(most)));
      is.memory_bytes = most;
    }
    all += is.memory_bytes;
  }
  if (all > room && (limit != 0 || declared != 0))
    made.notes.push_back(fmt::format(
        "blocks may take {} of the host's memory, as {}, and that is more than there is room for ({}): beyond it the "
        "machine swaps or ends "
        "the process",
        bytes_text(all), limit != 0 ? "memory.host_limit at " + limit_from + " says" : "is declared", bound.text()));
}

}  // namespace tessera::hierarchy
