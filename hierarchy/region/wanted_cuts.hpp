#pragma once
// (a call, its plan, the tiles of its arrays) -> the tiles that its arrays should have.
#include <cstdint>
#include <span>
#include <vector>

#include "hierarchy/region/cuts.hpp"
#include "hierarchy/region/plan.hpp"
#include "hierarchy/region/request.hpp"
#include "hierarchy/region/storage.hpp"

namespace tessera::hierarchy {

/// An array, and the rows at which its tiles should end.
struct wanted_cut {
  array_storage* array;
  std::vector<std::int64_t> ends;
};

/// The tiles that the tasks of a plan need: what one writes is one tile of its own, and what one reads are not too
/// many. Where tiles must stay as they are, what is read is read from those that there are, and what one task writes
/// may be several whole tiles. So is what is read where other tiles would wait for a view, for readers do not wait for
/// each other. With the arrays locked; changes nothing. Throws usage where what is written must stay in other tiles.
/// @param parts  the tasks' own rows  @param recorded  whether the call is  @param devices  whether any take part
/// @param most  of an array, tiles that a task of a device may name where fewer would do
/// @param spare  whether what is read is not cut where that may wait for a view, or the call is recorded
std::vector<wanted_cut> wanted_cuts(const region_request& c, const plan& split, std::span<const row_interval> parts,
                                    bool recorded, bool devices, std::size_t most = max_tiles_read, bool spare = true);

}  // namespace tessera::hierarchy
