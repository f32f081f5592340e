#pragma once
// How many tasks a device may have at the same time.
#include <algorithm>
#include <atomic>
#include <cstddef>

namespace tessera::schedule {

/// A task is queued, awaits its copies with its blocks at the device, or is enqueued. Of those with blocks there are no
/// more than would be enqueued without that wait; of short ones that go together as many as fill a batch for each
/// stream. Counts are for any thread, decisions for the driver's.
class admission {
 public:
  /// @param depth  enqueued launches at the same time
  explicit admission(std::size_t depth) noexcept : m_depth(depth) {}

  std::size_t depth() const noexcept { return m_depth; }
  std::size_t enqueued() const noexcept { return m_enqueued.load(); }  ///< launches, not complete
  std::size_t awaiting() const noexcept { return m_awaiting.load(); }  ///< tasks with blocks, not enqueued
  std::size_t under_way() const noexcept { return m_enqueued.load() + m_awaiting.load(); }
  /// No further launch.
  bool full() const noexcept { return m_enqueued.load() >= m_depth; }
  /// Some of those that await copies are queued again, since these have come.
  bool any_resumed() const noexcept { return m_resumed.load() != 0; }
  /// A task that has no blocks yet may get them.
  bool takes_fresh() const noexcept { return under_way() < std::max(m_depth, m_awaiting_alike); }

  void begin_launch() noexcept { m_enqueued.fetch_add(1); }
  void end_launch() noexcept { m_enqueued.fetch_sub(1); }
  /// It has its blocks, and its copies are on their way. @param alike  so many short ones may go together; 1: alone
  void begin_await(std::size_t alike, std::size_t streams) noexcept {
    m_awaiting_alike = alike > 1 ? alike * streams : 0;
    m_awaiting.fetch_add(1);
  }
  /// Of these tasks that await: they are queued again.
  void note_resumed() noexcept { m_resumed.fetch_add(1); }
  /// Tasks that were about to be enqueued, or had been in vain, await again, and are queued.
  void put_back(std::size_t tasks) noexcept {
    m_awaiting.fetch_add(tasks);
    m_resumed.fetch_add(tasks);
  }
  /// Of these that were queued again: it is taken from the queue.
  void end_await() noexcept {
    m_resumed.fetch_sub(1);
    m_awaiting.fetch_sub(1);
  }

 private:
  const std::size_t m_depth;
  std::size_t m_awaiting_alike = 0;  // so many of those that await may be short tasks that go together
  std::atomic<std::size_t> m_enqueued{0}, m_awaiting{0}, m_resumed{0};
};

}  // namespace tessera::schedule
