#include "languages/sial/interpreter/contiguous_arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "languages/sial/exchange/failure.hpp"

namespace tessera::sial {

contiguous_arrays::memory contiguous_arrays::described(const region& r, const registers& values) const {
  memory is;
  is.extents = values.extents_of(r);
  for (std::size_t d = 0; d < r.rank; ++d) {
    is.low[d] = values.integer(r.low[d]);
    is.high[d] = values.integer(r.high[d]);
  }
  return is;
}

void contiguous_arrays::allocate(const region& r, const registers& values) {
  memory fresh = described(r, values);
  for (const memory& other : m_regions[r.array]) {
    bool apart = false;
    for (std::size_t d = 0; d < r.rank; ++d)
      apart = apart || other.high[d] < fresh.low[d] || other.low[d] > fresh.high[d];
    if (!apart)
      throw run_error(fmt::format("region {} overlaps one that is allocated", values.name_of(r)),
                      "deallocate that one first");
  }
  fresh.data.assign(static_cast<std::size_t>(fresh.extents.count()), 0.0);
  m_regions[r.array].push_back(std::move(fresh));
}

void contiguous_arrays::release(const region& r, const registers& values) {
  const memory same = described(r, values);
  std::vector<memory>& mine = m_regions[r.array];
  const auto found =
      std::ranges::find_if(mine, [&](const memory& other) { return other.low == same.low && other.high == same.high; });
  if (found == mine.end())
    throw run_error(fmt::format("region {} is deallocated and was not allocated as such", values.name_of(r)));
  mine.erase(found);
}

contiguous_arrays::part contiguous_arrays::find(const region& r, const registers& values) {
  const array_geometry& a = m_sizes.array(r.array);
  const memory wanted = described(r, values);
  for (memory& whole : m_regions[r.array]) {
    bool inside = true;
    for (std::size_t d = 0; d < r.rank; ++d)
      inside = inside && whole.low[d] <= wanted.low[d] && wanted.high[d] <= whole.high[d];
    if (!inside) continue;
    part found{&whole, {}, wanted.extents, wanted.extents.count()};
    found.where.rank = r.rank;
    for (std::size_t d = 0; d < r.rank; ++d) {
      found.where.extents[d] = wanted.extents[d];
      found.where.array_extents[d] = whole.extents[d];
      for (std::int64_t s = whole.low[d]; s < wanted.low[d]; ++s) found.where.offset[d] += a.dims[d].length(s);
    }
    return found;
  }
  throw run_error(fmt::format("{} lies in no allocated region", values.name_of(r)),
                  "allocate contiguous a region that has all of it");
}

contiguous_arrays::memory& contiguous_arrays::only(std::uint32_t array) {
  std::vector<memory>& mine = m_regions[array];
  if (mine.size() != 1)
    throw run_error(
        fmt::format("'{}' is handed over as a whole, and has {} regions", m_sizes.array(array).name, mine.size()),
        "allocate one region");
  return mine.front();
}

}  // namespace tessera::sial
