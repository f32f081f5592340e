#include "core/schedule/device/memory_waiters.hpp"

#include <algorithm>
#include <functional>

namespace tessera::schedule {

void memory_waiters::add(std::uint64_t age) {
  const std::lock_guard guard(m_lock);
  m_ages.insert(std::ranges::lower_bound(m_ages, age, std::greater<>()), age);
}

void memory_waiters::remove(std::uint64_t age) {
  const std::lock_guard guard(m_lock);
  m_ages.erase(std::ranges::find(m_ages, age));
}

bool memory_waiters::empty() const {
  const std::lock_guard guard(m_lock);
  return m_ages.empty();
}

std::uint64_t memory_waiters::age_limit(std::size_t under_way) const {
  const std::lock_guard guard(m_lock);
  if (m_ages.empty()) return no_limit;
  return under_way + m_ages.size() >= m_depth || m_tried >= m_overtakes ? oldest() : no_limit;
}

void memory_waiters::note_tried(std::uint64_t age) {
  const std::lock_guard guard(m_lock);
  if (!m_ages.empty() && age > oldest()) ++m_tried;
}

void memory_waiters::note_served(std::uint64_t age) {
  const std::lock_guard guard(m_lock);
  if (m_ages.empty() || age <= oldest()) m_tried = 0;
}

}  // namespace tessera::schedule
