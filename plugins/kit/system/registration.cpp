#include "plugins/kit/system/registration.hpp"

namespace tessera::kit {

bool registration_table::add(const void* pointer, std::uint64_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(pointer);
  const std::lock_guard lock(m_mutex);
  const auto after = m_ranges.lower_bound(begin);
  if (after != m_ranges.end() && after->first - begin < bytes) return false;
  if (after != m_ranges.begin()) {
    const auto before = std::prev(after);
    if (begin - before->first < before->second) return false;
  }
  m_ranges.emplace_hint(after, begin, bytes);
  return true;
}

bool registration_table::remove(const void* pointer) {
  const std::lock_guard lock(m_mutex);
  return m_ranges.erase(reinterpret_cast<std::uintptr_t>(pointer)) != 0;
}

}  // namespace tessera::kit
