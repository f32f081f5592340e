#include "languages/sial/exchange/array_generation.hpp"

namespace tessera::sial {

std::optional<race> note_use(shared_block& b, std::uint64_t section, block_use how, std::int32_t worker,
                             std::uint32_t site) {
  if (b.section != section) {
    b.section = section;
    b.used = {};
  }
  const auto conflicts = [&](block_use other) {
    const std::int32_t user = b.used[static_cast<std::size_t>(other)].worker;
    return user != shared_block::no_worker && user != worker;
  };
  for (const block_use other : {block_use::get, block_use::replace, block_use::accumulate}) {
    const bool harmless = how == other && how != block_use::replace;  // any number get; any number add
    if (!harmless && conflicts(other)) {
      const shared_block::user& by = b.used[static_cast<std::size_t>(other)];
      return race{other, by.worker, by.site};
    }
  }
  shared_block::user& mine = b.used[static_cast<std::size_t>(how)];
  mine = {mine.worker == shared_block::no_worker || mine.worker == worker ? worker : shared_block::several, site};
  return std::nullopt;
}

}  // namespace tessera::sial
