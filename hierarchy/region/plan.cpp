#include "hierarchy/region/plan.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tessera::hierarchy {
namespace {

/// What does not fit is split finer than it must be, so that more of what is there can stay for the next region.
constexpr std::uint64_t finer = 4;

location::node_id memory_of(const location::tree& tree, location::node_id at) {
  while (!tree.at(at).properties.space && at != tree.root()) at = tree.at(at).parent;
  return at;
}

}  // namespace

std::vector<location::node_id> leaves_of_region(const location::tree& tree, location::node_id at,
                                                const executors& runners) {
  return executing_leaves(tree, at, leaf_rule::teams, runners);
}

plan plan_region(const policy& by, std::uint64_t n, const location::tree& tree, location::node_id at,
                 const std::string& region, std::span<const leaf_state> states, const executors& runners,
                 std::span<const location::node_id> leaves) {
  plan split_plan;
  if (leaves.empty())
    split_plan.leaves = leaves_of_region(tree, at, runners);
  else
    split_plan.leaves.assign(leaves.begin(), leaves.end());
  for (const chunk& share : split(by, n, tree, at, {region, states, leaf_rule::teams, runners, split_plan.leaves})) {
    const std::vector<location::node_id>& cores = tree.at(share.leaf).children;
    if (!is_team(tree, share.leaf)) {
      split_plan.pieces.push_back({share.leaf, share.leaf, share.begin, share.end,
                                   tree.at(share.leaf).properties.space.has_value(), memory_of(tree, share.leaf)});
      continue;
    }
    const std::uint64_t length = share.end - share.begin, count = cores.size();
    for (std::uint64_t k = 0; k < count; ++k) {
      const std::uint64_t begin = share.begin + length / count * k + length % count * k / count,
                          end = share.begin + length / count * (k + 1) + length % count * (k + 1) / count;
      if (begin < end)
        split_plan.pieces.push_back({share.leaf, cores[k], begin, end, false, memory_of(tree, cores[k])});
    }
  }
  return split_plan;
}

std::shared_ptr<const plan> as_one_task(std::shared_ptr<const plan> from) {
  if (from->pieces.size() < 2) return from;
  piece all = from->pieces.front();
  all.end = from->pieces.back().end;
  return std::make_shared<const plan>(plan{from->leaves, {all}});
}

std::shared_ptr<const plan> at_borders(std::shared_ptr<const plan> from, std::span<const std::uint64_t> borders) {
  if (from->pieces.empty()) return from;
  const std::uint64_t first = from->pieces.front().begin, last = from->pieces.back().end;
  const auto nearest = [&](std::uint64_t at) {
    if (at == first || at == last) return at;
    const auto next = std::ranges::lower_bound(borders, at);
    const std::uint64_t above = next != borders.end() ? *next : last,
                        below = next != borders.begin() ? *std::prev(next) : first;
    return at - below < above - at ? below : above;
  };
  std::vector<piece> pieces;
  for (piece p : from->pieces) {
    p.begin = nearest(p.begin), p.end = nearest(p.end);
    for (auto next = std::ranges::upper_bound(borders, p.begin); next != borders.end() && *next < p.end; ++next) {
      piece part = p;
      part.end = *next;
      pieces.push_back(part);
      p.begin = *next;
    }
    if (p.begin < p.end) pieces.push_back(p);
  }
  return std::make_shared<const plan>(plan{from->leaves, std::move(pieces)});
}

std::shared_ptr<const plan> fitted(std::shared_ptr<const plan> from, const memory_need& need,
                                   const std::function<std::uint64_t(location::node_id)>& limit) {
  const auto parts_of = [&](const piece& p) -> std::uint64_t {
    if (!p.on_device || need.per_iteration == 0) return 1;
    const std::uint64_t all = limit(p.at), length = p.end - p.begin;
    if (all / 2 <= need.of_all) return 1;
    const std::uint64_t room = (all - need.of_all) / 2;  // of one task
    if (room <= need.per_task || room - need.per_task < need.per_iteration) return 1;
    const std::uint64_t most = (room - need.per_task) / need.per_iteration;  // iterations of one task
    const std::uint64_t tasks = (length - 1) / most + 1;
    if (tasks > max_tasks_of_a_piece) return 1;
    return tasks == 1 ? 1 : std::min({tasks * finer, length, max_tasks_of_a_piece});
  };
  if (std::ranges::all_of(from->pieces, [&](const piece& p) { return parts_of(p) == 1; })) return from;
  std::vector<piece> pieces;
  for (const piece& p : from->pieces) {
    const std::uint64_t count = parts_of(p), length = p.end - p.begin;
    for (std::uint64_t k = 0; k < count; ++k) {
      piece part = p;
      part.begin = p.begin + length / count * k + length % count * k / count;
      part.end = p.begin + length / count * (k + 1) + length % count * (k + 1) / count;
      pieces.push_back(part);
    }
  }
  return std::make_shared<const plan>(plan{from->leaves, std::move(pieces)});
}

}  // namespace tessera::hierarchy
