// Applications that search: expected values under all settings.
#include "apps/rodinia/bfs/kernel.hpp"
#include "apps/rodinia/nn/kernel.hpp"
#include "tests/integration/rodinia/settings.hpp"

namespace tessera::testing {
namespace {

using namespace apps::rodinia;

INSTANTIATE_TEST_SUITE_P(all, rodinia, ::testing::ValuesIn(rodinia_settings), name_of_rodinia);

class searched_graph {
 public:
  searched_graph(location_model& model, const region_options& how, const bfs_graph& g)
      : m_search(model, how, g.edges.nodes(), static_cast<std::int64_t>(g.edges.targets.size())), m_source(g.source) {
    const bfs_edges back = reversed(g.edges);
    std::ranges::copy(g.edges.starts, m_search.starts.write().begin());
    std::ranges::copy(g.edges.targets, m_search.targets.write().begin());
    std::ranges::copy(back.starts, m_search.sources_starts.write().begin());
    std::ranges::copy(back.targets, m_search.sources.write().begin());
  }
  std::vector<std::int32_t> levels(bool lists) {
    m_search.start(m_source);
    m_search.run(lists);
    const auto seen = m_search.levels.read();
    return {seen.begin(), seen.end()};
  }

 private:
  bfs_kernel m_search;
  std::int32_t m_source;
};

TEST_P(rodinia, bfs) {
  const bfs_graph graph = make_bfs_graph(1000, 7);
  EXPECT_EQ(graph.edges.targets.size(), 6028u);
  searched_graph search(model, how, graph);
  for (const bool lists : {true, false, true}) {
    const std::vector<std::int32_t> levels = search.levels(lists);
    EXPECT_EQ(levels, bfs_serial(graph));
    EXPECT_EQ(bfs_level_sizes(levels), (std::vector<std::int64_t>{1, 4, 33, 176, 520, 264, 2}));
  }
}

TEST_P(rodinia, bfs_of_a_file) {
  const bfs_graph graph = read_bfs_graph(rodinia_file("graph4096.txt"));
  searched_graph search(model, how, graph);
  const std::vector<std::int32_t> expected = bfs_serial(graph);
  EXPECT_EQ(search.levels(true), expected);
  EXPECT_EQ(search.levels(false), expected);
}

TEST_P(rodinia, bfs_of_a_directed_path_that_does_not_reach_all) {
  bfs_graph graph;
  graph.edges.starts = {0, 1, 2, 2, 3};  // 0 -> 1 -> 2, 3 -> 0
  graph.edges.targets = {1, 2, 0};
  searched_graph search(model, how, graph);
  for (const bool lists : {true, false}) EXPECT_EQ(search.levels(lists), (std::vector<std::int32_t>{0, 1, 2, -1}));
}

TEST_P(rodinia, nn) {
  nn_records records;
  read_nn_records(rodinia_file("cane_excerpt.db"), records);
  ASSERT_EQ(records.names.size(), 245u);
  nn_kernel kernel(model, how, 245);
  std::ranges::copy(records.latitudes, kernel.latitudes.write().begin());
  std::ranges::copy(records.longitudes, kernel.longitudes.write().begin());
  kernel.run(30, 90);
  const auto distances = kernel.distances.read();
  const std::vector<nn_neighbour> nearest = nn_nearest(distances.elements(), 5);
  const double expected[] = {0.199997, 0.412312, 0.538515, 0.608275, 0.608276};
  const char* const names[] = {"1988 TONY", "1980 ISAAC", "1997 HELENE", "2003 TONY", "1974 JOYCE"};
  for (std::size_t k = 0; k < 5; ++k) {
    EXPECT_NEAR(nearest[k].distance, expected[k], 2e-6) << k;
    EXPECT_EQ(records.names[static_cast<std::size_t>(nearest[k].record)], names[k]) << k;
  }
  // A device may fuse the product and the sum, which changes the last bits.
  if (*GetParam().gpus == '\0') expect_same<float>("nn", distances.elements());
  EXPECT_TRUE(devices_took_part("distances"));
}

}  // namespace
}  // namespace tessera::testing
