#include "hierarchy/region/named_tiles.hpp"

#include <algorithm>
#include <cstdint>

namespace tessera::hierarchy {
namespace {

/// Where the tiles of an array end after the cuts.
std::vector<std::int64_t> ends_after(array_storage& array, std::span<const wanted_cut> cuts) {
  const auto cut = std::find_if(cuts.rbegin(), cuts.rend(), [&](const wanted_cut& w) { return w.array == &array; });
  if (cut != cuts.rend()) return cut->ends;
  std::vector<std::int64_t> ends;
  for (const tiled_memory::tile& t : array.tiles().tiles()) ends.push_back(t.end);
  return ends;
}

}  // namespace

named_tiles::named_tiles(const region_request& c, std::size_t tasks, std::span<const row_interval> parts,
                         std::span<const wanted_cut> cuts)
    : m_uses(c.demands.size()), m_counts(tasks * m_uses, 1) {
  for (std::size_t u = 0; u < m_uses; ++u) {
    if (c.demands[u].array == nullptr) continue;
    const std::vector<std::int64_t> ends = ends_after(*c.demands[u].array, cuts);
    for (std::size_t k = 0; k < tasks; ++k) {
      const row_interval used = c.used_rows(c.demands[u], parts, k);
      if (used.begin >= used.end) continue;
      const auto first = std::ranges::upper_bound(ends, used.begin), last = std::ranges::lower_bound(ends, used.end);
      m_counts[k * m_uses + u] = static_cast<std::size_t>(last - first) + 1;
    }
  }
}

}  // namespace tessera::hierarchy
