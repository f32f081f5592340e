// Inputs, references and readers of the applications, without a runtime.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "apps/rodinia/bfs/problem.hpp"
#include "apps/rodinia/cfd/problem.hpp"
#include "apps/rodinia/common/cache_lines.hpp"
#include "apps/rodinia/common/exponential.hpp"
#include "apps/rodinia/common/random_stream.hpp"
#include "apps/rodinia/gaussian/problem.hpp"
#include "apps/rodinia/hotspot/kernel.hpp"
#include "apps/rodinia/hotspot/problem.hpp"
#include "apps/rodinia/lavamd/problem.hpp"
#include "apps/rodinia/lud/problem.hpp"
#include "apps/rodinia/nn/problem.hpp"
#include "apps/rodinia/nw/problem.hpp"
#include "apps/rodinia/particlefilter/problem.hpp"
#include "apps/rodinia/pathfinder/problem.hpp"
#include "apps/rodinia/srad/problem.hpp"

namespace tessera::apps::rodinia {
namespace {

std::string rodinia_data(const char* name) { return std::string(TESSERA_SOURCE_DIR) + "/tests/data/rodinia/" + name; }

TEST(rodinia_random_stream, is_that_of_the_standard_library_and_skips) {
  for (const std::uint64_t seed : {1u, 7u, 54321u}) {
    std::minstd_rand standard(static_cast<unsigned>(seed));
    random_stream ours(seed);
    for (std::uint64_t k = 0; k < 200; ++k) {
      const auto next = static_cast<std::int64_t>(standard());
      EXPECT_EQ(random_stream(seed, k).draw(), next) << k;
      EXPECT_EQ(ours.draw(), next) << k;
    }
  }
  EXPECT_EQ(random_stream(0).draw(), random_stream(1).draw());  // the generator knows no state 0
  random_stream far(3, 1'000'000'000'000), farther(3, 999'999'999'999);
  farther.draw();
  EXPECT_EQ(far.draw(), farther.draw());
}

TEST(rodinia_random_stream, makes_normal_numbers) {
  random_stream from(5);
  double sum = 0, squares = 0;
  for (int k = 0; k < 100'000; ++k) {
    const double v = from.normal();
    sum += v, squares += v * v;
  }
  EXPECT_NEAR(sum / 100'000, 0, 0.02);
  EXPECT_NEAR(squares / 100'000, 1, 0.02);
}

TEST(rodinia_cache_lines, begin_at_multiples_of_their_length) {
  alignas(64) const std::array<double, 32> row{};
  EXPECT_EQ(first_of_line(row.data(), 0, 32), 0);
  EXPECT_EQ(first_of_line(row.data(), 1, 32), 8);
  EXPECT_EQ(first_of_line(row.data() + 3, 1, 29), 5);
  EXPECT_EQ(first_of_line(row.data() + 3, 5, 29), 5);
  EXPECT_EQ(first_of_line(row.data(), 9, 12), 12);  // none of the row
  EXPECT_EQ(first_of_line(row.data(), 1, -1), 1);   // an empty row
}

TEST(rodinia_hotspot, follows_the_closed_form_where_nothing_flows) {
  const std::int64_t n = 8;
  const hotspot_factors<double> f = hotspot_factors_of(n, 1);
  std::vector<double> t(64, 330.0);
  const std::vector<double> none(64, 0.0);
  double expected = 330;
  for (int k = 0; k < 10; ++k) expected += f.rate * f.z * (f.ambient - expected);
  hotspot_serial<double>(t, none, n, f, 10);
  for (const double v : t) EXPECT_NEAR(v, expected, 1e-10);
  std::vector<double> ambient(64, f.ambient);
  hotspot_serial<double>(ambient, none, n, f, 10);
  for (const double v : ambient) EXPECT_EQ(v, f.ambient);
}

TEST(rodinia_hotspot, keeps_symmetry) {
  const std::int64_t n = 9;
  std::vector<double> t(81, 320.0);
  const std::vector<double> none(81, 0.0);
  t[40] = 400;
  hotspot_serial<double>(t, none, n, hotspot_factors_of(n, 1000), 20);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      EXPECT_NEAR(t[static_cast<std::size_t>(i * n + j)], t[static_cast<std::size_t>((n - 1 - i) * n + n - 1 - j)],
                  1e-9);
}

/// Rows go on behind the next line of the cache in another loop, wherever they begin and however short they are.
TEST(rodinia_hotspot, computes_each_cell_of_rows_that_begin_anywhere) {
  const hotspot_factors<float> f = as<float>(hotspot_factors_of(64, 1000));
  alignas(64) std::array<float, 96> to{};
  for (std::int64_t n = 1; n <= 50; ++n) {
    const auto cells = static_cast<std::size_t>(n);
    std::vector<float> t(cells), power(cells, 0.001f);
    for (std::size_t j = 0; j < cells; ++j) t[j] = static_cast<float>(320 + 7 * j % 11);
    const auto at = [&](std::int64_t j) { return t[static_cast<std::size_t>(std::clamp<std::int64_t>(j, 0, n - 1))]; };
    for (std::size_t before = 0; before <= 17; ++before) {
      to.fill(-1);
      hotspot_row<float>(t.data(), t.data(), t.data(), power.data(), to.data() + before, n, f);
      for (std::size_t k = 0; k < to.size(); ++k) {
        const auto j = static_cast<std::int64_t>(k) - static_cast<std::int64_t>(before);
        const float expected =
            j < 0 || j >= n
                ? -1
                : at(j) + f.rate * (0.001f + (at(j - 1) + at(j + 1) - 2 * at(j)) * f.x + (f.ambient - at(j)) * f.z);
        ASSERT_FLOAT_EQ(to[k], expected) << n << " cells behind " << before << ", place " << k;
      }
    }
  }
}

TEST(rodinia_hotspot, replicates_the_cells_of_files) {
  const std::string t = rodinia_data("temp_64.txt"), p = rodinia_data("power_64.txt");
  const hotspot_input small = read_hotspot_input(t, p, 0), large = read_hotspot_input(t, p, 192);
  ASSERT_EQ(small.n, 64);
  ASSERT_EQ(large.temperatures.size(), 192u * 192);
  for (std::size_t i = 0; i < 192; i += 5)
    for (std::size_t j = 0; j < 192; ++j)
      ASSERT_EQ(large.temperatures[i * 192 + j], small.temperatures[i / 3 * 64 + j / 3]);
}

TEST(rodinia_pathfinder, gives_the_known_sums) {
  const std::vector<std::int32_t> cost = pathfinder_serial(9, 100, 1000);
  EXPECT_EQ(std::accumulate(cost.begin(), cost.end(), 0), 143869);
  EXPECT_EQ(cost.front(), 144);
}

TEST(rodinia_srad, keeps_the_sum) {
  std::vector<double> image = make_srad_image(140, 7);
  const double before = std::accumulate(image.begin(), image.end(), 0.0);
  srad_serial(image, 140, 3);
  EXPECT_NEAR(std::accumulate(image.begin(), image.end(), 0.0) / before, 1, 1e-13);
}

TEST(rodinia_gaussian, has_a_closed_form) {
  const std::int64_t n = 20;
  EXPECT_NEAR(gaussian_solution(n, 0), 0.0502499979167, 1e-13);
  EXPECT_NEAR(gaussian_solution(n, 7), 0.000499995833, 1e-12);
  std::vector<double> u;
  for (std::int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      sum += gaussian_element(i, j) * gaussian_solution(n, j);
      u.push_back(j >= i ? gaussian_eliminated(i, j) : 0);
    }
    EXPECT_NEAR(sum, 1, 1e-12);
  }
  std::vector<double> b(static_cast<std::size_t>(n), 0.0);  // U x, for x = 1
  for (std::size_t k = 0; k < u.size(); ++k) b[k / static_cast<std::size_t>(n)] += u[k];
  for (const double x : back_substitute<double>(u, b)) EXPECT_NEAR(x, 1, 1e-12);
  EXPECT_EQ(read_gaussian_input(rodinia_data("matrix4.txt")).solution, (std::vector<double>{0.7, 0, -0.4, -0.5}));
}

TEST(rodinia_lud, has_a_closed_form) {
  const std::int64_t n = 30;
  std::vector<double> factors, a;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) factors.push_back(lud_factor(i, j)), a.push_back(lud_element(i, j));
  EXPECT_LE(lud_product_of<double>(factors, a, n).error, 1e-13);
  EXPECT_NEAR(lud_factor(1, 1), 0.0199800133, 1e-10);
  factors[5] = std::nan("");
  EXPECT_GT(lud_product_of<double>(factors, a, n).error, 1);
}

TEST(rodinia_bfs, makes_the_known_graph) {
  const bfs_graph graph = make_bfs_graph(65536, 7);
  EXPECT_EQ(graph.edges.targets.size(), 393'444u);
  const std::vector<std::int32_t> levels = bfs_serial(graph);
  EXPECT_EQ(std::accumulate(levels.begin(), levels.end(), std::int64_t{0}), 419'263);
  EXPECT_EQ(bfs_level_sizes(levels), (std::vector<std::int64_t>{1, 7, 39, 216, 1203, 6320, 24710, 30466, 2570, 4}));
}

TEST(rodinia_bfs, turns_edges_around) {
  const bfs_edges edges{{0, 2, 2, 3}, {1, 2, 0}}, back = reversed(edges);
  EXPECT_EQ(back.starts, (std::vector<std::int32_t>{0, 1, 2, 3}));
  EXPECT_EQ(back.targets, (std::vector<std::int32_t>{2, 0, 0}));
}

TEST(rodinia_nn, takes_the_first_of_equal_records) {
  const std::vector<float> distances = {3, 1, 2, 1, 1, 5};
  const std::vector<nn_neighbour> nearest = nn_nearest(distances, 3);
  ASSERT_EQ(nearest.size(), 3u);
  EXPECT_EQ(nearest[0].record, 1);
  EXPECT_EQ(nearest[1].record, 3);
  EXPECT_EQ(nearest[2].record, 4);
  EXPECT_EQ(nn_nearest(distances, 50).size(), 6u);
  const nn_records records = make_nn_records(3000, 1);
  std::vector<float> far;
  for (std::size_t k = 0; k < 3000; ++k)
    far.push_back(std::hypot(records.latitudes[k] - 30, records.longitudes[k] - 90));
  const auto ours = nn_nearest(far, 20), sorted = nn_nearest_serial(records, 30, 90, 20);
  for (std::size_t k = 0; k < 20; ++k) EXPECT_NEAR(ours[k].distance, sorted[k].distance, 1e-4) << k;
}

TEST(rodinia_nn, finds_any_number_of_records_in_their_order) {
  std::minstd_rand random(3);
  std::vector<float> distances(1000);
  for (float& d : distances) d = static_cast<float>(random() % 100);  // many equal ones
  std::vector<std::int64_t> order(distances.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::int64_t i) { return distances[static_cast<std::size_t>(i)]; });
  for (const std::int64_t k : {1, 5, 64, 65, 700, 1000}) {
    const auto nearest = nn_nearest(distances, k);
    ASSERT_EQ(nearest.size(), static_cast<std::size_t>(k));
    for (std::size_t i = 0; i < nearest.size(); ++i) EXPECT_EQ(nearest[i].record, order[i]) << k << ' ' << i;
  }
  EXPECT_TRUE(nn_nearest({}, 5).empty());
}

TEST(rodinia_nw, has_the_known_scores_and_table) {
  EXPECT_EQ(read_nw_scores(rodinia_data("blosum62.txt")), nw_blosum62());
  for (std::size_t i = 0; i < 24; ++i)
    for (std::size_t j = 0; j < 24; ++j) EXPECT_EQ(nw_blosum62()[24 * i + j], nw_blosum62()[24 * j + i]);
  const nw_input in = make_nw_input(512, 7);
  const std::vector<std::int32_t> f = nw_serial(in, nw_blosum62());
  EXPECT_EQ(f.back(), 24);
  EXPECT_EQ(std::accumulate(f.begin(), f.end(), std::int64_t{0}), -348301337);
  EXPECT_EQ(nw_path_score(in, nw_blosum62(), f), 24);
}

TEST(rodinia_lavamd, knows_the_neighbours_of_a_box) {
  std::vector<std::int64_t> near;
  const auto note = [&](std::int64_t box) { near.push_back(box); };
  lavamd_neighbours(0, 3, note);
  EXPECT_EQ(near, (std::vector<std::int64_t>{0, 1, 3, 4, 9, 10, 12, 13}));
  near.clear();
  lavamd_neighbours(13, 3, note);
  EXPECT_EQ(near.size(), 27u);
  near.clear();
  lavamd_neighbours(0, 1, note);
  EXPECT_EQ(near, std::vector<std::int64_t>{0});
}

TEST(rodinia_particlefilter, has_a_disk) {
  EXPECT_EQ(filter_points.count, 69);
  std::vector<std::int32_t> pixels(64 * 64);
  make_filter_frame(64, 3, pixels.data());
  const auto [row, column] = filter_centre(64, 3);
  EXPECT_EQ(row, 28);
  EXPECT_EQ(column, 34);
  const auto at = [&](double r, double c) { return filter_likelihood(pixels.data(), 64, r, c); };
  EXPECT_GT(at(28.5, 34.5), at(30.5, 34.5));
  EXPECT_GT(at(28.5, 34.5), 200);
  EXPECT_LT(at(-100, 5000), 0);  // outside
}

TEST(rodinia_particlefilter, finds_the_likelihood_from_the_sum_of_the_pixels) {
  std::vector<std::int32_t> pixels(64 * 64);
  make_filter_frame(64, 3, pixels.data());
  for (const double row : {-9.5, 0., 3.9, 4., 28.5, 59.9, 60., 63.5, 90.})
    for (const double column : {-1e6, -0.5, 4.2, 34.5, 59.5, 60.5, 64.}) {
      const double expected = filter_likelihood(pixels.data(), 64, row, column);
      EXPECT_NEAR(filter_likelihood_of_sum(pixels.data(), 64, row, column), expected, 1e-12 * std::abs(expected))
          << row << ' ' << column;
    }
}

TEST(rodinia_exponential, is_right_to_two_units_in_the_last_place) {
  EXPECT_EQ(exponential(0), 1);
  for (int k = -70000; k <= 70000; ++k) {
    const double x = k * 0.00999, expected = std::exp(x);
    EXPECT_LE(std::abs(exponential(x) - expected), 2 * (std::nextafter(expected, 1e308) - expected)) << x;
  }
}

TEST(rodinia_cfd, makes_meshes_that_are_closed) {
  for (const bool hole : {false, true}) {
    const cfd_mesh mesh = make_cfd_mesh(6, hole);
    ASSERT_EQ(mesh.elements(), hole ? 6 * (216 - 8) : 6 * 216);
    std::int64_t walls = 0, far = 0;
    for (std::int64_t i = 0; i < mesh.elements(); ++i) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        double sum = 0;
        for (std::size_t face = 0; face < 4; ++face)
          sum += mesh.normals[static_cast<std::size_t>(12 * i) + 3 * face + axis];
        EXPECT_NEAR(sum, 0, 1e-15);
      }
      for (std::size_t face = 0; face < 4; ++face) {
        const std::int32_t other = mesh.neighbours[static_cast<std::size_t>(4 * i) + face];
        walls += other == cfd_wall, far += other == cfd_far;
        if (other < 0) continue;
        const auto begin = mesh.neighbours.begin() + 4 * other;
        EXPECT_NE(std::find(begin, begin + 4, static_cast<std::int32_t>(i)), begin + 4);
      }
    }
    EXPECT_EQ(walls, hole ? 6 * 4 * 2 : 0);
    EXPECT_EQ(far, 6 * 36 * 2);
    auto states = cfd_serial(mesh, 3);
    EXPECT_LE(cfd_imbalance(mesh, states), 1e-12);
    states[7] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(cfd_imbalance(mesh, states) <= 1e-12) << "what is no number is not right";
  }
}

}  // namespace
}  // namespace tessera::apps::rodinia
