// Local arrays: allocation, and the regions of contiguous ones.
#include <fmt/format.h>

#include "apps/sial/interpreter/worker.hpp"

namespace tessera::sial {

void worker::allocate(const allocation& a, bool release) {
  const array_geometry& g = m_run.sizes.array(a.array);
  ordinal_map<private_block>& mine = m_private[a.array];
  if (release && a.at.empty()) {
    mine.for_each([&](std::int64_t, private_block& b) { m_pool.give(b); });
    mine.clear();
    return;
  }
  reference r;
  r.array = a.array;
  r.rank = static_cast<std::uint8_t>(g.rank);
  segments low{}, high{}, at{};
  for (std::size_t d = 0; d < g.rank; ++d) {
    const bool all = a.at.empty() || a.at[d] == nothing;
    low[d] = all ? g.dims[d].low : m_i[a.at[d]];
    high[d] = all ? g.dims[d].high : low[d];
    for (const std::int64_t end : {low[d], high[d]})
      if (end < g.dims[d].low || end > g.dims[d].high)
        throw run_error(fmt::format("segment {} is outside of dimension {} of '{}', which has {}:{}", end, d + 1,
                                    g.name, g.dims[d].low, g.dims[d].high));
  }
  for (at = low;;) {
    std::int64_t ordinal = 0;
    for (std::size_t d = 0; d < g.rank; ++d) ordinal += (at[d] - g.dims[d].low) * g.stride[d];
    private_block* const there = mine.find(ordinal);
    if (release) {
      if (there == nullptr)
        throw run_error(fmt::format("block {} is deallocated and does not exist", g.name_of(ordinal)));
      m_pool.give(*there);
      mine.remove(ordinal);
    } else {
      if (there != nullptr)
        throw run_error(fmt::format("block {} is allocated and exists already", g.name_of(ordinal)));
      private_block& b = make_private(r, at, ordinal);
      fill(b.data, b.count, 0);
    }
    std::size_t d = 0;
    while (d < g.rank && ++at[d] > high[d]) {
      at[d] = low[d];
      ++d;
    }
    if (d == g.rank) return;
  }
}

void worker::allocate_region(const region& r, bool release) {
  std::vector<region_memory>& mine = m_regions[r.array];
  region_memory fresh;
  fresh.extents = extents_of(r);
  for (std::size_t d = 0; d < r.rank; ++d) {
    fresh.low[d] = m_i[r.low[d]];
    fresh.high[d] = m_i[r.high[d]];
  }
  for (auto other = mine.begin(); other != mine.end(); ++other) {
    bool same = true, apart = false;
    for (std::size_t d = 0; d < r.rank; ++d) {
      same = same && other->low[d] == fresh.low[d] && other->high[d] == fresh.high[d];
      apart = apart || other->high[d] < fresh.low[d] || other->low[d] > fresh.high[d];
    }
    if (release && same) {
      mine.erase(other);
      return;
    }
    if (!release && !apart)
      throw run_error(fmt::format("region {} overlaps one that is allocated", name_of(r)), "deallocate that one first");
  }
  if (release) throw run_error(fmt::format("region {} is deallocated and was not allocated as such", name_of(r)));
  fresh.data.assign(static_cast<std::size_t>(fresh.extents.count()), 0.0);
  mine.push_back(std::move(fresh));
}

worker::region_memory& worker::find_region(const region& r, box& part) {
  const array_geometry& a = m_run.sizes.array(r.array);
  const shape extents = extents_of(r);
  for (region_memory& whole : m_regions[r.array]) {
    bool inside = true;
    for (std::size_t d = 0; d < r.rank; ++d)
      inside = inside && whole.low[d] <= m_i[r.low[d]] && m_i[r.high[d]] <= whole.high[d];
    if (!inside) continue;
    part.rank = r.rank;
    for (std::size_t d = 0; d < r.rank; ++d) {
      part.extents[d] = extents[d];
      part.array_extents[d] = whole.extents[d];
      part.offset[d] = 0;
      for (std::int64_t s = whole.low[d]; s < m_i[r.low[d]]; ++s) part.offset[d] += a.dims[d].length(s);
    }
    return whole;
  }
  throw run_error(fmt::format("{} lies in no allocated region", name_of(r)),
                  "allocate contiguous a region that has all of it");
}

void worker::region_fill(const region_operation& o, double value) {
  box part;
  region_memory& whole = find_region(m_code.regions[o.region], part);
  scatter_value(whole.data.data(), value, part);
}

void worker::region_from_block(const region_operation& o) {
  const tile from = read(o.block, 0);
  box part;
  region_memory& whole = find_region(m_code.regions[o.region], part);
  std::int64_t count = 1;
  for (std::size_t d = 0; d < part.rank; ++d) count *= part.extents[d];
  if (count != from.count)
    throw run_error(
        fmt::format("{} has {} elements, and the block {}", name_of(m_code.regions[o.region]), count, from.count));
  scatter(whole.data.data(), from.data, part);
}

void worker::block_from_region(const region_operation& o) {
  box part;
  const region_memory& whole = find_region(m_code.regions[o.region], part);
  const target to = write(o.block, false, 3);
  std::int64_t count = 1;
  for (std::size_t d = 0; d < part.rank; ++d) count *= part.extents[d];
  if (count != to.count)
    throw run_error(
        fmt::format("{} has {} elements, and the block {}", name_of(m_code.regions[o.region]), count, to.count));
  gather(to.data, whole.data.data(), part);
  put_back(to);
}

}  // namespace tessera::sial
