#pragma once
// Blocks that are updated in any order, by one task at a time.
#include <cstddef>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "core/task/record.hpp"

namespace tessera::schedule {

/// Who has the blocks that tasks commute on. A task that waits for nothing else asks for all of its blocks at once: it
/// gets them together, or none, and then the one who gives one back has it started. So nobody holds a block and waits
/// for another one. Each block goes to the highest priority, then to the oldest, that waits for it; nobody overtakes
/// it, so that a task with many blocks has its turn. Any thread.
class commuting_blocks {
 public:
  /// By a task with rare_commutes. True: it has its blocks, and its accesses are updates. False: it waits, and must not
  /// be touched any more.
  bool enter(task::record& t);
  /// The work of a task with rare_holds_blocks is enqueued, or done and published: it gives its blocks back. Calls
  /// start(record&) for each task that has got its own by that.
  template <class Start>
  void leave(task::record& t, const Start& start) {
    for (task::record* const next : take_back(t)) start(*next);
  }

 private:
  struct place {
    bool is_taken = false;
    std::vector<task::record*> waiting;  // a heap: the next one first
  };
  bool may_take(task::record& t) const;
  void take(task::record& t);
  std::vector<task::record*> take_back(task::record& t);

  std::mutex m_mutex;
  std::unordered_map<block::record*, place> m_places;  // that somebody has or waits for
};

}  // namespace tessera::schedule
