// Random edits on the tree and on a naive oracle (a parent array) must agree after every step.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <random>

#include "core/base/error.hpp"
#include "core/location/tree.hpp"

namespace tessera::location {
namespace {

struct oracle {
  std::vector<node_id> parent{no_node};
  std::vector<std::vector<node_id>> order{{}};  // children in order of attachment
  std::vector<bool> has_space{false};

  std::vector<node_id> up(node_id id) const {
    std::vector<node_id> path;
    for (; id != no_node; id = parent[id]) path.push_back(id);
    return path;
  }
  bool above(node_id a, node_id id) const {
    const auto path = up(id);
    return std::ranges::find(path, a) != path.end();
  }
  bool attached(node_id id) const { return up(id).back() == 0; }
  void cut(node_id id) {
    if (parent[id] != no_node) std::erase(order[parent[id]], id);
    parent[id] = no_node;
  }
  void tie(node_id id, node_id to) {
    parent[id] = to;
    order[to].push_back(id);
  }
  void collect_leaves(node_id id, std::vector<node_id>& out) const {
    if (order[id].empty()) out.push_back(id);
    for (const node_id child : order[id]) collect_leaves(child, out);
  }
};

bool refused(const std::function<void()>& edit) {
  try {
    edit();
  } catch (const error&) {
    return true;
  }
  return false;
}

TEST(tree_property, agrees_with_a_parent_array_under_random_edits) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::cout << "seed " << seed << '\n';
  std::mt19937 random(seed);
  const auto below = [&](std::size_t n) { return static_cast<node_id>(random() % n); };

  for (int round = 0; round < 20; ++round) {
    tree t([] {
      properties is;
      is.kind = kind::machine;
      is.name = "root";
      return is;
    }());
    oracle o;
    for (int step = 0; step < 400; ++step) {
      const auto n = o.parent.size();
      const node_id a = below(n), b = below(n);
      const auto epoch = t.epoch();
      bool expected_refusal = false, was_refused = false;
      switch (random() % 5) {
        case 0:
        case 1: {
          properties is;
          is.kind = random() % 3 ? kind::worker : kind::memory;
          is.name = "n" + std::to_string(n);
          const bool space = random() % 3 == 0;
          if (space) is.space = space_key{static_cast<std::uint32_t>(n), 0};
          ASSERT_EQ(t.add(a, is), n);
          o.parent.push_back(no_node);
          o.order.emplace_back();
          o.has_space.push_back(space);
          o.tie(static_cast<node_id>(n), a);
          break;
        }
        case 2:
          expected_refusal = a == 0 || o.parent[a] == no_node;
          was_refused = refused([&] { t.detach(a); });
          if (!expected_refusal) o.cut(a);
          break;
        case 3:
          expected_refusal = a == 0 || o.parent[a] != no_node || o.above(a, b);
          was_refused = refused([&] { t.attach(a, b); });
          if (!expected_refusal) o.tie(a, b);
          break;
        case 4:
          expected_refusal = a == 0 || o.above(a, b);
          was_refused = refused([&] { t.reparent(a, b); });
          if (!expected_refusal) {
            o.cut(a);
            o.tie(a, b);
          }
          break;
      }
      ASSERT_EQ(was_refused, expected_refusal) << "step " << step;
      ASSERT_EQ(t.epoch() > epoch, !expected_refusal);

      // Questions about random nodes.
      const node_id x = below(o.parent.size()), y = below(o.parent.size());
      const auto up_x = o.up(x), up_y = o.up(y);
      ASSERT_EQ(t.attached(x), o.attached(x));
      ASSERT_EQ(t.depth(x), up_x.size() - 1);
      ASSERT_EQ(t.is_ancestor(x, y), o.above(x, y));
      ASSERT_EQ(t.at(x).children, o.order[x]);
      std::vector<node_id> leaves;
      o.collect_leaves(x, leaves);
      ASSERT_EQ(t.leaves(x), leaves);
      std::size_t attached_count = 0;
      for (node_id i = 0; i < o.parent.size(); ++i) attached_count += o.attached(i);
      ASSERT_EQ(t.size(), attached_count);
      if (up_x.back() == up_y.back()) {
        const auto meet = std::ranges::find_first_of(up_x, up_y);
        ASSERT_EQ(t.common_ancestor(x, y), *meet);
        const auto edges = (meet - up_x.begin()) + (std::ranges::find(up_y, *meet) - up_y.begin());
        ASSERT_EQ(t.distance(x, y), static_cast<std::size_t>(edges));
      } else {
        ASSERT_TRUE(refused([&] { (void)t.common_ancestor(x, y); }));
      }
      std::vector<node_id> list{x, y, below(o.parent.size())};
      const node_id deepest = *std::ranges::max_element(list, {}, [&](node_id id) { return o.up(id).size(); });
      const bool chain =
          o.attached(deepest) && std::ranges::all_of(list, [&](node_id id) { return o.above(id, deepest); });
      ASSERT_EQ(t.most_common_descendant(list), chain ? std::optional(deepest) : std::nullopt);
      const auto own = std::ranges::find_if(up_x, [&](node_id id) { return o.has_space[id]; });
      ASSERT_EQ(t.memory_of(x), own == up_x.end() ? no_node : *own);
      // Following evictions upwards ends, whatever the shape.
      std::size_t hops = 0;
      for (node_id m = t.memory_of(x); m != no_node; m = t.parent_memory(m))
        ASSERT_LE(++hops, o.parent.size()) << "parent memories go in a circle";
    }
  }
}

}  // namespace
}  // namespace tessera::location
