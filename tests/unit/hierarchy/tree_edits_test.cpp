// The pure parts of edits: trees arranged as others by names, and places by distance.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "hierarchy/region/cuts.hpp"
#include "hierarchy/region/place.hpp"
#include "hierarchy/region/tree_edits.hpp"
#include "tests/support/error_of.hpp"

namespace tessera::hierarchy {
namespace {

using location::node_id;
using test_support::message_of;

location::properties node_of_kind(location::kind what, std::string name, std::uint32_t device = 0) {
  location::properties p;
  p.kind = what;
  p.name = std::move(name);
  if (what == location::kind::worker) p.space = location::space_key{device, 0}, p.device = device;
  return p;
}

/// machine { A { d1 }, B { d2 } }
struct arranged_trees : testing::Test {
  using enum location::kind;
  location::tree t{node_of_kind(machine, "machine")};
  node_id a = t.add(0, node_of_kind(virtual_group, "A")), b = t.add(0, node_of_kind(virtual_group, "B"));
  node_id d1 = t.add(a, node_of_kind(worker, "d1", 1)), d2 = t.add(b, node_of_kind(worker, "d2", 2));

  static std::vector<std::string> paths(const location::tree& of) {
    std::vector<std::string> all;
    for (const node_id id : of.subtree(of.root())) all.push_back(of.path(id));
    return all;
  }
};

using path_list = std::vector<std::string>;

TEST_F(arranged_trees, are_as_wanted_with_the_numbers_of_before) {
  location::tree wanted{node_of_kind(machine, "whatever")};
  const node_id n = wanted.add(0, node_of_kind(virtual_group, "New"));
  const node_id bb = wanted.add(n, node_of_kind(virtual_group, "B"));
  wanted.add(bb, node_of_kind(worker, "d1", 1));
  wanted.add(bb, node_of_kind(virtual_group, "A"));
  const location::tree next = arranged(t, wanted);
  EXPECT_EQ(paths(next), (path_list{"machine", "machine/New", "machine/New/B", "machine/New/B/d1", "machine/New/B/A"}));
  EXPECT_EQ(next.find("A"), a);
  EXPECT_EQ(next.find("d1"), d1);
  EXPECT_FALSE(next.attached(d2));
  EXPECT_EQ(paths(arranged(next, t)), paths(t));  // back again, though a parent and its child change places
  EXPECT_EQ(paths(t), (path_list{"machine", "machine/A", "machine/A/d1", "machine/B", "machine/B/d2"}));
}

TEST_F(arranged_trees, keep_what_hangs_below_what_leaves) {
  location::tree wanted{node_of_kind(machine, "machine")};
  wanted.add(0, node_of_kind(virtual_group, "A"));
  const location::tree next = arranged(t, wanted);
  EXPECT_EQ(paths(next), (path_list{"machine", "machine/A"}));
  EXPECT_EQ(next.path(d2), "B/d2");  // detached as a branch
  EXPECT_EQ(next.path(d1), "d1");
}

TEST_F(arranged_trees, refuse_other_things_under_known_names) {
  const auto with = [&](location::properties p) {
    location::tree wanted{node_of_kind(machine, "machine")};
    wanted.add(0, std::move(p));
    return message_of([&] { (void)arranged(t, wanted); });
  };
  EXPECT_NE(with(node_of_kind(worker, "d3", 3)).find("there is no 'd3' in this run"), std::string::npos);
  EXPECT_NE(with(node_of_kind(worker, "d1", 2)).find("location 'd1' would be another device"), std::string::npos);
  EXPECT_NE(with(node_of_kind(worker, "A", 1)).find("'A' is of kind virtual in this run, and would be of kind worker"),
            std::string::npos);
  EXPECT_NE(with(node_of_kind(virtual_group, "d1")).find("'d1' is of kind worker"), std::string::npos);
}

TEST_F(arranged_trees, place_by_distance) {
  EXPECT_EQ(location_around(t, std::vector<node_id>{d1}, b), d1);
  EXPECT_EQ(location_around(t, std::vector<node_id>{d1, d2}, b), t.root());
  EXPECT_EQ(location_around(t, std::vector<node_id>{}, b), b);
  EXPECT_EQ(ancestor_of(t, d1, 0), d1);
  EXPECT_EQ(ancestor_of(t, d1, 1), a);
  EXPECT_EQ(ancestor_of(t, d1, 2), t.root());
  EXPECT_EQ(ancestor_of(t, d1, 7), t.root());
}

TEST(cuts, leave_out_ends_inside) {
  EXPECT_EQ(without_ends_inside({1, 3, 5, 9}, {1, 5}), (std::vector<std::int64_t>{1, 5, 9}));
  EXPECT_EQ(without_ends_inside({1, 3, 5, 9}, {5, 5}), (std::vector<std::int64_t>{1, 3, 5, 9}));
}

}  // namespace
}  // namespace tessera::hierarchy
