#pragma once
// What launches took from their begin to their end, against what the costs of their leaves say: for the policy auto.
// Pure.
#include <array>
#include <cstddef>
#include <map>
#include <vector>

#include "hierarchy/policy/shares.hpp"

namespace tessera::hierarchy {

/// The cost of a leaf is that of its own work. What a launch takes beside it, such as borders that are copied each time
/// between the memories of its leaves, depends on which leaves take part. It is known of those that have taken part
/// together, and 0 of all others until they have. For one region.
class seen_splits {
 public:
  /// A launch was seen to take so long. @param expected  by the costs of its leaves
  void note(const leaf_shares& shares, double seconds, double expected);
  /// Seconds that these leaves take together beyond their costs. One look is believed; where there were two, the
  /// shorter one; where there were more, the middle one of the last three, so that one that was disturbed tells
  /// nothing.
  double beyond(const leaf_shares& shares) const;
  /// A launch with these shares that takes so long: a fiftieth of that is laid aside for every other set of leaves. Who
  /// has twice as much as it took beyond its costs is forgotten, and may be tried again: so these trials lose no more.
  void forgive(const leaf_shares& now, double seconds);

 private:
  using leaf_set = std::vector<bool>;  // which take part
  struct seen {
    std::array<double, 3> last{};  // seconds beyond the costs
    std::size_t count = 0;
    double saved = 0;
    double beyond() const;
  };
  static leaf_set set_of(const leaf_shares& shares);
  std::map<leaf_set, seen> m_all;
};

}  // namespace tessera::hierarchy
