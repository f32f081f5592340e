#pragma once
// The order in which a device goes through a region that does not fit its memory.
#include <cstdint>

#include "hierarchy/region/plan.hpp"

namespace tessera::hierarchy {

/// Whether a device has several tasks of a region, since its share does not fit its memory.
bool goes_in_parts(const plan& split);

/// How devices go through their parts of a region. After a fence the next sweep over an array goes the other way: it
/// begins with the rows that are still there. While a device still has work of regions before, the next one goes the
/// same way, and the parts that are first in it have the higher priority: so the device takes a part through all
/// regions that are submitted before it fetches the next one.
struct sweep {
  bool in_parts = false;
  bool back = false;  ///< begins with the last rows

  /// Of the k-th task: 0, or below where the region goes in parts.
  std::int16_t priority_of(const plan& split, std::size_t k) const;
};

}  // namespace tessera::hierarchy
