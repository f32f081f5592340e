// The pure parts of regions: where they run, how they are split, how arrays are cut for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <source_location>

#include "core/base/error.hpp"
#include "hierarchy/region/cuts.hpp"
#include "hierarchy/region/engine.hpp"
#include "hierarchy/region/kernel_text.hpp"
#include "hierarchy/region/launch_span.hpp"
#include "hierarchy/region/live_tree.hpp"
#include "hierarchy/region/place.hpp"
#include "hierarchy/region/plan.hpp"
#include "hierarchy/region/sweep.hpp"
#include "hierarchy/region/undeclared.hpp"
#include "tests/support/error_of.hpp"

namespace tessera::hierarchy {
namespace {

using location::node_id;
using test_support::message_of;

location::properties node(location::kind what, std::string name) {
  location::properties p;
  p.kind = what;
  p.name = std::move(name);
  return p;
}

/// A { B (a team of b0, b1, b2), C { c0, gpu } }
struct region_trees : testing::Test {
  location::tree t{node(location::kind::memory, "A")};
  node_id a = 0;
  node_id b = t.add(a, node(location::kind::virtual_group, "B")),
          c = t.add(a, node(location::kind::virtual_group, "C"));
  node_id b0 = t.add(b, node(location::kind::worker, "b0")), b1 = t.add(b, node(location::kind::worker, "b1")),
          b2 = t.add(b, node(location::kind::worker, "b2"));
  node_id c0 = t.add(c, node(location::kind::worker, "c0"));
  node_id gpu = t.add(c, [] {
    auto p = node(location::kind::worker, "gpu");
    p.space = location::space_key{1, 0};
    return p;
  }());
};

TEST_F(region_trees, run_at_the_deepest_location_of_their_arrays) {
  const auto at = [&](std::vector<placed_array> arrays, std::optional<node_id> asked = std::nullopt) {
    return place_of_region(t, arrays, asked, "r");
  };
  EXPECT_EQ(at({}), a);
  EXPECT_EQ(at({{"x", a}, {"y", b}}), b);
  EXPECT_EQ(at({{"x", b1}, {"y", b}, {"z", a}}), b1);
  EXPECT_EQ(at({{"x", a}}, c), c);
  EXPECT_EQ(message_of(
                [&] {
                  at({{"x", b}, {"y", c}, {"z", a}});
                },
                error_kind::usage),
            "no location can use its arrays together: 'x' at 'B', 'y' at 'C' and 'z' at 'A'\n  at: region r\n  hint: "
            "place one of them higher (at 'A'), or move them to one location");
  EXPECT_NE(message_of(
                [&] {
                  at({{"x", b}}, c);
                },
                error_kind::usage)
                .find("array 'x' is at 'B', and cannot be used at 'C'"),
            std::string::npos);
}

TEST_F(region_trees, split_over_hosts_and_the_cores_of_a_share) {
  const auto on_host = [&](node_id leaf, node_id at, std::uint64_t begin, std::uint64_t end) {
    return piece{leaf, at, begin, end, false, t.root()};  // nothing on the way to it has a memory of its own
  };
  const plan made = plan_region(policy::parse("static"), 10, t, a, "r");
  EXPECT_EQ(made.leaves, (std::vector{b, c0}));  // the device takes no part
  EXPECT_EQ(made.pieces, (std::vector<piece>{on_host(b, b0, 0, 1), on_host(b, b1, 1, 3), on_host(b, b2, 3, 5),
                                             on_host(c0, c0, 5, 10)}));
  EXPECT_EQ(plan_region(policy::parse("percentage:0,100"), 10, t, a, "r").pieces,
            (std::vector<piece>{on_host(c0, c0, 0, 10)}));
  EXPECT_EQ(plan_region(policy::parse("static"), 2, t, b, "r").pieces,
            (std::vector<piece>{on_host(b, b1, 0, 1), on_host(b, b2, 1, 2)}));
  EXPECT_TRUE(plan_region(policy::parse("static"), 0, t, a, "r").pieces.empty());
  EXPECT_NE(
      message_of([&] { plan_region(policy::parse("static"), 10, t, gpu, "r"); }).find("runs functions of the host"),
      std::string::npos);
  const std::uint64_t huge = ~std::uint64_t{0};
  EXPECT_EQ(plan_region(policy::parse("static"), huge, t, b, "r").pieces.back().end, huge);
}

TEST_F(region_trees, split_over_devices_too_where_the_body_has_a_kernel) {
  const plan made = plan_region(policy::parse("static"), 9, t, a, "r", {}, all_executors);
  EXPECT_EQ(made.leaves.size(), 3u);
  const auto there = std::ranges::find(made.pieces, gpu, &piece::at);
  ASSERT_NE(there, made.pieces.end());
  EXPECT_TRUE(there->on_device);
  EXPECT_EQ(there->memory, gpu);
  EXPECT_EQ(std::ranges::count(made.pieces, true, &piece::on_device), 1);
  // One that compiles nothing takes no part.
  const std::vector<node_id> without{gpu};
  const plan other = plan_region(policy::parse("static"), 9, t, a, "r", {}, {true, without});
  EXPECT_EQ(other.pieces, plan_region(policy::parse("static"), 9, t, a, "r").pieces);
}

TEST_F(region_trees, split_what_a_device_gets_to_fit_its_memory) {
  const auto shared = [](plan made) { return std::make_shared<const plan>(std::move(made)); };
  const auto whole_share = shared(plan_region(policy::parse("percentage:0,0,100"), 100, t, a, "r", {}, all_executors));
  ASSERT_EQ(whole_share->pieces.size(), 1u);
  const auto fits = [&](memory_need need, std::uint64_t limit) {
    const plan parts = *fitted(whole_share, need, [=](node_id) { return limit; });
    std::uint64_t at = 0;
    for (const piece& p : parts.pieces) {
      EXPECT_EQ(p.begin, at);
      EXPECT_LT(p.begin, p.end);
      EXPECT_EQ(p.at, gpu);
      at = p.end;
    }
    EXPECT_EQ(at, 100u);
    return parts.pieces.size();
  };
  EXPECT_EQ(fits({0, 0, 8}, 1600), 1u);
  EXPECT_EQ(fits({0, 0, 8}, 1599), 8u);  // finer than it must be, for what stays
  EXPECT_EQ(fits({0, 100, 8}, 360), 40u);
  EXPECT_EQ(fits({0, 0, 8}, 16), 100u);
  EXPECT_EQ(fits({0, 0, 8}, 15), 1u);  // not even one iteration
  EXPECT_EQ(fits({0, 200, 8}, 400), 1u);
  EXPECT_EQ(fits({0, 50, 0}, 1), 1u);
  // What all tasks read is there once, so that of 420 bytes 220 are for two tasks, each of 13 iterations.
  EXPECT_EQ(fits({200, 0, 8}, 420), 32u);
  EXPECT_EQ(fits({200, 46, 8}, 420), 52u);
  EXPECT_EQ(fits({800, 0, 8}, 2400), 1u);
  EXPECT_EQ(fits({200, 0, 8}, 400), 1u);  // half of the memory
  // Millions of tasks are no way to run a loop.
  const auto long_share =
      shared(plan_region(policy::parse("percentage:0,0,100"), 1u << 30, t, a, "r", {}, all_executors));
  EXPECT_EQ(fitted(long_share, {0, 100, 8}, [](node_id) { return 2 * (100 + 8 * 100'000); })->pieces.size(), 1u);
  EXPECT_EQ(fitted(long_share, {0, 100, 8}, [](node_id) { return 2 * (100 + 8 * 300'000); })->pieces.size(),
            max_tasks_of_a_piece);
  // Nothing changes for the host.
  const auto host = shared(plan_region(policy::parse("static"), 100, t, b, "r"));
  EXPECT_EQ(fitted(host, {0, 0, 8}, [](node_id) { return 1; }), host);
}

TEST(plans, begin_and_end_where_blocks_do) {
  const auto ends = [](std::vector<std::pair<std::uint64_t, std::uint64_t>> pieces,
                       std::vector<std::uint64_t> borders) {
    plan made;
    node_id leaf = 1;
    for (const auto& [begin, end] : pieces) made.pieces.push_back({leaf, leaf, begin, end, false, 0}), ++leaf;
    std::vector<std::pair<std::uint64_t, node_id>> all;
    std::uint64_t at = pieces.front().first;
    const auto moved = at_borders(std::make_shared<const plan>(made), borders);
    for (const piece& p : moved->pieces) {
      EXPECT_EQ(p.begin, at) << "without gaps";
      all.emplace_back(at = p.end, p.leaf);
    }
    return all;
  };
  using ends_and_leaves = std::vector<std::pair<std::uint64_t, node_id>>;
  EXPECT_EQ(ends({{0, 60}, {60, 100}}, {}), (ends_and_leaves{{100, 1}})) << "one block";
  EXPECT_EQ(ends({{0, 50}, {50, 100}}, {40, 80}), (ends_and_leaves{{40, 1}, {80, 2}, {100, 2}})) << "moved, then split";
  EXPECT_EQ(ends({{0, 50}, {50, 100}}, {49, 51}), (ends_and_leaves{{49, 1}, {51, 1}, {100, 2}}));
  EXPECT_EQ(ends({{0, 30}, {30, 60}, {60, 100}}, {90}), (ends_and_leaves{{90, 2}, {100, 3}})) << "one gets nothing";
  EXPECT_EQ(ends({{0, 100}}, {10, 20, 30}), (ends_and_leaves{{10, 1}, {20, 1}, {30, 1}, {100, 1}}));
  EXPECT_EQ(ends({{20, 60}}, {10, 40, 70}), (ends_and_leaves{{40, 1}, {60, 1}})) << "borders outside";
}

std::vector<tiled_memory::tile> tiles_ending(const std::vector<std::int64_t>& ends) {
  std::vector<tiled_memory::tile> tiles;
  std::int64_t begin = 0;
  for (const std::int64_t end : ends) tiles.push_back({std::exchange(begin, end), end, nullptr});
  return tiles;
}

TEST(cuts, are_where_parts_begin_and_end) {
  const auto tiles = tiles_ending({10, 20, 30});
  const auto cut = [&](std::vector<row_interval> parts, bool exact) { return fitting_cuts(tiles, parts, exact); };
  using rows = std::vector<std::int64_t>;
  EXPECT_EQ(cut({{0, 15}, {15, 30}}, true), (rows{15, 30}));
  EXPECT_EQ(cut({{0, 15}, {15, 30}}, false), (rows{10, 15, 20, 30}));
  EXPECT_EQ(cut({{20, 25}, {5, 20}}, true), (rows{5, 20, 25, 30}));  // in any order
  EXPECT_EQ(cut({{3, 4}}, true), (rows{3, 4, 10, 20, 30}));
  const std::span some = std::span(tiles).subspan(1);  // of an array, from row 10 on
  EXPECT_EQ(fitting_cuts(some, std::vector<row_interval>{{12, 13}}, true), (rows{12, 13, 20, 30}));
  EXPECT_EQ(fitting_cuts(some, std::vector<row_interval>{{10, 25}}, true), (rows{25, 30}));
  EXPECT_TRUE(cuts_fit(tiles, std::vector<row_interval>{{0, 20}}, false));
  EXPECT_FALSE(cuts_fit(tiles, std::vector<row_interval>{{0, 20}}, true));
  EXPECT_TRUE(cuts_fit(tiles, std::vector<row_interval>{{10, 20}, {0, 10}}, true));
  EXPECT_FALSE(cuts_fit(tiles, std::vector<row_interval>{{10, 21}}, false));
}

TEST(cuts, join_many_tiles_that_one_task_reads) {
  std::vector<std::int64_t> ends;
  for (std::int64_t k = 1; k <= 20; ++k) ends.push_back(k);
  const auto tiles = tiles_ending(ends);
  const std::vector<row_interval> parts{{2, 5}, {5, 20}};
  EXPECT_EQ(fitting_cuts(tiles, parts, false), (std::vector<std::int64_t>{1, 2, 3, 4, 5, 20}));
  EXPECT_FALSE(cuts_fit(tiles, parts, false));
}

TEST(cuts, join_the_tiles_of_rows_that_all_read) {
  const auto tiles = tiles_ending({10, 20, 30, 40, 50});
  using rows = std::vector<std::int64_t>;
  EXPECT_EQ(joined_cuts(tiles, {0, 50}), (rows{50}));
  EXPECT_EQ(joined_cuts(tiles, {15, 31}), (rows{10, 40, 50}));
  EXPECT_EQ(joined_cuts(tiles, {20, 30}), (rows{10, 20, 30, 40, 50}));
  EXPECT_EQ(joined_cuts(tiles, {20, 20}), (rows{10, 20, 30, 40, 50}));
}

TEST(cuts, of_many_parts_take_one_pass) {
  constexpr std::int64_t count = 200'000;
  std::vector<std::int64_t> ends;
  std::vector<row_interval> parts;
  for (std::int64_t k = 0; k < count; ++k) {
    ends.push_back(4 * k + 4);
    parts.push_back({4 * k + 1, 4 * k + 3});
  }
  const auto tiles = tiles_ending(ends);
  const std::vector<std::int64_t> found = fitting_cuts(tiles, parts, true);  // part by part it took minutes
  ASSERT_EQ(found.size(), 3u * count);
  EXPECT_EQ(found[3], 5);
  EXPECT_EQ(found.back(), 4 * count);
}

TEST(cuts, fit_afterwards_whatever_there_was) {
  unsigned state = 7;
  const auto random = [&](unsigned below) { return (state = state * 1664525u + 1013904223u) / 65536u % below; };
  for (int round = 0; round < 2000; ++round) {
    const auto cuts_of = [&](std::int64_t begin) {
      std::vector<std::int64_t> ends;
      while (begin < 100) ends.push_back(begin = std::min<std::int64_t>(100, begin + 1 + random(40)));
      return ends;
    };
    const auto tiles = tiles_ending(cuts_of(0));
    std::vector<row_interval> parts;
    std::int64_t begin = random(50);
    for (const std::int64_t end : cuts_of(begin))
      if (const std::int64_t from = std::exchange(begin, end); random(4) != 0) parts.push_back({from, end});
    const bool exact = random(2) == 0;
    const auto after = fitting_cuts(tiles, parts, exact);
    ASSERT_EQ(after.back(), 100);
    ASSERT_TRUE(cuts_fit(tiles_ending(after), parts, exact));
  }
}

TEST(cuts, find_the_tiles_of_rows) {
  const auto tiles = tiles_ending({10, 20, 30});
  const auto found = [&](std::int64_t begin, std::int64_t end) {
    const tile_range r = tiles_with(tiles, {begin, end});
    return std::pair(r.first, r.count);
  };
  EXPECT_EQ(found(0, 30), std::pair(std::size_t{0}, std::size_t{3}));
  EXPECT_EQ(found(10, 11), std::pair(std::size_t{1}, std::size_t{1}));
  EXPECT_EQ(found(9, 21), std::pair(std::size_t{0}, std::size_t{3}));
  EXPECT_EQ(found(5, 5).second, 0u);
}

TEST(cuts, between_memories_end_at_borders_and_edges) {
  const std::vector<row_interval> parts{{0, 40}, {40, 100}};
  const std::vector<std::int64_t> edges{38, 42};
  EXPECT_EQ(edged_cuts(tiles_ending({100}), parts, edges), (std::vector<std::int64_t>{38, 40, 42, 100}));
  EXPECT_TRUE(edged_cuts(tiles_ending({38, 40, 42, 100}), parts, edges).empty());
  EXPECT_TRUE(edged_cuts(tiles_ending({10, 38, 40, 42, 100}), parts, edges).empty());  // one more does no harm
  const std::vector<std::int64_t> many{1, 2, 3, 4, 5, 6, 7, 8, 38, 40, 42, 100};
  EXPECT_EQ(edged_cuts(tiles_ending(many), parts, edges), (std::vector<std::int64_t>{38, 40, 42, 100}));
}

// ---- texts of kernels

kernel_shape one_array(std::size_t tiles, std::size_t rank = 1) {
  return {1, {{element_type::f64, true, tiles, rank, detail::reduction_kind::none}}, {}};
}

std::string source_of(std::string_view body, const kernel_shape& shape) {
  return kernel_source(body, shape, "r", std::source_location::current());
}

std::string refused_text(std::string_view text, const kernel_shape& shape = one_array(1)) {
  try {
    (void)source_of(text, shape);
  } catch (const error& e) {
    return e.what();
  }
  return "nothing";
}

TEST(kernel_text, writes_uses_of_arrays_out) {
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  const std::string plain = source_of("(i, x) { x[i + 1] = x(i) + 2; }", one_array(1));
  EXPECT_TRUE(has(plain, "{ x[(long)(i + 1)] = x[(((long)(i)))] + 2; }")) << plain;
  const std::string three = source_of("(i, x) { x[i] = x[x(i)]; }", one_array(3));
  EXPECT_TRUE(has(three,
                  "(*tessera_in_x((long)(i), tessera_x_0, tessera_x_1, tessera_x_2, tessera_x_from1, "
                  "tessera_x_from2)) = "))
      << three;
  const std::string two = source_of("(i, x) { x(i, 3) = 1; }", one_array(1, 2));
  EXPECT_TRUE(has(two, "x[(((long)(i) * tessera_x_second + ( 3)))] = 1;")) << two;
  // Not in comments, literals, numbers, or as a part of another name.
  const std::string other =
      source_of("(i, x) { /* x */ int xx = 0x1f; // x\n char c = 'x'; x[i] = xx + c; }", one_array(1));
  EXPECT_TRUE(has(other, "{ /* x */ int xx = 0x1f; // x\n char c = 'x'; x[(long)(i)] = xx + c; }")) << other;
}

TEST(kernel_text, has_its_lines_for_the_messages_of_compilers) {
  const std::string made = source_of("(i,\n x)\n{\n  x[i] = 1;\n}", one_array(1));
  const std::size_t line = made.find("#line 3 \""), file = made.find("region_test.cpp:", line);
  ASSERT_NE(line, std::string::npos) << made;
  ASSERT_NE(file, std::string::npos) << made;
  EXPECT_NE(made.find(": text of region r\"\n{\n", file), std::string::npos) << made;
}

/// Asked for by a thread that looked up its location before an edit; the next edit comes before the array is there.
TEST_F(region_trees, keep_memory_at_a_location_that_has_left_at_the_root) {
  const std::source_location here = std::source_location::current();
  live_tree live(t);
  location::tree next = *live.now();
  next.detach(c);
  live.replace(next, here);
  const std::shared_ptr<memory_claim> late = live.claim("x", 8, c0, false, here);
  next.detach(b);
  EXPECT_NO_THROW(live.replace(next, here));
  EXPECT_EQ(late->at, a);
}

TEST(kernel_text, names_the_place_of_what_is_wrong) {
  const auto says = [](std::string_view text, const char* part) {
    const std::string found = refused_text(text);
    EXPECT_NE(found.find(part), std::string::npos) << text << " -> " << found;
  };
  says("", "line 1 column 1: it expects the names");
  says("(i x) { }", "line 1 column 4: it expects \",\"");
  says("(i, x, y) { }", "names 3 parameters; the region has 2: 1 for indices, 1 for uses and 0 for values");
  says("(i, i) { }", "names 'i' twice");
  says("(i, 3) { }", "line 1 column 5: it expects a name");
  says("(i, tessera_x) { }", "reserved");
  says("(i, x) x[i] = 1;", "line 1 column 8: it expects \"{\"");
  says("(i, x) { x[i] = 1;", "it expects \"}\"");
  says("(i, x) {\n  double* p = x; }", "line 2 column 15: 'x' is an array");
  says("(i, x) {\n  x[] = 1; }", "line 2 column 4: 'x' has an empty index");
  says("(i, x) { x(1, 2, 3, 4) = 1; }", "4 indices");
  says("(i, x) { x[(i] = 1; }", "without its counterpart");
  says("(i, x) { /* x[i] = 1; }", "a comment does not end");
  says("(i, x) { char c = 'x; }", "a literal does not end");
  says("(i, x) { x = 1; }", "region_test.cpp:");  // where the program has the text
  EXPECT_NE(refused_text("(i, x) { }", {1, {{element_type::c128, true, 1, 1, detail::reduction_kind::none}}, {}})
                .find("a kernel cannot have numbers of type c128"),
            std::string::npos);
}

TEST(sweeps, give_the_first_part_on_their_way_the_highest_priority) {
  const auto on = [](node_id at, std::uint64_t begin, bool device) {
    return piece{at, at, begin, begin + 10, device, at};
  };
  EXPECT_FALSE(goes_in_parts({{}, {on(1, 0, false), on(1, 10, false), on(2, 20, true)}}));
  const plan split{{}, {on(1, 0, false), on(2, 10, true), on(2, 20, true), on(2, 30, true)}};
  EXPECT_TRUE(goes_in_parts(split));
  const auto priorities = [&](const sweep& way) {
    std::vector<int> all;
    for (std::size_t k = 0; k < split.pieces.size(); ++k) all.push_back(way.priority_of(split, k));
    return all;
  };
  EXPECT_EQ(priorities({}), (std::vector{0, 0, 0, 0}));
  EXPECT_EQ(priorities({true, false}), (std::vector{0, -2, -3, -4}));
  EXPECT_EQ(priorities({true, true}), (std::vector{0, -3, -2, -1}));
  const plan many{{}, std::vector<piece>(40'000, on(2, 0, true))};
  EXPECT_EQ((sweep{true, false}.priority_of(many, 39'999)), std::numeric_limits<std::int16_t>::min());
}

TEST(cuts, ahead_of_a_row_are_the_same_for_its_neighbours) {
  using ends = std::vector<std::int64_t>;
  EXPECT_EQ(cuts_ahead(1, 1000), (ends{16, 256}));
  EXPECT_EQ(cuts_ahead(15, 1000), (ends{16, 256}));
  EXPECT_EQ(cuts_ahead(16, 1000), (ends{32, 256}));
  EXPECT_EQ(cuts_ahead(250, 1000), (ends{256}));
  EXPECT_EQ(cuts_ahead(770, 1000), (ends{784}));
  EXPECT_EQ(cuts_ahead(990, 1000), ends{992});
  EXPECT_EQ(cuts_ahead(993, 1000), ends{});
}

/// A task that notes what it took.
detail::piece_count counted(const std::shared_ptr<region_leaf_times>& on,
                            const std::shared_ptr<launch_span>& of = nullptr) {
  return {std::make_shared<leaf_work>(), on, of};
}
constexpr std::int64_t ten_seconds = 10'000'000'000;  // in nanoseconds
std::shared_ptr<region_leaf_times> device_times() {
  auto times = std::make_shared<region_leaf_times>();
  times->clock = std::make_shared<device_clock>();
  return times;
}

/// Seconds are long here, so that it does not matter how fast the test is.
TEST(region_times, of_a_kernel_leave_out_what_it_waited_for_others) {
  const std::int64_t now = detail::steady_now();
  {
    const auto times = device_times();
    detail::note_kernel(counted(times), 1000, now - 100 * ten_seconds);  // nothing was there before it
    EXPECT_GE(times->cost().seconds(1000), 1000);
  }
  const auto times = device_times();
  times->clock->last_end = now - ten_seconds;
  detail::note_kernel(counted(times), 1000,
                      now - 100 * ten_seconds);  // launched early, behind one that ended ten seconds ago
  EXPECT_GE(times->cost().seconds(1000), 10);
  EXPECT_LT(times->cost().seconds(1000), 100);
  EXPECT_GE(times->clock->last_end, now);
}

TEST(region_times, of_two_kernels_side_by_side_are_averaged) {
  const auto times = device_times();
  const std::int64_t now = detail::steady_now();
  times->note(1000, 10);
  detail::note_kernel(counted(times), 1000, now);  // seems to have taken no time: it ran beside another one
  EXPECT_GT(times->cost().seconds(1000), 3);
  EXPECT_LT(times->cost().seconds(1000), 10);
}

/// From the begin of its first task to the end of its last one, however its tasks waited in between.
TEST(launch_spans, are_noted_when_the_last_task_lets_go) {
  using namespace std::chrono_literals;
  const auto seen = std::make_shared<seen_launches>();
  const std::int64_t now = detail::steady_now();
  {
    auto span = std::make_shared<launch_span>(seen, "r", leaf_shares{400, 600});
    const auto host = counted(std::make_shared<region_leaf_times>(), span), device = counted(device_times(), span);
    span.reset();
    detail::note_piece(host, 400, now - 100 * ten_seconds);
    detail::note_kernel(device, 600, now - ten_seconds);
    EXPECT_TRUE(seen->take().empty()) << "its tasks are still there";
  }
  const std::vector<seen_launches::launch> all = seen->take();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].region, "r");
  EXPECT_EQ(all[0].shares, (leaf_shares{400, 600}));
  EXPECT_GE(all[0].seconds, 1000);
  EXPECT_TRUE(seen->take().empty());
}

TEST(launch_spans, do_not_count_time_twice) {
  seen_launches seen;
  constexpr std::int64_t second = 1'000'000'000;
  seen.note("r", {1}, 0, 10 * second);
  seen.note("r", {1}, 5 * second, 12 * second);  // began while the first one was under way
  seen.note("r", {1}, 3 * second, 11 * second);  // and this one ended before the second one
  const auto all = seen.take();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_DOUBLE_EQ(all[0].seconds, 10);
  EXPECT_DOUBLE_EQ(all[1].seconds, 2);
}

/// Rows that a task used and had not declared, in words.
TEST(undeclared_rows, are_named_with_what_would_declare_them) {
  const undeclared_rows before{0, {500, 999}, 31, 1, 0, 499};
  const auto said = [](const undeclared_rows& found, const access_pattern& pattern, intent how = intent::read) {
    const undeclared_text text = text_of(found, "smooth", {"a", pattern, how}, 1000);
    return text.what + " | " + text.hint;
  };
  EXPECT_EQ(said(before, tessera::chunk),
            "region 'smooth' reads row 499 of array 'a', where one of its parts declares rows 500 to 998 | "
            "read(a, halo(1, 0))?");
  EXPECT_EQ(said({0, {499, 999}, 31, 2, 3, 498}, halo(1)),
            "region 'smooth' reads row 498 of array 'a', where one of its parts declares rows 499 to 998 | "
            "read(a, halo(3, 4))?");
  EXPECT_THAT(said({0, {7, 8}, 31, 0, 1, 8}, rows(7, 8)),
              ::testing::HasSubstr("declares row 7 | read(a, rows(7, 9))?"));
  EXPECT_THAT(said({0, {500, 1000}, 31, 0, 1, 1000}, halo(1)),
              ::testing::HasSubstr("reads row 1000 of array 'a', which has 1000 rows | the body must look where"));
  EXPECT_THAT(
      said({0, {500, 999}, 31, 32, 0, std::nullopt}, tessera::chunk),
      ::testing::HasSubstr("reads array 'a' more than 31 rows away from rows 500 to 998, which one of its parts "
                           "declares | `whole`"));
  EXPECT_THAT(said(before, tessera::chunk, intent::update), ::testing::HasSubstr("read such rows from a second array"));
  EXPECT_THAT(said({0, {500, 999}, 31, 1, 0, 499, true}, tessera::chunk, intent::write),
              ::testing::HasSubstr("writes row 499 of array 'a'"));
}

}  // namespace
}  // namespace tessera::hierarchy
