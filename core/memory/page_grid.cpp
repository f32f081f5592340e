#include "core/memory/page_grid.hpp"

namespace tessera::memory {

page_grid grid_for(const std::map<std::uint64_t, std::uint64_t>& blocks_of_size) {
  std::uint64_t page = 0, most = 0, all = 0;
  for (const auto& [size, blocks] : blocks_of_size) {
    all += size * blocks;
    if (size * blocks > most) page = size, most = size * blocks;
  }
  if (page == 0) return {};  // there are no bytes to lie anywhere
  std::uint64_t taken = 0;   // if nothing small fills what others leave
  for (const auto& [size, blocks] : blocks_of_size) {
    const std::uint64_t in_a_page = size == 0 ? blocks : page / size;
    taken += page * (in_a_page > 0 ? (blocks + in_a_page - 1) / in_a_page : blocks * ((size + page - 1) / page));
  }
  return {.page = taken <= all + all / 8 ? page : 0};
}

}  // namespace tessera::memory
