#pragma once
// Which threads of the program hold views of an array, so that none waits for itself.
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

/// The views of one array. Its owner locks for `check`, `here`, `add` and the notes of regions; views end at any time.
class view_ledger {
 public:
  /// Throws tessera::error (usage) where a view of these rows would wait for one that the calling thread holds: they
  /// conflict, or a region in between conflicts with both. @param array  for messages
  void check(const row_interval& rows, intent how, const std::string& array, std::source_location site) const;
  /// Whether the calling thread holds a view of any of these rows.
  bool here(const row_interval& rows) const;
  /// The calling thread holds a view of these rows until it lets go of what this returns.
  std::shared_ptr<const void> add(const row_interval& rows, intent how);
  /// A region was submitted that uses the array; one that has it cut in another way counts as one that writes.
  void note_region(bool writes) noexcept { ++(writes ? m_writes : m_reads); }

 private:
  struct view {
    std::thread::id holder;
    row_interval rows;
    intent how;
    std::uint64_t reads, writes;  // of regions before it
  };
  struct views {
    std::mutex mutex;
    std::list<view> all;
  };
  const std::shared_ptr<views> m_views = std::make_shared<views>();  // views may outlive the array
  std::uint64_t m_reads = 0, m_writes = 0;
};

}  // namespace tessera::hierarchy
