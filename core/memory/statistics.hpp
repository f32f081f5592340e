#pragma once
// What a memory has held so far.
#include <cstdint>

namespace tessera::memory {

/// Counters of a space; a snapshot.
struct space_statistics {
  std::uint64_t used_bytes = 0, peak_bytes = 0, reserved_bytes = 0, limit_bytes = 0;
  std::uint64_t slabs = 0, allocations = 0, reuses = 0 /* without a search */, exhausted = 0, evictions = 0;
  std::uint64_t adopted = 0;  ///< pieces of the program's memory that are taken over
};

}  // namespace tessera::memory
