#pragma once
// How much of a problem fits where its tasks run.
#include <cstdint>

#include "tessera/tessera.hpp"

namespace tessera::apps {

/// Where the tasks of an application run, and what its data may take there. The default is a memory without a limit.
struct memory_budget {
  std::uint64_t bytes = ~std::uint64_t{0};  ///< the largest memory
  std::uint64_t together = 0;               ///< several memories together
  std::uint32_t location = anywhere;        ///< a hint for every task; none: wherever the placement sends it

  /// Whole tiles of so many bytes that fit into the largest memory; at most 2^40, also where `all_tiles` fit into all
  /// together.
  std::int64_t tiles(std::uint64_t tile_bytes, std::int64_t all_tiles) const noexcept;
};

/// The memories of the devices that compute, or those of the host where there is none, each up to the mark from which
/// on blocks are evicted in the background.
memory_budget memory_budget_of(const runtime& rt);

}  // namespace tessera::apps
