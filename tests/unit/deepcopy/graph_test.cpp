// What a structure consists of: lists, trees, circles, shared memory, and the parts that paths name.
#include "hierarchy/deepcopy/graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/error_of.hpp"
#include "tests/unit/deepcopy/structures.hpp"

namespace deepcopy_test {
namespace {

using tessera::description;
using tessera::error_kind;
using tessera::paths;
using tessera::hierarchy::object_graph;
using tessera::test_support::message_of;
using testing::AllOf;
using testing::HasSubstr;

template <class T>
object_graph graph_of(T& root, const paths& parts = {}) {
  return object_graph(&root, tessera::detail::type_of<T>(), parts);
}
std::size_t pointers_that_lead_somewhere(const object_graph& g) {
  return static_cast<std::size_t>(
      std::ranges::count_if(g.pointers(), [](const auto& p) { return p.target.has_value(); }));
}

TEST(graph, of_a_list_has_every_object_and_array_once) {
  double first[3], third[5];
  link list[3];
  list[0] = {first, &list[1], nullptr, 3, 0};
  list[1] = {nullptr, &list[2], nullptr, 0, 1};
  list[2] = {third, nullptr, nullptr, 5, 2};
  const object_graph g = graph_of(list[0]);
  EXPECT_EQ(g.objects(), 3u);
  EXPECT_EQ(g.pieces().size(), 5u);  // three links, which lie side by side but were named one by one
  EXPECT_EQ(g.pointers().size(), 9u);
  EXPECT_EQ(pointers_that_lead_somewhere(g), 4u);
  EXPECT_EQ(g.scalars().size(), 6u);
  EXPECT_EQ(g.nominal_bytes(), 3 * (3 * 8 + 2 * 4) + 8 * 8u);
}

TEST(graph, of_a_ring_ends) {
  link ring[4];
  for (int k = 0; k < 4; ++k) ring[k] = {nullptr, &ring[(k + 1) % 4], &ring[0], 0, k};
  const object_graph g = graph_of(ring[0]);
  EXPECT_EQ(g.objects(), 4u);
  EXPECT_EQ(pointers_that_lead_somewhere(g), 8u);
}

/// Numbers are written back: one that lies over a pointer would take the original's along.
TEST(graph, of_numbers_that_cover_a_pointer_is_refused) {
  buffer small;
  small.p = small.inl, small.n = sizeof small.inl;
  EXPECT_EQ(graph_of(small).pieces().size(), 1u);  // its own buffer is no mistake
  small.n = 24;                                    // and runs on to `p`
  EXPECT_THAT(message_of([&] { (void)graph_of(small); }, error_kind::usage),
              AllOf(HasSubstr("the memory of 'p' of deepcopy_test::buffer (24 bytes) covers the pointer 'p' of "
                              "deepcopy_test::buffer, 16 bytes behind its begin"),
                    HasSubstr("hint: numbers are written back")));
  buffer_holder whole;
  whole.b.p = nullptr;
  EXPECT_THAT(message_of([&] { (void)graph_of(whole); }, error_kind::usage),
              HasSubstr("the memory of 'b' of deepcopy_test::buffer_holder (32 bytes) covers the pointer 'p' of "
                        "deepcopy_test::buffer_holder, 16 bytes behind its begin"));
}

TEST(graph, follows_long_lists_without_recursion) {
  std::vector<link> list(200'000);
  for (std::size_t k = 0; k + 1 < list.size(); ++k) list[k].next = &list[k + 1];
  EXPECT_EQ(graph_of(list[0]).objects(), list.size());
}

TEST(graph, of_shared_memory_has_it_once) {
  double table[8], own[2];
  table_user left{table, own, 8, 2, 0}, right{table, own, 5, 2, 0};  // the second one sees less of it
  table_users both{&left, &right};
  const object_graph g = graph_of(both);
  EXPECT_EQ(g.objects(), 3u);
  EXPECT_EQ(g.pieces().size(), 5u);
  EXPECT_EQ(pointers_that_lead_somewhere(g), 6u);
  const auto at = g.find(table);
  ASSERT_TRUE(at);
  EXPECT_EQ(g.pieces()[at->piece].bytes, sizeof table);
  EXPECT_TRUE(g.pieces()[at->piece].constant);
  EXPECT_FALSE(g.pieces()[g.find(own)->piece].constant);
}

TEST(graph, pointers_may_lead_into_arrays_of_objects) {
  branch children[3], root;
  root.children = children;
  root.child_count = 3;
  for (branch& c : children) c.parent = &root;
  children[0].parent = &children[2];
  const object_graph g = graph_of(root);
  EXPECT_EQ(g.objects(), 4u);
  EXPECT_EQ(g.pieces().size(), 2u);
  const auto at = g.find(&children[2]);
  EXPECT_EQ(at->offset, 2 * sizeof(branch));
}

TEST(graph, the_root_may_be_part_of_an_array) {
  branch all[2];
  all[1].parent = &all[0];
  all[0].children = all;
  all[0].child_count = 2;
  const object_graph g = graph_of(all[1]);
  EXPECT_EQ(g.pieces().size(), 1u);
  EXPECT_EQ(g.root().offset, sizeof(branch));
}

TEST(graph, empty_arrays_are_nothing) {
  double somewhere[1];
  link l{somewhere, nullptr, nullptr, 0, 0};
  const object_graph g = graph_of(l);
  EXPECT_EQ(g.pieces().size(), 1u);
  EXPECT_EQ(pointers_that_lead_somewhere(g), 0u);
}

// ---- paths
// ------------------------------------------------------------------------------------------------------------

struct tree : testing::Test {
  float weights[3][2] = {};
  branch children[3], grandchild, root;
  tree() {
    root.children = children, root.child_count = 3;
    for (int k = 0; k < 3; ++k) children[k].weights = weights[k], children[k].weight_count = 2;
    children[1].children = &grandchild, children[1].child_count = 1;
  }
};

TEST_F(tree, a_path_copies_its_leaf_and_what_leads_there) {
  const object_graph g = graph_of(root, {"children[1].weights"});
  EXPECT_EQ(g.pieces().size(), 3u);
  EXPECT_TRUE(g.find(weights[1]));
  EXPECT_FALSE(g.find(weights[0]));
  EXPECT_FALSE(g.find(&grandchild));
  EXPECT_EQ(pointers_that_lead_somewhere(g), 2u);
}

TEST_F(tree, a_star_and_no_index_mean_all_elements) {
  for (const char* path : {"children[*].weights", "children.weights"}) {
    const object_graph g = graph_of(root, {path});
    EXPECT_EQ(g.pieces().size(), 5u) << path;
    EXPECT_FALSE(g.find(&grandchild)) << path;
  }
}

TEST_F(tree, a_path_that_ends_at_an_object_means_all_below_it) {
  const object_graph g = graph_of(root, {"children[1]"});
  EXPECT_TRUE(g.find(&grandchild));
  EXPECT_TRUE(g.find(weights[1]));
  EXPECT_FALSE(g.find(weights[2]));
}

TEST_F(tree, several_paths_add_up) {
  const object_graph g = graph_of(root, {"children[0].weights", "children[2].weights", "child_count"});
  EXPECT_TRUE(g.find(weights[0]));
  EXPECT_FALSE(g.find(weights[1]));
  EXPECT_TRUE(g.find(weights[2]));
}

TEST(graph_paths, an_object_on_two_paths_has_both_parts) {
  double a[1], b[1];
  table_user user{a, b, 1, 1, 0};
  table_users both{&user, &user};
  const object_graph g = graph_of(both, {"left.table", "right.own"});
  EXPECT_TRUE(g.find(a));
  EXPECT_TRUE(g.find(b));
}

// ---- refused
// ----------------------------------------------------------------------------------------------------------

struct tree_refused : tree {
  std::string refused(const char* path) {
    return message_of([&] { graph_of(root, {path}); }, error_kind::usage);
  }
};

TEST_F(tree_refused, paths_that_are_none) {
  EXPECT_THAT(refused(""), HasSubstr("at character 1 the name of a member was expected"));
  EXPECT_THAT(refused("children."), HasSubstr("at character 10"));
  EXPECT_THAT(refused("children[x]"), HasSubstr("an index, or *"));
  EXPECT_THAT(refused("children[-1]"), HasSubstr("an index, or *"));
  EXPECT_THAT(refused("children[1"), HasSubstr("']' was expected"));
  EXPECT_THAT(refused("children[1]x"), HasSubstr("'.', '[' or the end"));
  EXPECT_THAT(message_of([&] { graph_of(root, paths(std::vector<std::string>{})); }, error_kind::usage),
              HasSubstr("copies nothing"));
}

TEST_F(tree_refused, members_that_do_not_exist) {
  EXPECT_THAT(refused("childen[1].weights"), HasSubstr("branch describes no member 'childen'"));
  EXPECT_THAT(refused("childen[1].weights"), HasSubstr("did you mean 'children'?"));
  EXPECT_THAT(refused("children[1].zzz"), HasSubstr("its members: children, parent, weights"));
}

TEST_F(tree_refused, elements_that_do_not_exist) {
  EXPECT_THAT(refused("children[3].weights"), HasSubstr("path 'children[3]': there is no element 3"));
  EXPECT_THAT(refused("children[3].weights"), HasSubstr("the array has 3 elements"));
}

TEST_F(tree_refused, what_goes_on_behind_the_end) {
  EXPECT_THAT(refused("children[1].weights.x"),
              HasSubstr("goes on behind 'children[1].weights', which has no members"));
  EXPECT_THAT(refused("child_count.x"), HasSubstr("has no members"));
  EXPECT_THAT(refused("parent.weights"), HasSubstr("the pointer is null"));
}

TEST(graph_refused, memory_that_overlaps_in_part) {
  double values[10];
  table_user left{values, nullptr, 6, 0, 0}, right{values + 4, nullptr, 6, 0, 0};
  table_users both{&left, &right};
  EXPECT_THAT(message_of([&] { graph_of(both); }, error_kind::usage), HasSubstr("overlaps that of 'table' of"));
}

TEST(graph_refused, a_count_below_zero) {
  double values[1];
  link l{values, nullptr, nullptr, -2, 0};
  EXPECT_THAT(message_of([&] { graph_of(l); }, error_kind::usage), HasSubstr("'values' has -2 elements"));
}

struct many_values {
  double* values = nullptr;
  std::int64_t count = 0;
};
void describe(many_values& m, description& to) { to.array("values", m.values, m.count); }

TEST(graph_refused, more_elements_than_a_memory_has) {
  double values[1];
  for (const std::int64_t count : {(std::int64_t{1} << 61) + 1, std::int64_t{1} << 61, std::int64_t{1} << 44}) {
    many_values m{values, count};
    EXPECT_THAT(message_of([&] { graph_of(m); }, error_kind::usage),
                HasSubstr("'values' has " + std::to_string(count) + " elements of 8 bytes"));
  }
}

struct stray {
  std::int32_t number = 0;
};
std::int32_t outside = 0;
void describe(stray&, description& to) { to.scalar("outside", outside); }

TEST(graph_refused, a_member_of_something_else) {
  stray s;
  EXPECT_THAT(message_of([&] { graph_of(s); }, error_kind::usage), HasSubstr("'outside' is no member of the object"));
}

}  // namespace
}  // namespace deepcopy_test
