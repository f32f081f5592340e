#include "apps/comd/cell_grid.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "apps/comd/neighbourhood.hpp"
#include "apps/comd/sorting.hpp"
#include "core/base/error.hpp"

namespace tessera::testing {
namespace {

using namespace apps::comd;
using ::testing::HasSubstr;

TEST(comd_cell_grid, has_as_many_cells_as_fit) {
  const cell_grid grid = make_cell_grid(make_crystal({20, 10, 4}, 3.615), 5.7875);
  EXPECT_EQ(grid.count, (std::array<std::int32_t, 3>{12, 6, 2}));
  EXPECT_EQ(grid.cells(), 144);
  EXPECT_EQ(grid.capacity % 8, 0);
  for (std::int64_t cell = 0; cell < grid.cells(); ++cell) EXPECT_EQ(grid.cell(grid.place(cell)), cell);
}

TEST(comd_cell_grid, refuses_a_box_shorter_than_two_cutoffs) {
  try {
    make_cell_grid(make_crystal({20, 3, 20}, 3.615), 5.7875);
    FAIL();
  } catch (const error& e) {
    EXPECT_EQ(e.kind(), error_kind::usage);
    EXPECT_THAT(e.what(), HasSubstr("10.85 A"));
    EXPECT_THAT(e.what(), HasSubstr("at least 4 lattice cells"));
  }
}

TEST(comd_cell_grid, has_no_more_cells_than_the_lattice_however_short_the_cutoff_is) {
  for (const double cutoff : {1.0, 1e-9, 1e-300}) {
    const cell_grid grid = make_cell_grid(make_crystal({5, 4, 1}, 3.615), cutoff);
    EXPECT_EQ(grid.count, (std::array<std::int32_t, 3>{5, 4, 2})) << cutoff;
    EXPECT_LE(grid.capacity, 16) << cutoff;
  }
}

TEST(comd_cell_grid, puts_the_edges_of_the_box_into_cells) {
  const cell_grid grid = make_cell_grid(make_crystal({20, 20, 20}, 3.615), 5.7875);
  EXPECT_EQ(grid.along(0, 0), 0);
  EXPECT_EQ(grid.along(1, 6.0), 0);
  EXPECT_EQ(grid.along(1, 6.1), 1);
  EXPECT_EQ(grid.along(2, 72.3), 11);
}

TEST(comd_cell_grid, goes_around_the_box) {
  const cell_grid grid = make_cell_grid(make_crystal({20, 10, 4}, 3.615), 5.7875);
  for (const std::int64_t cell : {std::int64_t{0}, std::int64_t{50}, grid.cells() - 1}) {
    std::set<std::pair<std::int64_t, vector3>> seen;
    std::set<std::int64_t> cells, once;
    const auto here = grid.place(cell);
    grid.for_each_neighbour(cell, [&](std::int64_t other, const vector3& shift) {
      EXPECT_TRUE(seen.insert({other, shift}).second);
      cells.insert(other);
      const auto there = grid.place(other);
      for (std::size_t a = 0; a < 3; ++a) {  // moved by the shift, its cell lies beside this one
        const double edge = grid.box[a] / grid.count[a];
        EXPECT_NEAR(std::abs(there[a] * edge + shift[a] - here[a] * edge), edge / 2, edge / 2 + 1e-9);
      }
    });
    EXPECT_EQ(seen.size(), 27u);
    int calls = 0;
    grid.for_each_cell_around(cell, [&](std::int64_t other) {
      if (calls++ == 0) {
        EXPECT_EQ(other, cell);
      }
      once.insert(other);
    });
    EXPECT_EQ(once, cells);
    EXPECT_EQ(calls, 18) << "two cells along z, three along the others";
  }
}

/// Atoms of a crystal that have moved a little, in their cells.
struct shaken {
  crystal atoms = make_crystal({6, 5, 4}, 3.615);
  cell_grid grid = make_cell_grid(atoms, 5.7);
  std::vector<std::int32_t> counts = std::vector<std::int32_t>(static_cast<std::size_t>(grid.cells()));
  std::vector<double> positions = std::vector<double>(static_cast<std::size_t>(3 * grid.cells() * grid.capacity));
  shaken() {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> by(-0.4, 0.4);
    for (vector3& p : atoms.positions) {
      std::array<std::int32_t, 3> at{};
      for (std::size_t a = 0; a < 3; ++a) at[a] = grid.along(a, p[a] += by(random));
      const std::int64_t cell = grid.cell(at);
      const std::int64_t slot = counts[static_cast<std::size_t>(cell)]++;
      for (std::size_t a = 0; a < 3; ++a)
        positions[static_cast<std::size_t>((3 * cell + static_cast<std::int64_t>(a)) * grid.capacity + slot)] = p[a];
    }
  }
};

TEST(comd_neighbourhood, has_all_partners_once) {
  const shaken of;
  neighbourhood<double> near;
  const double cutoff = 5.7, box = of.grid.box[0];
  EXPECT_GT(box, 0);
  for (std::int64_t cell = 0; cell < of.grid.cells(); ++cell) {
    near.collect(of.grid, cell, {of.counts.data(), of.positions.data()}, cutoff);
    ASSERT_EQ(near.size() % 8, 0);
    const cell_atoms<double> own{of.counts[static_cast<std::size_t>(cell)], of.grid.capacity,
                                 of.positions.data() + 3 * cell * of.grid.capacity};
    for (std::int32_t k = 0; k < own.count; ++k) {
      std::multiset<std::int64_t> found, expected;  // squares of distances
      const auto add = [&](std::multiset<std::int64_t>& to, double dx, double dy, double dz) {
        const double square = dx * dx + dy * dy + dz * dz;
        if (square < cutoff * cutoff) to.insert(std::llround(square * 1e6));
      };
      for (std::int32_t j = 0; j < near.size(); ++j)
        add(found, near.x()[j] - own.x(k), near.y()[j] - own.y(k), near.z()[j] - own.z(k));
      for (const vector3& p : of.atoms.positions) {
        double d[3] = {p[0] - own.x(k), p[1] - own.y(k), p[2] - own.z(k)};
        for (std::size_t a = 0; a < 3; ++a) d[a] -= of.grid.box[a] * std::round(d[a] / of.grid.box[a]);
        add(expected, d[0], d[1], d[2]);
      }
      ASSERT_EQ(found, expected) << cell << ' ' << k;
    }
  }
}

TEST(comd_neighbourhood, takes_numbers_along) {
  const shaken of;
  std::vector<double> numbers(static_cast<std::size_t>(of.grid.cells() * of.grid.capacity));
  std::map<double, double> number_of;  // by x, which no two atoms share
  for (std::int64_t cell = 0; cell < of.grid.cells(); ++cell)
    for (std::int64_t k = 0; k < of.counts[static_cast<std::size_t>(cell)]; ++k) {
      const auto slot = static_cast<std::size_t>(cell * of.grid.capacity + k);
      numbers[slot] = static_cast<double>(slot);
      number_of[of.positions[static_cast<std::size_t>(3 * cell * of.grid.capacity + k)]] = numbers[slot];
    }
  neighbourhood<double> near;
  near.collect(of.grid, 0, {of.counts.data(), of.positions.data(), numbers.data()}, 5.7);
  int seen = 0;
  for (std::int32_t j = 0; j < near.size(); ++j)
    if (const auto at = number_of.find(near.x()[j]); at != number_of.end()) {
      EXPECT_EQ(near.attached()[j], at->second);
      ++seen;
    }
  EXPECT_GT(seen, 10);
}

TEST(comd_move_atoms, wraps_and_names_the_cell) {
  const cell_grid grid = make_cell_grid(make_crystal({20, 20, 20}, 3.615), 5.7875);
  std::vector<double> positions(static_cast<std::size_t>(3 * grid.capacity)), momenta(positions.size());
  std::vector<std::int32_t> targets(static_cast<std::size_t>(grid.capacity));
  const auto one = [&](const vector3& at, const vector3& by) {
    for (std::size_t a = 0; a < 3; ++a) {
      positions[a * static_cast<std::size_t>(grid.capacity)] = at[a];
      momenta[a * static_cast<std::size_t>(grid.capacity)] = by[a] / 2;
    }
    const std::int32_t leaving = move_atoms<double>(grid, 0, 1, 2, momenta.data(), positions.data(), targets.data(), 1);
    EXPECT_EQ(leaving, targets[0] == 0 ? 0 : 1);
    return targets[0];
  };
  EXPECT_EQ(one({1, 2, 3}, {1, 1, 1}), 0);
  EXPECT_DOUBLE_EQ(positions[0], 2);
  EXPECT_EQ(one({1, 2, 6}, {0, 0, 0.5}), grid.cell({0, 0, 1}));
  EXPECT_EQ(one({1, 2, 3}, {-2, 5, 0}), grid.cell({11, 1, 0}));
  EXPECT_DOUBLE_EQ(positions[0], 71.3);
  EXPECT_EQ(one({1, 0, 3}, {0, -1e-20, 0}), 0) << "a step that is too small to leave the edge of the box";
  EXPECT_EQ(positions[static_cast<std::size_t>(grid.capacity)], 0);
  EXPECT_THROW(one({1, 2, 3}, {14, 0, 0}), error);
  EXPECT_THROW(one({1, 2, 3}, {0, 0, -100}), error);
  try {
    one({1, 2, 3}, {0, std::nan(""), 0});
    ADD_FAILURE();
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("the position of an atom is not a number in step 1"), std::string::npos);
  }
}

}  // namespace
}  // namespace tessera::testing
