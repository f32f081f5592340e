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

row_interval with_their_tiles(std::span<const tiled_memory::tile> tiles, const row_interval& rows) {
  const tile_range in = tiles_with(tiles, rows);
  if (in.count == 0) return rows;
  return {tiles[in.first].begin, tiles[in.first + in.count - 1].end};
}

bool cuts_fit(std::span<const tiled_memory::tile> tiles, std::span<const row_interval> parts, bool exact) {
  return std::ranges::all_of(parts, [&](const row_interval& part) {
    const tile_range in = tiles_with(tiles, part);
    return in.count <= (exact ? 1 : max_tiles_read) && tiles[in.first].begin == part.begin &&
           tiles[in.first + in.count - 1].end == part.end;
  });
}

bool ends_fit(std::span<const tiled_memory::tile> tiles, std::span<const row_interval> parts) {
  return std::ranges::all_of(parts, [&](const row_interval& part) { return with_their_tiles(tiles, part) == part; });
}

std::vector<std::int64_t> fitting_cuts(std::span<const tiled_memory::tile> tiles, std::span<const row_interval> parts,
                                       bool exact) {
  std::vector<row_interval> sorted(parts.begin(), parts.end());
  std::ranges::sort(sorted, {}, &row_interval::begin);
  std::vector<std::int64_t> ends;
  ends.reserve(tiles.size() + 2 * parts.size());
  const std::int64_t begin = tiles.empty() ? 0 : tiles.front().begin;
  const auto add = [&](std::int64_t row) {
    if (row > (ends.empty() ? begin : ends.back())) ends.push_back(row);
  };
  auto next = tiles.begin();
  for (const row_interval& part : sorted) {
    for (; next != tiles.end() && next->end <= part.begin; ++next) add(next->end);
    add(part.begin);
    const auto first = next;
    while (next != tiles.end() && next->end < part.end) ++next;  // those that end inside
    if (!exact && static_cast<std::size_t>(next - first) < max_tiles_read)
      for (auto inside = first; inside != next; ++inside) add(inside->end);
    add(part.end);
  }
  for (; next != tiles.end(); ++next) add(next->end);
  return ends;
}

std::vector<std::int64_t> edged_cuts(std::span<const tiled_memory::tile> tiles, std::span<const row_interval> parts,
                                     std::span<const std::int64_t> edges, std::size_t most) {
  std::vector<std::int64_t> required(edges.begin(), edges.end()), ends;
  for (const row_interval& part : parts) {
    if (part.begin > 0) required.push_back(part.begin);
    required.push_back(part.end);
  }
  const auto in_order = [](std::vector<std::int64_t>& rows) {
    std::ranges::sort(rows);
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  };
  in_order(required);
  for (const tiled_memory::tile& t : tiles) ends.push_back(t.end);
  ends.insert(ends.end(), required.begin(), required.end());
  in_order(ends);
  for (const row_interval& part : parts) {  // one that has too many keeps those that it must have
    const auto first = std::ranges::upper_bound(ends, part.begin), last = std::ranges::upper_bound(ends, part.end);
    if (static_cast<std::size_t>(last - first) <= most) continue;
    ends.erase(
        std::remove_if(first, last, [&](std::int64_t row) { return !std::ranges::binary_search(required, row); }),
        last);
  }
  const bool same = std::ranges::equal(tiles, ends, {}, &tiled_memory::tile::end);
  return same ? std::vector<std::int64_t>{} : ends;
}

std::vector<std::int64_t> cuts_ahead(std::int64_t row, std::int64_t rows) {
  std::vector<std::int64_t> ends;
  for (const std::int64_t length : {16, 256}) {
    const std::int64_t end = (row / length + 1) * length;
    if (end < rows && (ends.empty() || end > ends.back())) ends.push_back(end);
  }
  return ends;
}

std::vector<std::int64_t> without_ends_inside(std::vector<std::int64_t> ends, const row_interval& rows) {
  std::erase_if(ends, [&](std::int64_t row) { return row > rows.begin && row < rows.end; });
  return ends;
}

std::vector<std::int64_t> joined_cuts(std::span<const tiled_memory::tile> tiles, const row_interval& rows) {
  const tile_range joined = tiles_with(tiles, rows);
  std::vector<std::int64_t> ends;
  for (std::size_t k = 0; k < tiles.size(); ++k)
    if (k < joined.first || k + 1 >= joined.first + joined.count) ends.push_back(tiles[k].end);
  return ends;
}

}  // namespace tessera::hierarchy
