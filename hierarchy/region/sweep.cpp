#include "hierarchy/region/sweep.hpp"

#include <algorithm>
#include <limits>

namespace tessera::hierarchy {
namespace {

bool of_one_device(const piece& one, const piece& next) { return one.on_device && one.at == next.at; }

}  // namespace

bool goes_in_parts(const plan& split) {
  return std::ranges::adjacent_find(split.pieces, of_one_device) != split.pieces.end();
}

std::int16_t sweep::priority_of(const plan& split, std::size_t k) const {
  if (!in_parts || !split.pieces[k].on_device) return 0;
  const std::size_t position = back ? split.pieces.size() - 1 - k : k, most = std::numeric_limits<std::int16_t>::max();
  return static_cast<std::int16_t>(-1 - static_cast<std::int32_t>(std::min(position, most)));
}

}  // namespace tessera::hierarchy
