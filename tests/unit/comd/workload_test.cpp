// What a simulation does at least, counted by hand.
#include "apps/comd/workload.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace tessera::apps::comd {
namespace {

const region_work& of(const workload& all, const char* region) {
  return *std::ranges::find(all.regions, region, &region_work::region);
}

TEST(comd_workload, counts_atoms_steps_and_partners) {
  const workload w = comd_workload({.atoms = 2, .steps = 3, .lines = 1, .partners = 10, .element = 8});
  EXPECT_EQ(of(w, "kick").bytes, 2 * 3 * 2 * 9 * 8);  // three vectors, twice
  EXPECT_EQ(of(w, "drift").bytes, 3 * 2 * (9 * 8 + 4));
  EXPECT_EQ(of(w, "sort").bytes, 3 * 2 * 2 * (4 + 6 * 8));
  EXPECT_EQ(of(w, "totals").bytes, 2 * 4 * 8);
  EXPECT_EQ(of(w, "forces").bytes, 3 * 2 * 7 * 8);
  EXPECT_EQ(of(w, "forces").flops, 3 * 2 * 10 * 26);
  const workload embedded =
      comd_workload({.atoms = 2, .steps = 3, .lines = 1, .partners = 10, .embedded = true, .element = 4});
  EXPECT_EQ(of(embedded, "densities").flops, 3 * 2 * 10 * 19);
  EXPECT_EQ(of(embedded, "embedding").bytes, 3 * 2 * 3 * 4);
  EXPECT_EQ(of(embedded, "forces").flops, 3 * 2 * 10 * 42);
}

TEST(comd_workload, takes_partners_at_the_mean_density) {
  const crystal start = make_crystal({6, 6, 6}, 3.615);
  const cell_grid grid = make_cell_grid(start, 5.7875);
  EXPECT_NEAR(partners_of(start.atoms(), grid, 5.7875), 68.8, 0.1);
}

}  // namespace
}  // namespace tessera::apps::comd
