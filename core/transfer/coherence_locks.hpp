#pragma once
// Locks of a task's blocks, taken together.
#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <span>

#include "core/block/record.hpp"

namespace tessera::transfer {

/// The execution-side locks of some blocks, each once, in the order of their slots: two tasks never wait for each
/// other.
class lock_set {
 public:
  explicit lock_set(std::span<const block::access> accesses) {
    for (const block::access& a : accesses) m_blocks.push_back(a.block);
    std::ranges::sort(m_blocks, {}, &block::record::slot);
    m_blocks.erase(std::unique(m_blocks.begin(), m_blocks.end()), m_blocks.end());
  }
  void lock() noexcept {
    for (block::record* b : m_blocks) b->lock.lock();
  }
  void unlock() noexcept {
    for (block::record* b : m_blocks) b->lock.unlock();
  }

 private:
  boost::container::small_vector<block::record*, 8> m_blocks;
};

}  // namespace tessera::transfer
