#pragma once
// (tiles of an array, rows that the tasks of a region use) -> tiles. Pure.
#include <cstdint>
#include <span>
#include <vector>

#include "tessera/detail/tiled_memory.hpp"

namespace tessera::hierarchy {

/// Rows [begin, end).
struct row_interval {
  std::int64_t begin = 0, end = 0;
  friend bool operator==(const row_interval&, const row_interval&) = default;
};

/// How many tiles a task may read of a part of its own, where one would do: more are joined.
inline constexpr std::size_t max_tiles_read = 8;
/// The same of rows that other tasks read too. More than those: joining them, and splitting them again for the next
/// loop that writes them, costs more than to name a few dozen.
inline constexpr std::size_t max_tiles_shared = 64;

/// Whether each part begins and ends where a tile does, and is one tile (`exact`: it is written) or a few.
bool cuts_fit(std::span<const tiled_memory::tile> tiles, std::span<const row_interval> parts, bool exact);

/// Whether each part begins and ends where a tile does, of however many it is.
bool ends_fit(std::span<const tiled_memory::tile> tiles, std::span<const row_interval> parts);

/// The rows at which tiles must end so that cuts_fit: those of `tiles` that no part has inside. `parts` do not overlap,
/// in any order, none is empty; `tiles` may be some of an array, which have all rows of the parts. Takes time for each
/// tile and each part, but for sorting the parts.
std::vector<std::int64_t> fitting_cuts(std::span<const tiled_memory::tile> tiles, std::span<const row_interval> parts,
                                       bool exact);

/// Where tasks run in several memories: the rows at which tiles must end so that each part begins and ends where a tile
/// does, tiles end at all `edges` (rows, in any order), and no part has more tiles than it needs, or `most`;
/// nothing where that is so already.
std::vector<std::int64_t> edged_cuts(std::span<const tiled_memory::tile> tiles, std::span<const row_interval> parts,
                                     std::span<const std::int64_t> edges, std::size_t most = max_tiles_read);

/// Where a loop is about to read row after row of what the loops before have written on devices, as in elimination: the
/// rows at which tiles should end behind `row`, beside itself. A tile in which another row is cut off has to come home
/// for it, so the rows that are read next are in short tiles: those up to the next multiple of 16, and of 256, as far
/// as there are rows. The cuts of the next loops are then the same ones, but for a short tile.
std::vector<std::int64_t> cuts_ahead(std::int64_t row, std::int64_t rows);

/// The rows at which tiles must end so that those that have any of these rows are one: those of the others, and of the
/// last one.
std::vector<std::int64_t> joined_cuts(std::span<const tiled_memory::tile> tiles, const row_interval& rows);

/// Those of `ends` that are not inside these rows, so that what is between is one tile.
std::vector<std::int64_t> without_ends_inside(std::vector<std::int64_t> ends, const row_interval& rows);

/// The tiles that have any of these rows: index of the first, and how many.
struct tile_range {
  std::size_t first = 0, count = 0;
};
tile_range tiles_with(std::span<const tiled_memory::tile> tiles, const row_interval& rows);
/// All rows of these tiles.
row_interval with_their_tiles(std::span<const tiled_memory::tile> tiles, const row_interval& rows);

}  // namespace tessera::hierarchy
