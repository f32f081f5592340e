#pragma once
// Which threads of the program hold views of an array, so that none waits for itself.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <source_location>
#include <string>
#include <thread>

#include "core/block/intent.hpp"
#include "hierarchy/region/cuts.hpp"

namespace tessera::hierarchy {

/// The views of one array. Its owner locks for all of its functions; views end, and replays begin, at any time.
class view_ledger {
 public:
  /// Throws tessera::error (usage) where a view of these rows would wait for one that the calling thread holds: they
  /// conflict, or a region, a replay or a view of another thread in between conflicts with both.
  /// @param array  for messages
  void check(const row_interval& rows, intent how, const std::string& array, std::source_location site) const;
  /// Whether other tiles for one who only reads these rows could make the reader wait for a view, which their elements
  /// do not: any thread holds one of any of these rows, or the calling thread holds one of the array and regions were
  /// submitted since, which may wait for it.
  bool cut_may_wait(const row_interval& rows) const;
  /// The calling thread holds a view of these rows until it lets go of what this returns.
  std::shared_ptr<const void> add(const row_interval& rows, intent how);
  /// The calling thread asks for a view that writes, in the place of tiles with these rows: whoever wants any of them
  /// from now on waits for those who hold views of them.
  void note_writer(const row_interval& rows);
  /// A region was submitted that uses the array; one that has it cut in another way counts as one that writes.
  void note_region(bool writes) noexcept { ++(writes ? m_writes : m_reads); }
  /// Counts the replays of recordings that use the array: those that may write it, or those that only read it.
  const std::shared_ptr<std::atomic<std::uint64_t>>& replays(bool write) const noexcept {
    return write ? m_writing_replays : m_reading_replays;
  }

 private:
  struct view {
    std::thread::id holder;
    row_interval rows;
    intent how;
    std::uint64_t reads, writes;  // by regions and replays before it
    row_interval awaited;         // whoever wants these rows waits for a view of another thread, which waits for it
  };
  struct views {
    std::mutex mutex;
    std::list<view> all;
    std::atomic<std::size_t> count{0};  // of them, for who only wants to know that there are none
  };
  std::uint64_t reads() const noexcept { return m_reads + m_reading_replays->load(std::memory_order_relaxed); }
  std::uint64_t writes() const noexcept { return m_writes + m_writing_replays->load(std::memory_order_relaxed); }

  const std::shared_ptr<views> m_views = std::make_shared<views>();  // views may outlive the array
  const std::shared_ptr<std::atomic<std::uint64_t>> m_reading_replays = std::make_shared<std::atomic<std::uint64_t>>(),
                                                    m_writing_replays = std::make_shared<std::atomic<std::uint64_t>>();
  std::uint64_t m_reads = 0, m_writes = 0;  // by regions
};

}  // namespace tessera::hierarchy
