#pragma once
// Tasks that the program waits for together.
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "core/block/record.hpp"

namespace tessera::task {

/// Counts the tasks of a group and keeps what has gone wrong with the first of them that failed. It belongs to whoever
/// made it and to its tasks together: the last of these to leave deletes it. Any thread.
class group {
 public:
  using reason = std::shared_ptr<const block::failure>;
  /// Made by operator new; its maker is its first member.
  group() = default;
  group(const group&) = delete;
  group& operator=(const group&) = delete;

  /// By a member, or for a task while a member is there.
  void enter() noexcept { m_members.fetch_add(1, std::memory_order_relaxed); }
  /// The member does not touch it any more. Returns whether at most one is left now.
  bool leave() noexcept {
    const std::uint64_t before = m_members.fetch_sub(1, std::memory_order_acq_rel);
    if (before == 1) delete this;
    return before <= 2;
  }
  /// By its maker: whether all tasks have ended, whose effects are seen then.
  bool is_idle() const noexcept { return m_members.load(std::memory_order_acquire) == 1; }

  /// A task of it has failed, or is given up.
  void note(const reason& why) {
    const std::lock_guard guard(m_mutex);
    if (!m_first) m_first = why;
  }
  /// Why the first one has failed, once; null: none has.
  reason take() {
    const std::lock_guard guard(m_mutex);
    return std::exchange(m_first, nullptr);
  }

  std::shared_ptr<void> known;  ///< validation's, which guards it: what orders its submissions

 private:
  ~group() = default;
  std::atomic<std::uint64_t> m_members{1};
  std::mutex m_mutex;
  reason m_first;
};

}  // namespace tessera::task
