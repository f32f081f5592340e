#pragma once
// One split for all regions that go over the same arrays, with the policy auto. Pure.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "hierarchy/policy/seen_splits.hpp"
#include "hierarchy/policy/shares.hpp"

namespace tessera::hierarchy {

/// Regions that take turns with the same arrays, each with the split that is best for it alone, would move them at each
/// turn. So there is one split, by what all of them take together, each counted as often as it was launched of late. It
/// changes when it is not nearly the best (3 %) any more, and when what has been lost meanwhile is as much as the move
/// takes: so what is lost and moved is at most about twice what could not have been avoided.
///
/// What launches were seen to take beyond the costs of their leaves counts too, and a split that was seen to be twice
/// as slow as the best known one is left at once.
///
/// For one number of iterations and one list of leaves.
class common_split {
 public:
  /// The shares of a launch; none where nothing is known of this region or of others. @param costs  what the region
  /// takes on the leaves  @param moving  see seconds_to_move
  leaf_shares of(const std::string& region, std::uint64_t n, std::span<const leaf_cost> costs,
                 std::span<const double> moving);
  /// A launch of a region with these shares was seen to take so long from its begin to its end. Its arrays were where
  /// it needed them, for the launch before it had the same shares; or it was a trial.
  void saw(const std::string& region, const leaf_shares& shares, double seconds);
  /// What was seen of the leaves with a share: seconds beyond their costs.
  double beyond(const std::string& region, const leaf_shares& shares) const;
  /// The same costs, and those of leaves of which nothing is known by what other regions take there, if that can be.
  std::vector<leaf_cost> guessed(std::span<const leaf_cost> costs) const;

 private:
  struct member {
    std::vector<leaf_cost> costs;
    leaf_shares best;  // for it alone
    seen_splits seen;
    double seconds(const leaf_shares& shares) const { return seconds_of(shares, costs) + seen.beyond(shares); }
    double weight = 0;
  };
  static constexpr std::size_t max_members = 32;
  void note_launch(const std::string& region, std::uint64_t n, std::span<const leaf_cost> costs);
  double seconds_of_all(const leaf_shares& shares) const;
  double costs_of_all(const leaf_shares& shares) const;
  const leaf_shares& best_for_all() const;
  leaf_shares best_of_fewer(std::uint64_t n, std::span<const leaf_cost> costs) const;

  std::map<std::string, member> m_members;  // by region
  leaf_shares m_shares;                     // of the last launch; empty: there was none
  std::vector<double> m_moving;             // of the region with the most arrays
  double m_lost = 0;                        // seconds, against the best split, since they changed
};

}  // namespace tessera::hierarchy
