#pragma once
// (policy, iterations, subtree) -> chunks. Pure: the same arguments give the same chunks.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/location/tree.hpp"
#include "hierarchy/policy/learning.hpp"
#include "hierarchy/policy/leaves.hpp"
#include "hierarchy/policy/policy.hpp"

namespace tessera::hierarchy {

/// Iteration ordinals [begin, end) for one leaf; never empty.
struct chunk {
  location::node_id leaf = location::no_node;
  std::uint64_t begin = 0, end = 0;
  friend bool operator==(const chunk&, const chunk&) = default;
};

/// What is known of a leaf, in the order of executing_leaves.
struct leaf_state {
  bool idle = true;
  double expected_finish = 0;  ///< seconds until the region would be done here (any)
  leaf_cost cost{};            ///< of this region there, as far as it is known (auto)
};

/// What a split may depend on besides the loop.
struct split_context {
  std::string region;                    ///< named in errors: "axpy at solver.cpp:40"
  std::span<const leaf_state> states{};  ///< empty: all idle, nothing measured; else one per leaf
  leaf_rule leaves = leaf_rule::cores;
  executors who = all_executors;                  ///< leaves that cannot run the region take no part
  std::span<const location::node_id> known = {};  ///< executing_leaves, where they are known
};

/// Splits iterations 0 .. n-1 over the leaves below `at`:
///  static      child k of c gets [floor(kn/c), floor((k+1)n/c)) of its parent's interval, down to the leaves
///  flatten     the same over all leaves at once
///  percentage  boundaries round(n cum / 100), the last is n; entry t goes to leaf t mod m; leaves beyond the list idle
///  range       counts instead of shares; their sum must be n
///  any         all to the first idle leaf, depth first; else to the one expected to finish first
///  auto        so that the last leaf is done as early as possible (earliest_shares); flatten while nothing is known
/// Chunks are in order of iterations, cover 0 .. n-1 exactly once, and empty ones are left out. Throws tessera::error
/// (kind configuration), naming the region: nothing executes below `at`, a list that does not fit, `runtime` not
/// resolved, a number of states other than 0 or that of the leaves.
std::vector<chunk> split(const policy& by, std::uint64_t n, const location::tree& tree, location::node_id at,
                         const split_context& context = {});

}  // namespace tessera::hierarchy
