#include "core/transfer/lost_blocks.hpp"

#include <utility>

namespace tessera::transfer {

void lost_blocks::note(block::record& block, std::shared_ptr<const block::failure> why) {
  const std::lock_guard guard(m_mutex);
  m_entries.push_back({&block, std::move(why)});
  m_count.fetch_add(1, std::memory_order_relaxed);
  m_any.store(true, std::memory_order_relaxed);
}

void lost_blocks::forget(const block::record& block) {
  if (!m_any.load(std::memory_order_relaxed)) return;
  const std::lock_guard guard(m_mutex);
  std::erase_if(m_entries, [&](const entry& e) { return e.block == &block; });
}

std::vector<lost_blocks::entry> lost_blocks::take() {
  if (!m_any.exchange(false, std::memory_order_relaxed)) return {};
  const std::lock_guard guard(m_mutex);
  return std::exchange(m_entries, {});
}

}  // namespace tessera::transfer
