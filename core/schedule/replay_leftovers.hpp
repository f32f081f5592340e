#pragma once
// What replays need that nobody waits for.
#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <vector>

namespace tessera::schedule {

/// Keeps things until their replays are through. Thread-safe.
class replay_leftovers {
 public:
  /// It goes at the first let_go that finds is_through() true.
  void keep_until(std::function<bool()> is_through, std::shared_ptr<void> what) {
    const std::lock_guard guard(m_mutex);
    m_kept.push_back({std::move(is_through), std::move(what)});
  }
  /// At a fence, and at the end of the scheduler.
  void let_go() {
    std::vector<kept> over;  // they end without the lock
    const std::lock_guard guard(m_mutex);
    const auto first =
        std::stable_partition(m_kept.begin(), m_kept.end(), [](const kept& k) { return !k.is_through(); });
    over.insert(over.end(), std::make_move_iterator(first), std::make_move_iterator(m_kept.end()));
    m_kept.erase(first, m_kept.end());
  }

 private:
  struct kept {
    std::function<bool()> is_through;
    std::shared_ptr<void> what;
  };
  std::mutex m_mutex;
  std::vector<kept> m_kept;
};

}  // namespace tessera::schedule
