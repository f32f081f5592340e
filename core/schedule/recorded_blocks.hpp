#pragma once
// Which blocks recordings use, so that a replay can say which array has ended.
#include <atomic>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/task/recording.hpp"

namespace tessera::schedule {

/// Follows the blocks of all recordings of a runtime. Thread-safe; where there are no recordings, and where no array of
/// one has ended, questions cost a load.
class recorded_blocks {
 public:
  /// A recording is there, or has exchanged blocks.
  void follow(const task::recording& what);
  /// It is about to exchange blocks.
  void leave(const task::recording& what);
  /// It ends.
  void forget(const task::recording& what);
  /// An array lets go of a block.
  void ended(const block::record& block);
  /// "array 'x'", which the recording uses and which has ended; "" where there is none.
  std::string ended_array_of(const task::recording& what) const;

 private:
  struct ended_block {
    const block::record* block;
    std::string name;
  };
  mutable std::mutex m_mutex;
  std::unordered_multimap<const block::record*, const task::recording*> m_users;
  std::unordered_map<const task::recording*, std::vector<ended_block>> m_ended;
  std::atomic<std::size_t> m_used{0}, m_broken{0};  // sizes of the two
};

}  // namespace tessera::schedule
