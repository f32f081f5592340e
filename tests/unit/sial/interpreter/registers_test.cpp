// What references, regions and pardos mean with the values of registers.
#include "languages/sial/interpreter/registers.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/unit/sial/interpreter/sized_program.hpp"

namespace tessera::sial::test {
namespace {

TEST(sial_registers, begin_with_the_values_of_the_job) {
  const sized_program p;
  const registers values(p.sizes);
  EXPECT_EQ(values.integer(0), 3);  // norb
  EXPECT_EQ(values.integer(3), 3);  // m
  EXPECT_EQ(values.scalar(1), 2.5);
  EXPECT_EQ(values.scalar(2), 1.5);  // ps
  EXPECT_EQ(values.integer(p.index(0)), unbound);
}

TEST(sial_registers, find_the_block_of_a_reference) {
  const sized_program p;
  registers values(p.sizes);
  reference r;
  r.array = p.array("t1");
  r.rank = 2;
  r.at = {p.index(0), p.index(1)};
  segment_numbers at{};
  EXPECT_EQ(failure_of([&] { values.ordinal_of(r, at); }), "an index of a block of 't1' has no value here");
  values.integer(p.index(0)) = 2;
  values.integer(p.index(1)) = 3;
  EXPECT_EQ(values.ordinal_of(r, at), 7);  // of 3 times 3 blocks, the first dimension fastest
  EXPECT_EQ(at[0], 2);
  EXPECT_EQ(at[1], 3);
  EXPECT_EQ(values.name_of(r), "t1[2,3]");
  values.integer(p.index(1)) = 4;
  EXPECT_EQ(failure_of([&] { values.ordinal_of(r, at); }),
            "segment 4 is outside of dimension 2 of 't1', which has 1:3");
}

TEST(sial_registers, find_the_extents_of_a_region) {
  const sized_program p;
  registers values(p.sizes);
  const region r = p.region_of("cl");
  for (const auto& [index, value] : {std::pair{0, 1}, {1, 3}, {2, 2}, {3, 3}})
    values.integer(p.index(static_cast<std::uint32_t>(index))) = value;
  EXPECT_EQ(values.name_of(r), "cl[1:2,3]");
  EXPECT_EQ(values.extents_of(r), (shape{5, 1}));
  values.integer(p.index(2)) = 4;
  EXPECT_EQ(failure_of([&] { values.extents_of(r); }), "cl[1:4,3] is outside of the array: dimension 1 has 1:3");
}

TEST(sial_registers, go_through_the_combinations_of_a_pardo) {
  const sized_program p("pardo i, k\nt1[i,k] = 0.0\nendpardo i, k\n");
  ASSERT_EQ(p.program.pardos.size(), 1u);
  const pardo& loop = p.program.pardos[0];
  registers step_by_step(p.sizes), at_once(p.sizes);
  step_by_step.set_candidate(loop, 0);
  const std::vector<std::pair<int, int>> all{{1, 2}, {2, 2}, {3, 2}, {1, 3}, {2, 3}, {3, 3}};
  for (std::size_t c = 0; c < all.size(); ++c) {
    if (c > 0) step_by_step.next_candidate(loop);
    at_once.set_candidate(loop, static_cast<std::int64_t>(c));
    for (const registers* values : {&step_by_step, &at_once}) {
      EXPECT_EQ(values->integer(loop.indices[0]), all[c].first);
      EXPECT_EQ(values->integer(loop.indices[1]), all[c].second);
    }
  }
}

TEST(sial_registers, copies_are_independent) {
  const sized_program p;
  registers one(p.sizes);
  registers other = one;
  other.integer(0) = 99;
  other.scalar(0) = 99;
  EXPECT_EQ(one.integer(0), 3);
  EXPECT_EQ(one.scalar(0), 0);
}

}  // namespace
}  // namespace tessera::sial::test
