// What leaves so that pieces fit: the neighbours that cost least, where the pages allow it.
#include "core/memory/room_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <random>

#include "core/memory/range_allocator.hpp"

namespace tessera::memory {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;
using wanted_sizes = std::vector<std::uint64_t>;

piece at(std::uint64_t offset, std::uint64_t bytes, std::uint32_t slab = 0) {
  return {block::chunk::at(slab, offset), bytes};
}

TEST(room_plan, nobody_leaves_where_the_pieces_fit) {
  room_plan plan;
  plan.add_free(at(0, 2));
  plan.add_held(at(2, 4), 1, 7);
  plan.add_free(at(6, 3));
  EXPECT_THAT(plan.make_room(wanted_sizes{2, 3}).value(), IsEmpty());
  EXPECT_THAT(plan.make_room(wanted_sizes{3, 2}).value(), IsEmpty());
}

TEST(room_plan, who_joins_free_pieces_leaves_rather_than_others_that_cost_less) {
  room_plan plan;
  plan.add_free(at(0, 3));
  plan.add_held(at(3, 1), 3, 0);
  plan.add_free(at(4, 2));
  for (std::size_t k = 1; k < 6; ++k) plan.add_held(at(10 + k, 1), 1, k);
  EXPECT_THAT(plan.make_room(wanted_sizes{6}).value(), ElementsAre(0)) << "the others lie together, and cost 5";
  EXPECT_THAT(plan.make_room(wanted_sizes{4}).value(), ElementsAre(0));
  EXPECT_THAT(plan.make_room(wanted_sizes{2, 3}).value(), IsEmpty());
}

TEST(room_plan, of_neighbours_those_leave_that_cost_least) {
  room_plan plan;
  const double costs[] = {5, 1, 4, 1, 1, 9};
  for (std::size_t k = 0; k < 6; ++k) plan.add_held(at(k, 1), costs[k], k);
  EXPECT_THAT(plan.make_room(wanted_sizes{2}).value(), UnorderedElementsAre(3, 4));
  EXPECT_THAT(plan.make_room(wanted_sizes{3}).value(), UnorderedElementsAre(1, 2, 3)) << "6, as 2, 3, 4: the first";
  EXPECT_THAT(plan.make_room(wanted_sizes{2, 1}).value(), UnorderedElementsAre(1, 3, 4)) << "no place is used twice";
  EXPECT_EQ(plan.make_room(wanted_sizes{7}), std::nullopt);
  EXPECT_EQ(plan.make_room(wanted_sizes{4, 3}), std::nullopt);
}

TEST(room_plan, what_lies_in_different_slabs_or_is_not_had_yet_is_not_joined) {
  room_plan plan;
  plan.add_free(at(4, 2));
  plan.add_free(at(0, 2, 1));
  plan.add_free({{}, 2});
  EXPECT_EQ(plan.make_room(wanted_sizes{3}), std::nullopt);
  EXPECT_THAT(plan.make_room(wanted_sizes{2, 2, 2}).value(), IsEmpty());
}

TEST(room_plan, waiting_counts_and_makes_nobody_leave) {
  room_plan plan;
  plan.add_awaited(at(0, 2), 1);
  plan.add_held(at(5, 2), 2, 0);
  EXPECT_THAT(plan.make_room(wanted_sizes{2}).value(), IsEmpty());
  plan.add_held(at(10, 2), 0.5, 1);
  EXPECT_THAT(plan.make_room(wanted_sizes{2}).value(), ElementsAre(1));
}

TEST(room_plan, small_costs_count_beside_large_ones) {
  room_plan plan;
  plan.add_held(at(0, 1), 1e20, 0);
  plan.add_held(at(1, 1), 2e-9, 1);
  plan.add_held(at(2, 1), 1e20, 2);
  plan.add_held(at(3, 1), 1e-9, 3);
  EXPECT_THAT(plan.make_room(wanted_sizes{1}).value(), ElementsAre(3));
}

TEST(room_plan, a_page_is_made_empty_as_a_whole) {
  room_plan plan;
  plan.add_held(at(2, 2), 3, 0);
  plan.add_held(at(4, 2), 1, 1);  // ends in the middle of the page from 4
  plan.add_held(at(6, 2), 4, 2);
  plan.add_held(at(8, 4), 6, 3);
  EXPECT_THAT(plan.make_room(wanted_sizes{4}).value(), UnorderedElementsAre(0, 1)) << "anywhere";
  EXPECT_THAT(plan.make_room(wanted_sizes{4}, {.page = 4}).value(), UnorderedElementsAre(1, 2));
  EXPECT_THAT(plan.make_room(wanted_sizes{2, 4}, {.page = 4}).value(), UnorderedElementsAre(0, 1, 2));
  EXPECT_THAT(plan.make_room(wanted_sizes{6}, {.page = 4}).value(), UnorderedElementsAre(1, 2, 3))
      << "from a page's begin";
}

/// A slab of blocks at random, of which some may leave, against all runs.
TEST(room_plan, finds_the_cheapest_run_and_the_allocator_finds_it_free) {
  const char* given = std::getenv("TESSERA_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::printf("seed %llu (TESSERA_SEED)\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  for (int round = 0; round < 300; ++round) {
    constexpr std::uint64_t units = 48;
    const page_grid grid{.page = random() % 2 == 0 ? 0 : 1 + random() % 9};
    range_allocator slab(units, 1);
    room_plan plan;
    std::vector<int> cost_of(units, -1);  // of a unit: its holder's, or -1: it stays
    std::vector<std::pair<std::uint64_t, std::uint64_t>> held;
    std::vector<std::uint64_t> free;
    for (std::uint64_t offset = 0; offset < units;) {
      const std::uint64_t bytes = std::min<std::uint64_t>(1 + random() % 6, units - offset);
      ASSERT_EQ(slab.allocate(bytes), offset);
      held.emplace_back(offset, bytes);
      offset += bytes;
    }
    std::vector<int> cost(held.size());
    for (std::size_t k = 0; k < held.size(); ++k) {
      const auto [offset, bytes] = held[k];
      const auto kind = random() % 4;
      cost[k] = kind == 0 ? -1 : kind == 1 ? 0 : 1 + static_cast<int>(random() % 20);
      if (kind == 1) slab.release(offset, bytes);
      if (kind > 1) plan.add_held(at(offset, bytes), cost[k], k);
    }
    for (const auto& [offset, bytes] : slab.free_ranges()) plan.add_free(at(offset, bytes));
    const std::uint64_t wanted = 1 + random() % 12;
    int least = -1;
    for (std::uint64_t place = 0; place + wanted <= units; ++place) {
      if (grid.first_place(place, wanted) != place) continue;
      int sum = 0;
      for (std::size_t k = 0; k < held.size() && sum >= 0; ++k)
        if (held[k].first < place + wanted && place < held[k].first + held[k].second)
          sum = cost[k] < 0 ? -1 : sum + cost[k];
      if (sum >= 0 && (least < 0 || sum < least)) least = sum;
    }
    const auto leaving = plan.make_room(wanted_sizes{wanted}, grid);
    ASSERT_EQ(leaving.has_value(), least >= 0);
    if (!leaving) continue;
    int paid = 0;
    for (const std::size_t k : *leaving) {
      paid += cost[k];
      slab.release(held[k].first, held[k].second);
    }
    ASSERT_EQ(paid, least);
    ASSERT_TRUE(slab.allocate(wanted, grid));
  }
}

TEST(page_grid, what_is_not_larger_than_a_page_lies_within_one) {
  const page_grid grid{.page = 8};
  EXPECT_EQ(grid.first_place(0, 8), 0u);
  EXPECT_EQ(grid.first_place(3, 5), 3u);
  EXPECT_EQ(grid.first_place(3, 6), 8u);
  EXPECT_EQ(grid.first_place(9, 20), 16u) << "what is larger begins with one";
  EXPECT_TRUE(grid.allows(3, 5));
  EXPECT_FALSE(grid.allows(3, 6));
  EXPECT_EQ(page_grid{}.first_place(3, 100), 3u);
}

TEST(page_grid, pages_have_the_size_that_most_bytes_are_in) {
  EXPECT_EQ(grid_for({}).page, 0u);
  EXPECT_EQ(grid_for({{64, 5}}).page, 64u);
  EXPECT_EQ(grid_for({{1, 60}, {28, 10}, {57, 10}, {64, 90}}).page, 64u);
  EXPECT_EQ(grid_for({{16, 300}, {64, 5}}).page, 16u);
  EXPECT_EQ(grid_for({{61, 9}, {62, 9}, {63, 9}, {64, 9}, {65, 9}}).page, 65u) << "little is lost";
}

TEST(page_grid, there_are_none_where_they_would_be_half_empty) {
  EXPECT_EQ(grid_for({{64, 50}, {72, 40}}).page, 0u) << "each of the larger ones would take two";
  EXPECT_EQ(grid_for({{40, 50}, {64, 50}}).page, 0u) << "one of 40 in a page leaves 24";
}

}  // namespace
}  // namespace tessera::memory
