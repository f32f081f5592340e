#include "core/schedule/retiler.hpp"

#include <algorithm>

namespace tessera::schedule {

task::record& retiler::make(thread_context& mine, const retiling& part, std::source_location site) {
  task::record& t = take_record(mine, m_operations.retile, site);
  const auto access = [](block::record* b, intent how) {
    return block::access{.block = b, .version = 0, .intent = how, .flags = 0, .space = 0};
  };
  try {
    const std::size_t count = part.from.size() + part.to.size();
    std::span<block::access> all = t.accesses;
    if (count > t.accesses.size()) {
      t.need_more().accesses.resize(count);
      t.flags |= task::flag_many_accesses;
      all = t.need_more().accesses;
    }
    t.access_count = static_cast<std::uint8_t>(std::min<std::size_t>(count, 255));
    std::size_t k = 0;
    // Not as a reader: the new blocks' writers must also wait for those who still read the old ones.
    for (block::record* const b : part.from) all[k++] = access(b, intent::update);
    for (block::record* const b : part.to) all[k++] = access(b, intent::write);
  } catch (...) {
    take_back(mine, t);
    throw;
  }
  return t;
}

std::vector<task::record*> retiler::make_all(thread_context& mine, std::span<const retiling> parts,
                                             std::source_location site) {
  std::vector<task::record*> made;
  made.reserve(parts.size());
  try {
    for (const retiling& part : parts) made.push_back(&make(mine, part, site));
  } catch (...) {
    for (task::record* const t : made) take_back(mine, *t);
    throw;
  }
  return made;
}

void retiler::submit(std::span<const retiling> parts, std::source_location site) {
  thread_context& mine = m_owner.context_of_this_thread();
  for (task::record* const t : make_all(mine, parts, site)) m_owner.commit_unbounded(mine, *t);
}

void retiler::record(std::span<const retiling> parts, std::source_location site) {
  thread_context& mine = m_owner.context_of_this_thread();
  for (task::record* const t : make_all(mine, parts, site)) {
    (void)mine.recorder->add(*t);  // it has no arguments, and is not kept
    take_back(mine, *t);
  }
}

}  // namespace tessera::schedule
