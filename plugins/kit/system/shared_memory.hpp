#pragma once
// Pages that other processes of the same user can map: pieces of a file that has no name and goes with the process.
#include <cstdint>
#include <optional>

#include "plugins/kit/system/pages.hpp"

namespace tessera::kit {

/// Where a piece is, in plain bytes that are good in every process that sees /proc of this one.
struct shared_place {
  std::uint64_t offset = 0;  ///< in the file; given out once
  std::uint64_t bytes = 0;   ///< whole pages
  std::uint64_t name = 0;    ///< of the file, random: another file at the same number is recognised
  std::int32_t process = 0, file = 0;
};

/// New pages in this process's file, zero-filled; the piece goes with them. Nothing when the system has not so much
/// memory free. numa_node as in pages::map. Thread-safe.
std::optional<pages> map_shared(std::uint64_t bytes, int numa_node, shared_place& out);

enum class shared_found : std::uint8_t {
  here,
  gone,
  denied,
  no_room
};
/// Another process's piece; its pages here are this process's to unmap and no more. Thread-safe.
shared_found find_shared(const shared_place& where, pages& out);

}  // namespace tessera::kit
