#include "hierarchy/region/launch_span.hpp"

namespace tessera::hierarchy {

/// A launch that begins before the one ahead of it has ended is counted from there: so the sum of all is no more than
/// the time that passes.
void seen_launches::note(std::string&& region, leaf_shares&& shares, std::int64_t first, std::int64_t last) noexcept {
  const std::lock_guard guard(m_lock);
  const std::int64_t begin = std::max(first, m_last_end);
  m_last_end = std::max(m_last_end, last);
  if (last <= begin || m_fresh.size() >= most) return;
  m_fresh.push_back({std::move(region), std::move(shares), static_cast<double>(last - begin) * 1e-9});
}

}  // namespace tessera::hierarchy
