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
  /// True if other tiles for a reader of these rows could make it wait for a view, although the elements would not: any
  /// thread holds a view of some of these rows.
  bool cut_may_wait(const row_interval& rows) const;
  /// The calling thread holds a view of these rows until it lets go of what this returns.
  std::shared_ptr<const void> add(const row_interval& rows, intent how);
  /// The calling thread asks for a view that writes, in the place of tiles with these rows: a view or region of any of
  /// them waits from now on for the views of them that are held.
  void note_writer(const row_interval& rows);
  /// A region was submitted that uses the array; one that has it cut in another way counts as one that writes.
  void note_region(bool writes) noexcept { counter(writes)->fetch_add(1, std::memory_order_relaxed); }
  /// What counts the uses of the array that may write it, or those that only read it: a replay counts there, too.
  const std::shared_ptr<std::atomic<std::uint64_t>>& counter(bool writes) const noexcept {
    return writes ? m_writes : m_reads;
  }

 private:
  struct view {
    std::thread::id holder;
    row_interval rows;
    intent how;
    std::uint64_t reads, writes;  // by regions and replays before it
    row_interval awaited;         // a use of these rows waits for a view of another thread, which waits for this one
  };
  struct views {
    std::mutex mutex;
    std::list<view> all;
    std::atomic<std::size_t> count{0};  // of them: where there are none, no lock is taken
  };
  std::uint64_t reads() const noexcept { return m_reads->load(std::memory_order_relaxed); }
  std::uint64_t writes() const noexcept { return m_writes->load(std::memory_order_relaxed); }

  const std::shared_ptr<views> m_views = std::make_shared<views>();  // views may outlive the array
  const std::shared_ptr<std::atomic<std::uint64_t>> m_reads = std::make_shared<std::atomic<std::uint64_t>>(),
                                                    m_writes = std::make_shared<std::atomic<std::uint64_t>>();
};

}  // namespace tessera::hierarchy
