#pragma once
// One use of a block by a task.
#include <cstdint>

#include "core/block/intent.hpp"

namespace tessera::block {

struct record;

/// Versions count from 1; 0 means never written. A replica is valid when its version is the committed one of its block.
/// The numbers of a block go round after 2^32 - 1 updates, and leave out 0; which replicas are valid is therefore kept
/// beside them (record::valid_spaces): an old replica that has the number of the committed version again is not valid.
using version_number = std::uint32_t;

/// A flag of an access, of those in task/record.hpp: an update that names some elements of the block. Where the block
/// has no contents yet it is a write, which leaves the others without.
inline constexpr std::uint8_t access_of_part = 1u << 2;

/// A block and how a task uses it; 16 bytes.
struct access {
  record* block = nullptr;
  version_number version = 0;  ///< the version read, or the version made
  tessera::intent intent = tessera::intent::read;
  std::uint8_t flags = 0;
  /// Where it was acquired. Of an accumulate, until it has its private copy: how copies become one (combination.hpp).
  std::uint16_t space = 0;
};
static_assert(sizeof(access) == 16);

}  // namespace tessera::block
