#pragma once
// (iterations, what leaves take) -> shares, for the policy auto. Pure.
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "hierarchy/policy/learning.hpp"

namespace tessera::hierarchy {

/// Iterations of each leaf. They sum to those of the loop.
using leaf_shares = std::vector<std::uint64_t>;

/// The shares with which the last leaf is done as early as possible; a leaf whose fixed cost alone is above that time
/// gets none. One of which nothing is known counts as the mean of the others; where nothing is known at all, all get
/// the same. Leaves with much less than an equal part are left out while that costs no more than a fiftieth of the
/// time: taking part has costs beside the leaf's own, for borders, results and memory.
leaf_shares earliest_shares(std::uint64_t n, std::span<const leaf_cost> costs);

/// Seconds that the data take which move when shares become others. Data of an iteration that leaf k gets or gives up
/// take `per_iteration[k]` seconds: 0 where it works in the memory where the arrays are at home. What a leaf keeps
/// stays where it is, unless it keeps a part only: then all that it has comes home first.
double seconds_to_move(const leaf_shares& from, const leaf_shares& to, std::span<const double> per_iteration);

/// When the last leaf is done, in seconds. Leaves of which nothing is known do not count.
double seconds_of(const leaf_shares& shares, std::span<const leaf_cost> costs);

/// Decides when a leaf that gets no share is tried, so that one which has become faster is found. What trials are
/// expected to lose, with what moves for them and back, is at most a fiftieth of the time that the region took
/// meanwhile.
class trial_budget {
 public:
  /// Once per launch: gives a leaf without a share one, if it is its turn, and takes it from the others. It is as long
  /// as the leaf's fixed cost, so that both numbers are learnt. @param beyond  what such shares were seen to take
  /// beside the costs; null: nothing
  void apply(leaf_shares& shares, std::span<const leaf_cost> costs, std::span<const double> moving,
             const std::function<double(const leaf_shares&)>& beyond = nullptr);

 private:
  double m_seconds = 0;  // that may be lost
};

}  // namespace tessera::hierarchy
