#include "hierarchy/policy/seen_splits.hpp"

#include <algorithm>

namespace tessera::hierarchy {

seen_splits::leaf_set seen_splits::set_of(const leaf_shares& shares) {
  leaf_set set(shares.size());
  for (std::size_t k = 0; k < shares.size(); ++k) set[k] = shares[k] > 0;
  return set;
}

double seen_splits::seen::beyond() const {
  std::array<double, 3> sorted = last;
  const std::size_t known = std::min(count, sorted.size());
  std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(known));
  return known == 0 ? 0 : sorted[known == 3 ? 1 : 0];
}

void seen_splits::note(const leaf_shares& shares, double seconds, double expected) {
  constexpr std::size_t max_sets = 64;
  const leaf_set set = set_of(shares);
  if (m_all.size() >= max_sets && !m_all.contains(set)) m_all.clear();
  seen& of = m_all[set];
  of.last[of.count % of.last.size()] = std::max(seconds - expected, 0.0);
  ++of.count;
}

double seen_splits::beyond(const leaf_shares& shares) const {
  if (m_all.empty()) return 0;
  const auto found = m_all.find(set_of(shares));
  return found != m_all.end() ? found->second.beyond() : 0;
}

void seen_splits::forgive(const leaf_shares& now, double seconds) {
  if (m_all.empty()) return;
  const leaf_set mine = set_of(now);
  for (auto& [set, other] : m_all)
    if (set != mine) other.saved += seconds / 50;
  std::erase_if(m_all,
                [&](const auto& one) { return one.first != mine && one.second.saved >= 2 * one.second.beyond(); });
}

}  // namespace tessera::hierarchy
