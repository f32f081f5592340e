#include "hierarchy/policy/common_split.hpp"

#include <algorithm>

namespace tessera::hierarchy {
namespace {

constexpr double fading = 0.98, forgotten = 0.01;  // weights of members, from launch to launch

}  // namespace

/// The one that is launched counts one more, and all a little less.
void common_split::note_launch(const std::string& region, std::uint64_t n, std::span<const leaf_cost> costs) {
  for (auto& [name, m] : m_members) m.weight *= fading;
  std::erase_if(m_members, [](const auto& one) { return one.second.weight < forgotten; });
  if (m_members.size() >= most_members && !m_members.contains(region)) m_members.clear();
  member& mine = m_members[region];
  mine.costs.assign(costs.begin(), costs.end());
  mine.best = earliest_shares(n, costs);
  mine.weight += 1;
}

/// A leaf of which nothing is known takes as much more or less than in another region as a known one does.
std::vector<leaf_cost> common_split::guessed(std::span<const leaf_cost> costs) const {
  std::vector<leaf_cost> all(costs.begin(), costs.end());
  for (leaf_cost& unknown : all) {
    if (unknown.known()) continue;
    const auto k = static_cast<std::size_t>(&unknown - all.data());
    for (const auto& [name, other] : m_members) {
      double mine = 0, its = 0;
      for (std::size_t j = 0; j < costs.size(); ++j)
        if (costs[j].known() && other.costs[j].known())
          mine += costs[j].per_iteration, its += other.costs[j].per_iteration;
      if (its == 0 || !other.costs[k].known()) continue;
      unknown = {other.costs[k].fixed * mine / its, other.costs[k].per_iteration * mine / its};
      break;
    }
  }
  return all;
}

double common_split::seconds_of_all(const leaf_shares& shares) const {
  double seconds = 0;
  for (const auto& [name, m] : m_members) seconds += m.weight * seconds_of(shares, m.costs);
  return seconds;
}

/// The best one for all is that of a region, or near one: their time together has its edges where one of them changes
/// over from one leaf being last to another.
const leaf_shares& common_split::best_for_all() const {
  const leaf_shares* best = nullptr;
  double least = 0;
  for (const auto& [name, m] : m_members)
    if (const double seconds = seconds_of_all(m.best); best == nullptr || seconds < least)
      best = &m.best, least = seconds;
  return *best;
}

leaf_shares common_split::of(const std::string& region, std::uint64_t n, std::span<const leaf_cost> costs,
                             std::span<const double> moving) {
  if (std::ranges::none_of(costs, &leaf_cost::known)) return m_shares;
  const std::vector<leaf_cost> own = guessed(costs);
  m_moving.resize(own.size());
  std::ranges::transform(moving, m_moving, m_moving.begin(), [](double a, double b) { return std::max(a, b); });
  if (!std::ranges::all_of(own, &leaf_cost::known))
    return m_shares.empty() ? m_shares = earliest_shares(n, own) : m_shares;
  note_launch(region, n, own);
  const leaf_shares& best = best_for_all();
  if (m_shares.empty()) return m_shares = best;
  if (seconds_of_all(m_shares) <= 1.03 * seconds_of_all(best)) return m_shares;
  m_lost = std::max(m_lost + seconds_of(m_shares, own) - seconds_of(best, own), 0.0);
  if (m_lost < seconds_to_move(m_shares, best, m_moving)) return m_shares;
  m_lost = 0;
  return m_shares = best;
}

}  // namespace tessera::hierarchy
