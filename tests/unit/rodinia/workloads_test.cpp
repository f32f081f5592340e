// What the applications do at least, counted by hand, or by numbers that count their operations.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "apps/rodinia/bfs/problem.hpp"
#include "apps/rodinia/cfd/problem.hpp"
#include "apps/rodinia/gaussian/problem.hpp"
#include "apps/rodinia/hotspot/problem.hpp"
#include "apps/rodinia/lavamd/problem.hpp"
#include "apps/rodinia/lud/problem.hpp"
#include "apps/rodinia/nn/problem.hpp"
#include "apps/rodinia/nw/problem.hpp"
#include "apps/rodinia/particlefilter/problem.hpp"
#include "apps/rodinia/pathfinder/problem.hpp"
#include "apps/rodinia/srad/problem.hpp"
#include "apps/stream/kernels.hpp"

namespace tessera::apps::rodinia {
namespace {

/// A number that counts the operations of all numbers.
struct counting {
  double value = 0;
  counting(double v = 0) : value(v) {}  // NOLINT: as a number
  static inline int operations = 0;
  static counting made(double v) {
    ++operations;
    return {v};
  }
  friend counting operator+(counting a, counting b) { return made(a.value + b.value); }
  friend counting operator-(counting a, counting b) { return made(a.value - b.value); }
  friend counting operator*(counting a, counting b) { return made(a.value * b.value); }
  friend counting operator/(counting a, counting b) { return made(a.value / b.value); }
  friend bool operator<(counting a, counting b) { return a.value < b.value; }
  friend bool operator>(counting a, counting b) { return a.value > b.value; }
};

const region_work& of(const workload& all, const std::string& region) {
  const auto found = std::ranges::find(all.regions, region, &region_work::region);
  if (found == all.regions.end()) throw std::runtime_error("no region " + region);
  return *found;
}
double flops_of(const workload& all) {
  return std::accumulate(all.regions.begin(), all.regions.end(), 0.0,
                         [](double sum, const region_work& r) { return sum + r.flops; });
}

TEST(workloads, of_hotspot_are_its_operations) {
  std::vector<counting> t(12 * 12, 300.0), p(12 * 12, 0.5);
  counting::operations = 0;
  hotspot_serial<counting>(t, p, 12, {0.1, 0.1, 0.1, 0.1, 80.0}, 2);
  const workload w = hotspot_workload(12, 2, 4);
  EXPECT_EQ(of(w, "heat").flops, counting::operations);
  EXPECT_EQ(of(w, "heat").bytes, 2 * 3 * 144 * 4);
  EXPECT_EQ(w.data, 3 * 144 * 4);
}

TEST(workloads, of_srad_are_its_operations) {
  counting::operations = 0;
  srad_coefficient<counting>(1.5, 0.3, 0.2, 0.1);
  const workload w = srad_workload(3, 5, 8);
  const double cells = 5 * 9;
  EXPECT_EQ(of(w, "coefficients").flops, (4 + 4 + 3 + 3 + counting::operations) * cells);
  EXPECT_EQ(of(w, "update").flops, (4 + 4 + 3 + 2) * cells);
  EXPECT_EQ(of(w, "corner").flops, 3 * cells);  // all of it is in the corner
  EXPECT_EQ(of(w, "corner").bytes + of(w, "coefficients").bytes + of(w, "update").bytes, (1 + 2 + 3) * 8 * cells);
  EXPECT_EQ(of(srad_workload(200, 1, 8), "corner").flops, 3 * 128 * 128);
}

TEST(workloads, of_lud_are_those_of_elimination) {
  const auto eliminated = [](int n) {
    double sum = 0;
    for (int s = 0; s < n; ++s) sum += (n - 1 - s) * (1 + 2.0 * (n - 1 - s));
    return sum;
  };
  EXPECT_EQ(flops_of(lud_workload(32, 4)), eliminated(32));
  EXPECT_EQ(of(lud_workload(32, 4), "below").flops, 0);
  EXPECT_EQ(flops_of(lud_workload(90, 4)), eliminated(96));  // whole blocks
  // Two blocks: the first row of blocks is 32 x 64, the second one 32 x 32 from its diagonal on.
  EXPECT_EQ(of(lud_workload(64, 8), "row").bytes, 2 * 32 * (64 + 32) * 8);
  EXPECT_EQ(of(lud_workload(64, 8), "below").bytes, 2 * 32 * (2 * 64 + 32) * 8);
}

TEST(workloads, of_gaussian_do_not_depend_on_the_columns) {
  EXPECT_EQ(flops_of(gaussian_workload(2, 1, 4)), 5);  // a division, and a product and a difference for A and for b
  EXPECT_EQ(flops_of(gaussian_workload(3, 1, 4)), 2 * 7 + 5);
  for (const int columns : {1, 4, 7, 64}) EXPECT_EQ(flops_of(gaussian_workload(30, columns, 4)), 18415) << columns;
  const workload w = gaussian_workload(2, 1, 4);
  EXPECT_EQ(of(w, "pivot").bytes, 2 * 3 * 4);            // two elements and a right side, read and written
  EXPECT_EQ(of(w, "eliminate").bytes, (6 + 2 * 3) * 4);  // those of the row below, and the pivot's
}

TEST(workloads, of_particles_and_records) {
  EXPECT_EQ(of(lavamd_workload(1), "boxes").flops, 56 * 100 * 100);
  EXPECT_EQ(of(lavamd_workload(2), "boxes").flops, 56 * 64 * 1e4);  // each of eight boxes beside each
  EXPECT_EQ(of(lavamd_workload(2), "boxes").functions, 0);          // its exponential is arithmetic
  EXPECT_EQ(lavamd_workload(2).data, 800 * 72);
  EXPECT_EQ(of(nn_workload(5), "distances").bytes, 60);
  EXPECT_EQ(of(nn_workload(5), "distances").flops, 30);
  EXPECT_EQ(of(nn_workload(5), "selection").bytes, 20);
  const workload w = filter_workload(4, 10);  // three frames are filtered
  EXPECT_EQ(of(w, "move").bytes, 30 * 40);
  EXPECT_EQ(of(w, "move").flops, 30 * 13);
  EXPECT_EQ(of(w, "move").functions, 30 * 4);
  EXPECT_EQ(of(w, "weigh").functions, 30);
}

TEST(workloads, of_tables_and_grids) {
  EXPECT_EQ(of(nw_workload(64), "anti-diagonal").bytes, 4 * (64 * 64 + 4 * 64));
  EXPECT_EQ(of(nw_workload(65), "anti-diagonal").bytes, 4 * of(nw_workload(1), "anti-diagonal").bytes);
  EXPECT_EQ(of(pathfinder_workload(3, 10, 1), "row").bytes, 2 * (10 + 2 * 40));
}

TEST(workloads, of_graphs_follow_the_levels) {
  const bfs_edges line{{0, 1, 3, 4}, {1, 0, 2, 1}};  // 0 - 1 - 2
  const std::vector<std::int64_t> levels{1, 1, 1};
  const workload scanned = bfs_workload(line, levels, false);
  // Three scans of three levels; two nodes are not reached at the first, one at the second: their place, an edge, a
  // flag. Two levels are written.
  EXPECT_EQ(of(scanned, "scan").bytes, 3 * 12 + 3 * 9 + 2 * 4);
  EXPECT_EQ(of(scanned, "mark").bytes, 2 * 3 * 5);
  EXPECT_EQ(of(scanned, "list").bytes, 0);
  bfs_edges large;
  large.starts.assign(101, 0);
  std::iota(large.starts.begin(), large.starts.end(), 0);
  large.targets.assign(100, 0);  // an edge per node
  const std::vector<std::int64_t> small{1, 2, 3};
  const workload listed = bfs_workload(large, small, true);
  EXPECT_EQ(of(listed, "scan").bytes, 0);
  EXPECT_EQ(of(listed, "list").bytes, 6 * (3 + 2) * 4 + 5 * 2 * 4);
}

TEST(workloads, of_meshes_count_faces) {
  cfd_mesh one;
  one.sizes = {1};
  one.neighbours = {cfd_wall, cfd_far, cfd_far, cfd_far};
  one.normals.assign(12, 0.1);
  const workload w = cfd_workload(one, 2, 8);
  EXPECT_EQ(of(w, "stage 1").flops, 2 * (6 + 3 * 54 + 27 + 20));
  EXPECT_EQ(of(w, "stage 3").flops, 2 * (6 + 3 * 54 + 27));
  EXPECT_EQ(of(w, "stage 1").bytes, 2 * (24 * 8 + 16));
  EXPECT_EQ(of(w, "stage 2").bytes, 2 * (28 * 8 + 16));
}

TEST(workloads, of_stream) {
  const region_work w = stream_work("triad", 3, 2, 5, 100, 8);
  EXPECT_EQ(w.bytes, 3 * 8 * 100 * 5);
  EXPECT_EQ(w.flops, 2 * 100 * 5);
}

}  // namespace
}  // namespace tessera::apps::rodinia
