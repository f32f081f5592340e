#include "hierarchy/region/wanted_cuts.hpp"

#include <algorithm>
#include <utility>

namespace tessera::hierarchy {
namespace {

using kind = access_pattern::kind;

/// Ends of tiles with which a task names no more than `most` tiles of these rows: `ends`, or those that there are where
/// it is empty; nothing where those do.
std::vector<std::int64_t> readable(std::vector<std::int64_t> ends, std::span<const tiled_memory::tile> tiles,
                                   const row_interval& rows, std::size_t most) {
  const bool same = ends.empty();
  if (same)
    for (const tiled_memory::tile& t : tiles) ends.push_back(t.end);
  const auto inside = [&](std::int64_t row) { return row > rows.begin && row < rows.end; };
  if (static_cast<std::size_t>(std::ranges::count_if(ends, inside)) >= most)
    return without_ends_inside(std::move(ends), rows);
  return same ? std::vector<std::int64_t>{} : ends;
}

/// Whether what a use reads is read from the tiles that there are.
bool reads_what_there_is(const region_request& c, const detail::region_demand& d, bool recorded, bool spare) {
  if (d.how != intent::read) return false;
  if (recorded) return spare;
  return d.array->keeps_tiles() || (spare && d.array->cut_may_wait(c.all_rows(d)));
}

/// Where tasks run in several memories. Tiles that one task writes stay several, so that rows which others
/// read of it are tiles of their own, and only they move; what all read is a few tiles.
std::vector<wanted_cut> cuts_between_memories(const region_request& c, const plan& split,
                                              std::span<const row_interval> parts, bool recorded, std::size_t most,
                                              bool spare) {
  std::vector<wanted_cut> cuts;
  std::vector<row_interval> room;
  for (const detail::region_demand& d : c.demands) {
    if (d.array == nullptr || d.array->has_own_blocks() || reads_what_there_is(c, d, recorded, spare)) continue;
    const std::span<const tiled_memory::tile> tiles = d.array->tiles().tiles();
    const bool writes = d.how != intent::read, stays = recorded || d.array->keeps_tiles();
    std::vector<std::int64_t> ends;
    if (c.reads_beside(d)) continue;
    if (c.by_part(d)) {
      std::vector<std::int64_t> edges = c.edges(d, split, parts);
      const detail::region_demand* const beside = c.reader_beside(d);
      const row_interval read = beside != nullptr ? c.all_rows(*beside) : row_interval{};
      for (const std::int64_t row : {read.begin, read.end})  // so that no more than those move
        if (row > 0 && row < d.array->extents().rows) edges.push_back(row);
      if (beside != nullptr && beside->pattern.which == kind::rows) {
        const std::vector<std::int64_t> ahead = cuts_ahead(read.end, d.array->extents().rows);
        edges.insert(edges.end(), ahead.begin(), ahead.end());
      }
      const bool joins = !stays || (recorded && !spare);
      ends = edged_cuts(tiles, c.own_rows(d, parts, room), edges, joins ? most : tiles.size());
      if (beside != nullptr && !stays) ends = readable(std::move(ends), tiles, read, most);
    } else if (writes ? !stays && tiles.size() > 1 : tiles_with(tiles, c.used_rows(d, parts, 0)).count > most) {
      ends = joined_cuts(tiles, c.used_rows(d, parts, 0));
    }
    if (ends.empty()) continue;
    if (!recorded) c.check_cut(*d.array);
    cuts.push_back({d.array, std::move(ends)});
  }
  return cuts;
}

}  // namespace

std::vector<wanted_cut> wanted_cuts(const region_request& c, const plan& split, std::span<const row_interval> parts,
                                    bool recorded, bool devices, std::size_t most, bool spare) {
  std::vector<wanted_cut> cuts;
  std::vector<row_interval> room;
  if (split.pieces.empty()) return cuts;
  if (devices) return cuts_between_memories(c, split, parts, recorded, most, spare);
  for (const detail::region_demand& d : c.demands) {
    if (d.array == nullptr || d.array->has_own_blocks() || reads_what_there_is(c, d, recorded, spare)) continue;
    const std::span<const tiled_memory::tile> tiles = d.array->tiles().tiles();
    const bool writes = d.how != intent::read;
    const bool stays = writes && (recorded || d.array->keeps_tiles());
    if (c.reads_beside(d)) continue;  // looked after where it is written
    if (c.by_part(d)) {
      const std::span<const row_interval> own = c.own_rows(d, parts, room);
      std::vector<std::int64_t> ends;
      if (stays && d.array->keeps_tiles())  // both splits, so that a recording has no need to change between them
        ends = ends_fit(tiles, own) ? std::vector<std::int64_t>{} : edged_cuts(tiles, own, {});
      else if (stays ? !ends_fit(tiles, own) : !cuts_fit(tiles, own, writes))
        ends = fitting_cuts(tiles, own, writes);
      if (const detail::region_demand* const beside = c.reader_beside(d); beside != nullptr && !stays)
        ends = readable(std::move(ends), tiles, c.all_rows(*beside), max_tiles_shared);
      if (!ends.empty()) {
        if (writes && !recorded) c.check_cut(*d.array);
        cuts.push_back({d.array, std::move(ends)});
      }
    }
    if (d.pattern.which == kind::chunk) continue;
    if (writes) {  // one task, which has all of it
      if (stays || tiles.size() <= 1) continue;
      cuts.push_back({d.array, {d.array->extents().rows}});
    } else if (const row_interval crowded = c.crowded_rows(d, parts); crowded.begin < crowded.end) {
      if (!cuts.empty() && cuts.back().array == d.array) cuts.pop_back();  // they are joined all the same
      cuts.push_back({d.array, joined_cuts(tiles, crowded)});
    }
  }
  return cuts;
}

}  // namespace tessera::hierarchy
