// The tree while regions run, whose memory a range is, and the rows around those that a task has declared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <source_location>
#include <string>
#include <vector>

#include "hierarchy/region/adopted_ranges.hpp"
#include "hierarchy/region/cuts.hpp"
#include "hierarchy/region/live_tree.hpp"
#include "hierarchy/region/surroundings.hpp"
#include "tests/support/error_of.hpp"

namespace tessera::hierarchy {
namespace {

using std::source_location;
using test_support::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// machine { left { l0 }, right { r0 } }
struct edited_tree {
  static location::properties named(location::kind kind, const std::string& name) {
    location::properties p;
    p.kind = kind;
    p.name = name;
    return p;
  }
  location::tree t{named(location::kind::machine, "machine")};
  location::node_id left = t.add(0, named(location::kind::virtual_group, "left")),
                    l0 = t.add(left, named(location::kind::worker, "l0")),
                    right = t.add(0, named(location::kind::virtual_group, "right")),
                    r0 = t.add(right, named(location::kind::worker, "r0"));
  live_tree live{t};
  /// The tree as it is now, without a location.
  location::tree without(location::node_id gone) const {
    location::tree next = *live.now();
    next.detach(gone);
    return next;
  }
};

TEST(live_tree, finds_attached_locations_by_their_names) {
  edited_tree e;
  EXPECT_EQ(e.live.at("l0"), e.l0);
  const error unknown = error_of([&] { (void)e.live.at("lefd", "array 'x'"); });
  EXPECT_EQ(unknown.kind(), error_kind::usage);
  EXPECT_EQ(unknown.message(), "there is no location 'lefd'");
  EXPECT_EQ(unknown.where(), "array 'x'");
  EXPECT_THAT(unknown.what(), HasSubstr("did you mean 'left'?"));
  (void)e.live.replace(e.without(e.left), source_location::current());
  const error gone = error_of([&] { (void)e.live.at("l0"); });
  EXPECT_EQ(gone.message(), "location 'l0' is detached");
  EXPECT_THAT(gone.what(), HasSubstr("attach it first"));
}

TEST(live_tree, what_was_looked_at_never_changes) {
  edited_tree e;
  const auto before = e.live.now();
  (void)e.live.replace(e.without(e.right), source_location::current());
  EXPECT_TRUE(before->attached(e.right));
  EXPECT_FALSE(e.live.now()->attached(e.right));
}

TEST(live_tree, memory_moves_up_with_an_edit_and_back_when_that_is_taken_back) {
  edited_tree e;
  const auto claim = e.live.claim("x", 8, e.l0, false, source_location::current());
  const auto before = e.live.replace(e.without(e.left), source_location::current());
  EXPECT_EQ(claim->at, 0u);
  EXPECT_EQ(e.live.parent_before(e.left), 0u);
  EXPECT_EQ(e.live.parent_before(e.right), location::no_node) << "it never left";
  e.live.restore(before);
  EXPECT_EQ(claim->at, e.l0);
  EXPECT_TRUE(e.live.now()->attached(e.l0));
}

TEST(live_tree, what_an_edit_has_added_is_known_but_gone_when_it_is_taken_back) {
  edited_tree e;
  location::tree next = *e.live.now();
  const location::node_id fresh = next.add(e.left, edited_tree::named(location::kind::virtual_group, "fresh"));
  const auto before = e.live.replace(next, source_location::current());
  EXPECT_EQ(e.live.at("fresh"), fresh);
  e.live.restore(before);
  EXPECT_EQ(e.live.now()->known(), next.known()) << "somebody may have seen its number";
  EXPECT_FALSE(e.live.now()->attached(fresh));
}

TEST(live_tree, an_edit_that_would_bring_too_much_to_a_location_changes_nothing) {
  edited_tree e;
  e.t.edit(e.right).declared_bytes = 100;
  live_tree live(e.t);
  const auto there = live.claim("there", 60, e.r0, false, source_location::current());
  const auto coming = live.claim("coming", 60, e.l0, false, source_location::current());
  location::tree next = *live.now();
  next.reparent(e.left, e.right);
  const error refused = error_of([&] { (void)live.replace(next, source_location::current()); });
  EXPECT_EQ(refused.kind(), error_kind::memory);
  EXPECT_THAT(refused.message(), HasSubstr("would come below location 'right', and of the 100 B of memory"));
  EXPECT_EQ(live.now()->at(e.left).parent, 0u);
  EXPECT_EQ(coming->at, e.l0);
}

TEST(live_tree, a_claim_that_is_refused_counts_nowhere) {
  edited_tree e;
  e.t.edit(e.right).declared_bytes = 100;
  live_tree live(e.t);
  EXPECT_THROW((void)live.claim("x", 101, e.r0, false, source_location::current()), error);
  EXPECT_NO_THROW((void)live.claim("x", 100, e.r0, false, source_location::current()));
}

TEST(live_tree, work_on_a_location_is_one_thing_for_all_who_ask) {
  edited_tree e;
  EXPECT_THAT(e.live.works_at({e.l0, e.r0}), IsEmpty()) << "there never was any";
  std::shared_ptr<leaf_work> work;
  {
    const std::lock_guard steady(e.live);
    work = e.live.work_at(e.l0);
    EXPECT_EQ(e.live.work_at(e.l0), work);
    EXPECT_NE(e.live.work_at(e.r0), work);
  }
  EXPECT_THAT(e.live.works_at({e.l0, 99}), ElementsAre(work));
}

TEST(live_tree, recordings_that_have_ended_have_no_tasks_anywhere) {
  edited_tree e;
  auto recording = std::make_shared<const char>();
  {
    const std::lock_guard steady(e.live);
    e.live.work_at(e.l0)->note_recorded(recording);
    for (int k = 0; k < 10; ++k) e.live.work_at(e.l0)->note_recorded(std::make_shared<const char>());
    EXPECT_LE(e.live.work_at(e.l0)->recordings.size(), 2u) << "those that ended are left out";
  }
  EXPECT_TRUE(e.live.any_recorded({e.r0, e.l0}));
  EXPECT_FALSE(e.live.any_recorded({e.r0}));
  recording.reset();
  EXPECT_FALSE(e.live.any_recorded({e.r0, e.l0}));
}

TEST(adopted_ranges, no_two_have_the_same_byte) {
  const auto ranges = std::make_shared<adopted_ranges>();
  std::vector<std::byte> memory(100);
  const auto take = [&](std::size_t begin, std::size_t bytes) {
    return ranges->take(memory.data() + begin, bytes, "new", "main.cpp:1");
  };
  EXPECT_FALSE(ranges->any());
  const auto held = take(20, 20);
  EXPECT_TRUE(ranges->any());
  for (const auto& [begin, bytes] :
       std::vector<std::pair<std::size_t, std::size_t>>{{20, 20}, {39, 1}, {0, 21}, {30, 2}, {0, 100}})
    EXPECT_THROW((void)take(begin, bytes), adopted_ranges::still_used) << begin << ", " << bytes;
  EXPECT_NO_THROW((void)take(0, 20));
  EXPECT_NO_THROW((void)take(40, 60));
  EXPECT_TRUE(ranges->has(memory.data() + 39));
  EXPECT_FALSE(ranges->has(memory.data() + 40)) << "those two have ended at once";
}

TEST(adopted_ranges, are_free_with_their_last_task) {
  const auto ranges = std::make_shared<adopted_ranges>();
  std::vector<std::byte> memory(100);
  auto array = ranges->take(memory.data(), 100, "a", "main.cpp:1");
  auto task = array;
  array.reset();
  EXPECT_TRUE(ranges->used_by_ended(memory.data() + 50, 1)) << "no array holds it";
  try {
    (void)ranges->take(memory.data(), 10, "b", "main.cpp:2");
    FAIL() << "no error";
  } catch (const adopted_ranges::still_used& e) {
    EXPECT_EQ(e.kind(), error_kind::usage);
    EXPECT_EQ(e.message(), "array 'b' would have memory of array 'a', which has ended while its tasks have not");
    EXPECT_EQ(e.where(), "main.cpp:2");
    EXPECT_EQ(e.claim, 1u);
  }
  task.reset();
  EXPECT_FALSE(ranges->any());
  EXPECT_FALSE(ranges->used_by_ended(memory.data(), 100));
  EXPECT_NE(ranges->take(memory.data(), 10, "b", "main.cpp:2"), nullptr);
}

TEST(adopted_ranges, an_empty_one_is_in_nobodys_way) {
  const auto ranges = std::make_shared<adopted_ranges>();
  std::vector<std::byte> memory(100);
  const auto held = ranges->take(memory.data(), 100, "a", "main.cpp:1");
  EXPECT_FALSE(ranges->has(memory.data() + 100));
  EXPECT_NO_THROW((void)ranges->take(memory.data() + 100, 8, "b", "main.cpp:2")) << "it begins where that ends";
}

TEST(cuts, between_memories_are_right_whatever_there_was) {
  std::mt19937 random(5);
  const auto up_to = [&](std::int64_t most) {
    return 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(most));
  };
  for (int round = 0; round < 1'000; ++round) {
    std::vector<tiled_memory::tile> tiles;
    for (std::int64_t at = 0; at < 100;) {
      const std::int64_t end = std::min<std::int64_t>(100, at + up_to(30));
      tiles.push_back({std::exchange(at, end), end, nullptr});
    }
    std::vector<row_interval> parts;
    for (std::int64_t at = 0; at < 100;) {
      const std::int64_t end = std::min<std::int64_t>(100, at + up_to(50));
      parts.push_back({std::exchange(at, end), end});
    }
    const std::vector<std::int64_t> edges{up_to(99), up_to(99)};
    std::vector<std::int64_t> ends = edged_cuts(tiles, parts, edges);
    if (ends.empty())
      for (const tiled_memory::tile& t : tiles) ends.push_back(t.end);
    EXPECT_EQ(ends.back(), 100);
    EXPECT_TRUE(std::ranges::is_sorted(ends));
    EXPECT_EQ(std::ranges::adjacent_find(ends), ends.end()) << "no tile is empty";
    for (const std::int64_t edge : edges) EXPECT_TRUE(std::ranges::binary_search(ends, edge));
    for (const row_interval& part : parts) {
      EXPECT_TRUE(std::ranges::binary_search(ends, part.end));
      const auto inside = std::ranges::upper_bound(ends, part.end) - std::ranges::upper_bound(ends, part.begin);
      EXPECT_LE(static_cast<std::size_t>(inside), max_tiles_read + edges.size());
    }
    std::vector<tiled_memory::tile> after;
    std::int64_t begin = 0;
    for (const std::int64_t end : ends) after.push_back({std::exchange(begin, end), end, nullptr});
    EXPECT_THAT(edged_cuts(after, parts, edges), IsEmpty()) << "once is enough";
  }
}

TEST(cuts, with_their_tiles_rows_begin_and_end_where_tiles_do) {
  const std::vector<tiled_memory::tile> tiles{{0, 10, nullptr}, {10, 12, nullptr}, {12, 40, nullptr}};
  EXPECT_EQ(with_their_tiles(tiles, {3, 11}), (row_interval{0, 12}));
  EXPECT_EQ(with_their_tiles(tiles, {10, 12}), (row_interval{10, 12}));
  EXPECT_EQ(with_their_tiles(tiles, {5, 5}), (row_interval{5, 5})) << "no row has no tile";
  EXPECT_TRUE(ends_fit(tiles, std::vector<row_interval>{{0, 12}, {12, 40}}));
  EXPECT_FALSE(ends_fit(tiles, std::vector<row_interval>{{0, 12}, {13, 40}}));
}

/// A task that reads rows [declared) of an array 'in' of 8 rows, and writes the same rows of an array 'out'.
template <class T>
struct surrounded_task {
  surrounded_task(std::int64_t begin, std::int64_t end, element_type type) {
    for (std::size_t u = 0; u < 2; ++u) {
      for (std::size_t k = 0; k < 8; ++k) memory[u][k] = static_cast<T>(k + 1);
      operands.push_back({.host = memory[u],
                          .type = type,
                          .intent = u == 0 ? intent::read : intent::update,
                          .bytes = sizeof memory[u]});
      uses[u] = {.first = static_cast<std::uint32_t>(u), .count = 1, .row = 0, .begin = begin, .end = end};
      layout.push_back({.type = type, .written = u == 1});
    }
    c.operands = operands;
    is = std::make_unique<surroundings>(c, detail::region_uses{uses, extents}, layout);
  }
  T* in() { return static_cast<T*>(is->context().operands[0].host); }
  T* out() { return static_cast<T*>(is->context().operands[1].host); }

