#include "core/schedule/retiler.hpp"

#include <algorithm>

namespace tessera::schedule {

task::record& retiler::make(thread_context& thread, const retiling& part, std::source_location site) {
  task::record& t = take_record(thread, m_operations.retile, site);
  const auto access = [](block::record* b, intent use, std::uint8_t flags) {
    return block::access{.block = b, .version = 0, .intent = use, .flags = flags, .space = 0};
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
    for (block::record* const b : part.from) all[k++] = access(b, intent::update, block::access_of_part);
    for (block::record* const b : part.to) all[k++] = access(b, intent::write, 0);
  } catch (...) {
    take_back(thread, t);
    throw;
  }
  return t;
}

std::vector<task::record*> retiler::make_all(thread_context& thread, std::span<const retiling> parts,
                                             std::source_location site) {
  std::vector<task::record*> tasks;
  tasks.reserve(parts.size());
  try {
    for (const retiling& part : parts) tasks.push_back(&make(thread, part, site));
  } catch (...) {
    for (task::record* const t : tasks) take_back(thread, *t);
    throw;
  }
  return tasks;
}

void retiler::submit(std::span<const retiling> parts, std::source_location site) {
  thread_context& thread = m_owner.context_of_this_thread();
  for (task::record* const t : make_all(thread, parts, site)) m_owner.commit_unbounded(thread, *t);
}

void retiler::record(std::span<const retiling> parts, std::source_location site) {
  thread_context& thread = m_owner.context_of_this_thread();
  for (task::record* const t : make_all(thread, parts, site)) {
    (void)thread.recorder->add(*t);  // it has no arguments, and is not kept
    take_back(thread, *t);
  }
}

}  // namespace tessera::schedule
