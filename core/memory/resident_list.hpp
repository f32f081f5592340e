#pragma once
// The blocks that have a replica in a memory.
#include <algorithm>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "core/block/record.hpp"

namespace tessera::memory {

/// For choosing victims. Thread-safe.
class resident_list {
 public:
  struct resident {
    block::record* block = nullptr;
    std::uint64_t arrival = 0;  ///< order in which they came
  };

  /// With the block's lock held; once is enough.
  void add(block::record& block) {
    const std::lock_guard guard(m_mutex);
    if (block.slot >= m_places.size()) m_places.resize(std::max<std::size_t>(block.slot + 1, 2 * m_places.size()));
    std::uint32_t& place = m_places[block.slot];
    if (place != 0) return;
    m_all.push_back({&block, ++m_arrivals});
    place = static_cast<std::uint32_t>(m_all.size());
  }
  /// Likewise. Nothing happens where it is not there.
  void remove(block::record& block) {
    const std::lock_guard guard(m_mutex);
    if (block.slot >= m_places.size() || m_places[block.slot] == 0) return;
    const std::uint32_t place = std::exchange(m_places[block.slot], 0);
    if (place != m_all.size()) {
      m_all[place - 1] = m_all.back();
      m_places[m_all[place - 1].block->slot] = place;
    }
    m_all.pop_back();
  }
  std::vector<resident> all() const {
    const std::lock_guard guard(m_mutex);
    return m_all;
  }
  /// Calls visit(block) for each; nobody comes or goes meanwhile.
  template <class Visit>
  void for_each(Visit&& visit) const {
    const std::lock_guard guard(m_mutex);
    for (const resident& r : m_all) visit(*r.block);
  }

 private:
  mutable std::mutex m_mutex;
  std::vector<resident> m_all;
  std::uint64_t m_arrivals = 0;
  std::vector<std::uint32_t> m_places;  // by the block's slot in the table: its place in m_all, from 1; 0: not there
};

}  // namespace tessera::memory
