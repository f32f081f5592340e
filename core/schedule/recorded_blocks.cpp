#include "core/schedule/recorded_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::schedule {

void recorded_blocks::follow(const task::recording& what) {
  const std::lock_guard guard(m_mutex);
  for (const task::recorded_block& b : what.blocks) m_users.emplace(b.block, &what);
  if (const auto broken = m_ended.find(&what);
      broken != m_ended.end()) {  // what was exchanged may have been the reason
    std::erase_if(broken->second, [&](const ended_block& one) {
      return std::ranges::find(what.blocks, one.block, &task::recorded_block::block) == what.blocks.end();
    });
    if (broken->second.empty()) m_ended.erase(broken);
  }
  m_used.store(m_users.size(), std::memory_order_relaxed);
  m_broken.store(m_ended.size(), std::memory_order_relaxed);
}

void recorded_blocks::leave(const task::recording& what) {
  const std::lock_guard guard(m_mutex);
  for (const task::recorded_block& b : what.blocks) {
    const auto [first, last] = m_users.equal_range(b.block);
    const auto use_of_it = std::find_if(first, last, [&](const auto& use) { return use.second == &what; });
    if (use_of_it != last) m_users.erase(use_of_it);
  }
  m_used.store(m_users.size(), std::memory_order_relaxed);
}

void recorded_blocks::forget(const task::recording& what) {
  leave(what);
  const std::lock_guard guard(m_mutex);
  m_ended.erase(&what);
  m_broken.store(m_ended.size(), std::memory_order_relaxed);
}

void recorded_blocks::ended(const block::record& block) {
  if (m_used.load(std::memory_order_relaxed) == 0) return;  // a recording that this thread does not know of yet
  const std::lock_guard guard(m_mutex);
  const auto [first, last] = m_users.equal_range(&block);
  if (first == last) return;
  const std::string name =
      block.from != nullptr ? fmt::format("array '{}'", block.from->array_name) : block::name_of(block);
  for (auto use = first; use != last; ++use) m_ended[use->second].push_back({&block, name});
  m_users.erase(first, last);  // another block may have the record later
  m_used.store(m_users.size(), std::memory_order_relaxed);
  m_broken.store(m_ended.size(), std::memory_order_relaxed);
}

std::string recorded_blocks::ended_array_of(const task::recording& what) const {
  if (m_broken.load(std::memory_order_relaxed) == 0) return {};
  const std::lock_guard guard(m_mutex);
  const auto found = m_ended.find(&what);
  return found != m_ended.end() ? found->second.front().name : std::string();
}

}  // namespace tessera::schedule
