#include "hierarchy/region/picture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::hierarchy {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// A machine with two leaves.
struct pictured {
  pictured() : tree(named("machine")) {
    left = tree.add(tree.root(), named("left"));
    right = tree.add(tree.root(), named("right"));
  }
  static location::properties named(const char* name) {
    location::properties p;
    p.name = name;
    return p;
  }
  /// The line of a location in the text.
  std::string line(const std::string& name, const std::vector<located_array>& arrays,
                   const std::vector<region_row>& regions) const {
    const std::string text = picture(tree, arrays, regions, tree_form::text);
    const std::size_t at = text.find(name);
    return text.substr(at, text.find('\n', at) - at);
  }
  location::tree tree;
  location::node_id left, right;
};

region_row row(const std::string& name, std::vector<region_share> shares) {
  region_row r;
  r.name = name;
  for (const region_share& s : shares) r.iterations += s.iterations;
  r.shares = std::move(shares);
  return r;
}

TEST(picture, has_arrays_where_they_are_and_shares_at_the_leaves) {
  const pictured p;
  const std::vector<located_array> arrays{
      {"x", 80'000'000, p.tree.root()}, {"y", 2048, p.tree.root()}, {"z", 4, p.left}};
  const std::vector<region_row> rows{row("triad", {{"left", 75, 1}, {"right", 25, 1}}), row("dot", {{"right", 7, 1}})};
  EXPECT_THAT(p.line("machine", arrays, rows), AllOf(HasSubstr("x 76.3 MiB, y 2 KiB"), Not(HasSubstr("triad"))));
  EXPECT_THAT(p.line("left", arrays, rows), HasSubstr("z 4 B; triad 75 %"));
  EXPECT_THAT(p.line("right", arrays, rows), HasSubstr("triad 25 %, dot 100 %"));
}

TEST(picture, adds_up_the_pieces_of_a_leaf) {
  const pictured p;
  EXPECT_THAT(p.line("left", {}, {row("r", {{"left", 30, 1}, {"right", 50, 1}, {"left", 20, 1}})}),
              HasSubstr("r 50 %"));
}

TEST(picture, counts_what_is_too_much_to_name) {
  const pictured p;
  std::vector<located_array> arrays;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) arrays.push_back({name, 1, p.left});
  EXPECT_THAT(p.line("left", arrays, {}), HasSubstr("a 1 B, b 1 B, c 1 B, d 1 B and 2 more"));
}

TEST(picture, passes_by_empty_regions_and_leaves_that_have_left) {
  const pictured p;
  const std::string text =
      picture(p.tree, {}, std::vector{row("none", {}), row("gone", {{"nowhere", 3, 1}})}, tree_form::text);
  EXPECT_THAT(text, AllOf(Not(HasSubstr("none")), Not(HasSubstr("gone"))));
}

TEST(picture, has_all_forms) {
  const pictured p;
  const std::vector<located_array> arrays{{"x", 8, p.left}};
  const auto drawn = [&](tree_form form) { return picture(p.tree, arrays, {}, form); };
  EXPECT_THAT(drawn(tree_form::svg), AllOf(HasSubstr("<svg"), HasSubstr("x 8 B")));
  EXPECT_THAT(drawn(tree_form::dot), AllOf(HasSubstr("digraph"), HasSubstr("x 8 B")));
  EXPECT_THAT(drawn(tree_form::json), AllOf(HasSubstr("\"note\""), HasSubstr("x 8 B")));
}

}  // namespace
}  // namespace tessera::hierarchy
