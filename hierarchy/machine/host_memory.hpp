#pragma once
// How much memory blocks may take on the host.
#include <span>
#include <string>

#include "core/runtime/machine.hpp"
#include "hierarchy/discovery/devices.hpp"
#include "hierarchy/discovery/memory_limits.hpp"

namespace tessera::hierarchy {

/// Sets memory_bytes of the tree's host memories to what blocks may take there. What declarations or memory.host_limit
/// say counts, and more than `bound` leaves is worth a note; the other memories share what is left, up to their sizes.
/// `discovered`: the tree before declarations; `limit_from`: where memory.host_limit was said.
void bound_host_memory(machine& made, const location::tree& discovered, std::span<const found_device> devices,
                       const memory_bound& bound, const std::string& limit_from);

/// Where addresses are limited: keeps the C library from reserving 64 MiB of them for the heap of each thread, unless
/// MALLOC_ARENA_MAX says how often it may.
void save_addresses();

}  // namespace tessera::hierarchy
