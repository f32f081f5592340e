#include "hierarchy/region/cuts.hpp"

#include <algorithm>

namespace tessera::hierarchy {

tile_range tiles_with(std::span<const tiled_memory::tile> tiles, const row_interval& rows) {
  if (rows.begin >= rows.end) return {};
  const auto first =
      std::ranges::partition_point(tiles, [&](const tiled_memory::tile& t) { return t.end <= rows.begin; });
  const auto last =
      std::partition_point(first, tiles.end(), [&](const tiled_memory::tile& t) { return t.begin < rows.end; });
  return {static_cast<std::size_t>(first - tiles.begin()), static_cast<std::size_t>(last - first)};
}

bool cuts_fit(std::span<const tiled_memory::tile> tiles, std::span<const row_interval> parts, bool exact) {
  return std::ranges::all_of(parts, [&](const row_interval& part) {
    const tile_range in = tiles_with(tiles, part);
    return in.count <= (exact ? 1 : most_tiles_read) && tiles[in.first].begin == part.begin &&
           tiles[in.first + in.count - 1].end == part.end;
  });
}

std::vector<std::int64_t> fitting_cuts(std::span<const tiled_memory::tile> tiles, std::span<const row_interval> parts,
                                       bool exact) {
  std::vector<std::int64_t> ends;
  ends.reserve(tiles.size() + 2 * parts.size());
  for (const tiled_memory::tile& t : tiles) ends.push_back(t.end);
  for (const row_interval& part : parts) {
    const auto inside = [&](std::int64_t row) { return row > part.begin && row < part.end; };
    if (exact || tiles_with(tiles, part).count > most_tiles_read) std::erase_if(ends, inside);
    if (part.begin > 0) ends.push_back(part.begin);
    ends.push_back(part.end);
  }
  std::ranges::sort(ends);
  ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  return ends;
}

}  // namespace tessera::hierarchy
