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
  if (m_members.size() >= max_members && !m_members.contains(region)) m_members.clear();
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
  for (const auto& [name, m] : m_members) seconds += m.weight * m.seconds(shares);
  return seconds;
}

/// Without what was seen.
double common_split::costs_of_all(const leaf_shares& shares) const {
  double seconds = 0;
  for (const auto& [name, m] : m_members) seconds += m.weight * seconds_of(shares, m.costs);
  return seconds;
}

/// The best split with fewer leaves: each by itself, those where the arrays are at home, and the others.
leaf_shares common_split::best_of_fewer(std::uint64_t n, std::span<const leaf_cost> costs) const {
  leaf_shares best;
  const auto try_those = [&](const auto& takes_part) {
    std::vector<leaf_cost> some;
    for (std::size_t k = 0; k < costs.size(); ++k)
      if (takes_part(k)) some.push_back(costs[k]);
    if (some.empty()) return;
    const leaf_shares of_some = earliest_shares(n, some);
    leaf_shares tried(costs.size());
    for (std::size_t k = 0, next = 0; k < costs.size(); ++k)
      if (takes_part(k)) tried[k] = of_some[next++];
    if (best.empty() || seconds_of_all(tried) < seconds_of_all(best)) best = std::move(tried);
  };
  for (std::size_t one = 0; one < costs.size(); ++one) try_those([&](std::size_t k) { return k == one; });
  try_those([&](std::size_t k) { return m_moving[k] == 0; });
  try_those([&](std::size_t k) { return m_moving[k] > 0; });
  return best;
}

void common_split::saw(const std::string& region, const leaf_shares& shares, double seconds) {
  const auto found = m_members.find(region);
  if (found == m_members.end() || found->second.costs.size() != shares.size()) return;
  found->second.seen.note(shares, seconds, seconds_of(shares, found->second.costs));
}

double common_split::beyond(const std::string& region, const leaf_shares& shares) const {
  const auto found = m_members.find(region);
  return found != m_members.end() ? found->second.seen.beyond(shares) : 0;
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
  member& mine = m_members[region];
  mine.seen.forgive(m_shares, mine.seconds(m_shares));
  const double now = seconds_of_all(m_shares);
  if (now > 2 * costs_of_all(best)) {  // else none is so much faster, whatever was seen
    leaf_shares fewer = best_of_fewer(n, own);
    if (!fewer.empty() && seconds_of_all(best) < seconds_of_all(fewer)) fewer = best;
    if (now > costs_of_all(m_shares) && now > 2 * seconds_of_all(fewer)) {
      m_lost = 0;
      return m_shares = std::move(fewer);
    }
  }
  if (now <= 1.03 * seconds_of_all(best)) return m_shares;
  m_lost = std::max(m_lost + mine.seconds(m_shares) - mine.seconds(best), 0.0);
  if (m_lost < seconds_to_move(m_shares, best, m_moving)) return m_shares;
  m_lost = 0;
  return m_shares = best;
}

}  // namespace tessera::hierarchy
