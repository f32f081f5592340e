#pragma once
// The tasks of one device that wait for memory, and which tasks may be tried meanwhile.
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/base/spin_lock.hpp"

namespace tessera::schedule {

/// Ages of tasks (task::record::sequence: small numbers are old). Were every ready task tried while others wait, each
/// would push out for itself what the others need. So a task that waits counts like one that is enqueued; when as many
/// as the device takes are enqueued or wait, only tasks that are older than all that wait are tried. And no more than
/// `overtakes` younger ones overtake the oldest. Thread-safe.
class memory_waiters {
 public:
  static constexpr std::uint64_t no_limit = ~std::uint64_t{0};

  /// @param depth      tasks that the device has enqueued at the same time
  /// @param overtakes  tasks that may be tried while the oldest waits
  memory_waiters(std::size_t depth, std::size_t overtakes) : m_depth(depth), m_overtakes(overtakes) {}

  void add(std::uint64_t age);
  void remove(std::uint64_t age);
  bool empty() const;
  /// Tasks from this age on are held back, while `under_way` are enqueued or have their blocks.
  std::uint64_t age_limit(std::size_t under_way) const;
  /// A task is tried.
  void note_tried(std::uint64_t age);
  /// A task has what it needs.
  void note_served(std::uint64_t age);

 private:
  std::uint64_t oldest() const { return m_ages.back(); }

  const std::size_t m_depth, m_overtakes;
  mutable spin_lock m_lock;
  std::vector<std::uint64_t> m_ages;  // the oldest at the end
  std::size_t m_tried = 0;            // younger ones, since the oldest began to wait or was served
};

}  // namespace tessera::schedule
