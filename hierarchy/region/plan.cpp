#include "hierarchy/region/plan.hpp"

namespace tessera::hierarchy {
namespace {

location::node_id memory_of(const location::tree& tree, location::node_id at) {
  while (!tree.at(at).properties.space && at != tree.root()) at = tree.at(at).parent;
  return at;
}

}  // namespace

std::vector<location::node_id> leaves_of_region(const location::tree& tree, location::node_id at,
                                                const executors& who) {
  return executing_leaves(tree, at, leaf_rule::teams, who);
}

plan plan_region(const policy& by, std::uint64_t n, const location::tree& tree, location::node_id at,
                 const std::string& region, std::span<const leaf_state> states, const executors& who) {
  plan made;
  made.leaves = leaves_of_region(tree, at, who);
  for (const chunk& share : split(by, n, tree, at, {region, states, leaf_rule::teams, who})) {
    const std::vector<location::node_id>& cores = tree.at(share.leaf).children;
    if (!is_team(tree, share.leaf)) {
      made.pieces.push_back({share.leaf, share.leaf, share.begin, share.end,
                             tree.at(share.leaf).properties.space.has_value(), memory_of(tree, share.leaf)});
      continue;
    }
    const std::uint64_t length = share.end - share.begin, count = cores.size();
    for (std::uint64_t k = 0; k < count; ++k) {
      const std::uint64_t begin = share.begin + length / count * k + length % count * k / count,
                          end = share.begin + length / count * (k + 1) + length % count * (k + 1) / count;
      if (begin < end) made.pieces.push_back({share.leaf, cores[k], begin, end, false, memory_of(tree, cores[k])});
    }
  }
  return made;
}

}  // namespace tessera::hierarchy