  T memory[2][8];
  std::vector<operation::operand> operands;
  detail::region_operand uses[2];
  row_extents extents[2]{{8, 1, 1}, {8, 1, 1}};
  std::vector<kernel_use> layout;
  operation::context c;
  std::unique_ptr<surroundings> is;
};

TEST(surroundings, a_task_that_stays_within_its_rows_is_found_nothing_of_and_its_results_are_put_back) {
  surrounded_task<double> t(2, 5, element_type::f64);
  EXPECT_NE(t.in(), t.memory[0]) << "in memory of its own";
  for (int k = 2; k < 5; ++k) {
    EXPECT_EQ(t.in()[k], k + 1) << "what it has declared has its contents";
    t.out()[k] = 10 * t.in()[k];
  }
  EXPECT_FALSE(t.is->find().has_value());
  EXPECT_EQ(t.memory[1][3], 4);
  t.is->put_back();
  EXPECT_EQ(t.memory[1][3], 40);
  EXPECT_EQ(t.memory[1][1], 2);
  EXPECT_EQ(t.memory[1][5], 6);
}

template <class T>
void reads_one_row_more(element_type type) {
  for (const bool behind : {false, true}) {
    surrounded_task<T> t(2, 5, type);
    for (int k = 2; k < 5; ++k) t.out()[k] = t.in()[k];
    t.out()[3] = t.in()[behind ? 5 : 1];
    const auto found = t.is->find();
    ASSERT_TRUE(found.has_value()) << name_of(type);
    EXPECT_FALSE(found->written);
    EXPECT_EQ(found->use, 0u);
    EXPECT_EQ(found->row, behind ? 5 : 1) << name_of(type);
    EXPECT_EQ(found->before, behind ? 0 : 1);
    EXPECT_EQ(found->behind, behind ? 1 : 0);
    EXPECT_EQ(found->declared, (row_interval{2, 5}));
  }
}

TEST(surroundings, a_row_that_a_task_reads_and_has_not_declared_is_named_whatever_its_type) {
  reads_one_row_more<double>(element_type::f64);
  reads_one_row_more<float>(element_type::f32);
  reads_one_row_more<std::int64_t>(element_type::i64);
  reads_one_row_more<std::int32_t>(element_type::i32);
}

TEST(surroundings, what_is_computed_from_such_a_row_shows_too) {
  surrounded_task<double> t(2, 5, element_type::f64);
  for (int k = 2; k < 5; ++k) t.out()[k] = 0.5 * (t.in()[k - 1] + t.in()[k]);
  const auto found = t.is->find();
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->row, 1);
}

TEST(surroundings, a_row_that_is_written_comes_before_one_that_is_read) {
  surrounded_task<double> t(2, 5, element_type::f64);
  for (int k = 2; k < 5; ++k) t.out()[k] = t.in()[k - 1];
  t.out()[6] = 1;
  const auto found = t.is->find();
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->written);
  EXPECT_EQ(found->use, 1u);
  EXPECT_EQ(found->row, 6);
  t.is->put_back();
  EXPECT_EQ(t.memory[1][6], 7) << "which is not put back";
}

TEST(surroundings, ordinary_nans_are_nobodys_row) {
  surrounded_task<double> t(2, 5, element_type::f64);
  t.out()[2] = std::nan("1");
  t.out()[3] = INFINITY;
  t.out()[4] = -std::nan("77");
  EXPECT_FALSE(t.is->find().has_value());
}

TEST(surroundings, a_task_without_rows_has_nothing_but_what_it_has_not_declared) {
  surrounded_task<double> t(4, 4, element_type::f64);
  EXPECT_FALSE(t.is->find().has_value());
  t.is->put_back();
  for (int k = 0; k < 8; ++k) EXPECT_EQ(t.memory[1][k], k + 1);
}

}  // namespace
}  // namespace tessera::hierarchy
