#pragma once
// What a study varies: the points of its curve.
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::apps::study {

/// One point: an application with further arguments.
struct point {
  double x = 0;                        ///< on the axis: a percentage, or a number of workers or of leaves
  std::string label;                   ///< "60,40", "2 workers"
  std::vector<std::string> arguments;  ///< of the application: {"--policy", "percentage:60,40"}
};

/// In percent of the iterations.
struct share_range {
  double from = 0, to = 100, step = 10;
};

/// A sweep of shares: one leaf of so many gets `from`, `from` + `step`, ... up to `to`, and the others share the rest
/// evenly. Throws tessera::error (usage) when there is no second leaf, not 0 <= from <= to <= 100 and step > 0, or
/// where the sweep has more than 1001 points.
std::vector<point> shares_of_leaf(std::size_t leaf, std::size_t leaves, const share_range& range);

/// The policies of a list that was split at its commas: what begins with a digit goes on with the policy before it, as
/// in "percentage:30,70,static".
std::vector<std::string> policies_of(const std::vector<std::string>& pieces);

/// 1, 2, 4, ... and `most` workers.
std::vector<point> numbers_of_workers(std::uint32_t most);

/// The first leaf, the first two, ... all of them, with equal shares.
std::vector<point> numbers_of_leaves(std::size_t leaves);

/// A policy to compare with: on the axis nowhere.
point policy(const std::string& name);

}  // namespace tessera::apps::study
