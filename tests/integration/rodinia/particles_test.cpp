// Applications of particles and meshes: expected values under all settings.
#include <numeric>

#include "apps/rodinia/cfd/kernel.hpp"
#include "apps/rodinia/lavamd/kernel.hpp"
#include "apps/rodinia/particlefilter/kernel.hpp"
#include "tests/integration/rodinia/settings.hpp"

namespace tessera::testing {
namespace {

using namespace apps::rodinia;

INSTANTIATE_TEST_SUITE_P(all, rodinia, ::testing::ValuesIn(rodinia_settings), name_of_rodinia);

TEST_P(rodinia, lavamd) {
  const double expected[2][5] = {{347570.222606578, 5872.07810156, -959.852934938, 5057.10496943, 494502.879562342},
                                 {5234027.24834998, 16357.5729102, -20229.4049895, 10253.4084621, 7458740.56869415}};
  for (const std::int64_t b : {2, 4}) {
    if (b == 4 && GetParam().memories == 1) continue;  // a second of work
    lavamd_kernel boxes(model, how, b);
    boxes.generate(1);
    boxes.run();
    const auto seen = boxes.results.read();
    const auto sums = lavamd_sums(seen.begin(), b * b * b * lavamd_particles);
    for (std::size_t k = 0; k < 5; ++k) expect_close(sums[k], expected[b / 4][k], 1e-10, "sum");
    expect_same<double>("lavamd " + std::to_string(b), seen.elements());
    EXPECT_TRUE(devices_took_part("boxes"));
    if (b == 4) continue;
    const double first[] = {555.101987388, -71.3644096874, 137.586908812, 210.416396355};
    for (std::int64_t k = 0; k < 4; ++k) expect_close(seen[k], first[k], 1e-10, "particle 0");
  }
}

TEST_P(rodinia, lavamd_of_equal_charges_and_of_one_box) {
  for (const std::int64_t b : {1, 3}) {
    lavamd_kernel boxes(model, how, b);
    boxes.generate(1, 0.5);
    boxes.run();
    const auto sums = lavamd_sums(boxes.results.read().begin(), b * b * b * lavamd_particles);
    for (std::size_t k = 1; k < 4; ++k) EXPECT_LE(std::abs(sums[k]), 1e-12 * sums[4]) << b;
  }
}

TEST_P(rodinia, particlefilter) {
  filter_kernel filter(model, how, 128, 10, 2000);
  filter.generate();
  filter.start();
  filter.run();
  const auto seen = filter.estimates.read();
  for (std::int64_t f = 1; f < 10; ++f) {
    const auto [row, column] = filter_centre(128, f);
    EXPECT_NEAR(seen(f, 0), static_cast<double>(row) + 0.5, 0.5) << f;
    EXPECT_NEAR(seen(f, 1), static_cast<double>(column) + 0.5, 0.5) << f;
    EXPECT_NEAR(seen(f, 2), 1, 1e-12) << f;
  }
  if (has_mathematics_of_host()) expect_same<double>("particlefilter", seen.elements().subspan(3));
  for (const char* region : {"move", "weigh", "resample"}) EXPECT_TRUE(devices_took_part(region)) << region;
}

template <class T>
std::vector<T> flow(location_model& model, const region_options& how, const cfd_mesh& mesh, int iterations) {
  cfd_kernel<T> gas(model, how, mesh.elements());
  std::ranges::copy(mesh.neighbours, gas.neighbours.write().begin());
  std::ranges::transform(mesh.sizes, gas.sizes.write().begin(), [](double v) { return static_cast<T>(v); });
  std::ranges::transform(mesh.normals, gas.normals.write().begin(), [](double v) { return static_cast<T>(v); });
  gas.start();
  for (int k = 0; k < iterations; ++k) gas.iteration();
  const auto seen = gas.states.read();
  return {seen.begin(), seen.end()};
}

double sum_of(const std::vector<double>& states, std::size_t what) {
  double sum = 0;
  for (std::size_t k = what; k < states.size(); k += 5) sum += states[k];
  return sum;
}

TEST_P(rodinia, cfd_around_a_box) {
  const cfd_mesh mesh = read_cfd_mesh(rodinia_file("tets_box_hole.domn"));
  ASSERT_EQ(mesh.elements(), 13020);
  const std::vector<double> once = flow<double>(model, how, mesh, 1);
  expect_close(sum_of(once, 0), 18228.0, 1e-10, "density");
  expect_close(sum_of(once, 1), 21873.561596, 1e-10, "momentum");
  expect_close(sum_of(once, 4), 45674.16, 1e-10, "energy");
  const std::vector<double> states = flow<double>(model, how, mesh, 20);
  expect_close(sum_of(states, 0), 18227.300194, 1e-10, "density");
  expect_close(sum_of(states, 1), 21862.8946, 1e-10, "momentum");
  expect_close(sum_of(states, 4), 45671.919431, 1e-10, "energy");
  EXPECT_NEAR(sum_of(states, 2), 0.003194, 1e-6);
  EXPECT_NEAR(sum_of(states, 3), 0.003194, 1e-6);
  double low = 9, high = 0;
  for (std::size_t k = 0; k < states.size(); k += 5) low = std::min(low, states[k]), high = std::max(high, states[k]);
  expect_close(low, 0.73051904, 1e-8, "smallest density");
  expect_close(high, 2.2855939, 1e-8, "largest density");
  EXPECT_LE(cfd_imbalance(mesh, states), 1e-12);
  expect_same<double>("cfd", states);
  for (const char* region : {"stage 1", "stage 2", "stage 3"}) EXPECT_TRUE(devices_took_part(region)) << region;
}

/// The far field's boundary becomes walls where its normals are across `axis`.
cfd_mesh with_walls(cfd_mesh mesh, std::size_t axis) {
  for (std::size_t face = 0; face < mesh.neighbours.size(); ++face)
    if (mesh.neighbours[face] == cfd_far && mesh.normals[3 * face + axis] == 0) mesh.neighbours[face] = cfd_wall;
  return mesh;
}

TEST_P(rodinia, cfd_between_walls_along_the_flow_keeps_the_far_field) {
  const cfd_mesh mesh = with_walls(make_cfd_mesh(4, false), 0);
  EXPECT_EQ(std::ranges::count(mesh.neighbours, cfd_wall), 4 * 4 * 4 * 2);
  constexpr cfd_state<double> far = cfd_far_field<double>();
  const std::vector<double> states = flow<double>(model, how, mesh, 5);
  for (std::size_t k = 0; k < states.size(); ++k) EXPECT_NEAR(states[k], far[k % 5], 1e-12) << k;
  EXPECT_LE(cfd_imbalance(mesh, states), 1e-12);
  const std::vector<float> single = flow<float>(model, how, mesh, 5);
  for (std::size_t k = 0; k < single.size(); ++k) EXPECT_NEAR(single[k], far[k % 5], 2e-5) << k;
  // Walls that the gas runs into change it.
  const std::vector<double> stopped = flow<double>(model, how, with_walls(make_cfd_mesh(4, false), 1), 1);
  double change = 0;
  for (std::size_t k = 0; k < stopped.size(); ++k) change = std::max(change, std::abs(stopped[k] - far[k % 5]));
  EXPECT_GT(change, 0.1);
}

TEST_P(rodinia, cfd_without_walls_keeps_the_far_field) {
  const cfd_mesh mesh = make_cfd_mesh(4, false);
  constexpr cfd_state<double> far = cfd_far_field<double>();
  const std::vector<double> states = flow<double>(model, how, mesh, 5);
  for (std::size_t k = 0; k < states.size(); ++k) EXPECT_NEAR(states[k], far[k % 5], 1e-12) << k;
  const std::vector<float> single = flow<float>(model, how, mesh, 5);
  for (std::size_t k = 0; k < single.size(); ++k) EXPECT_NEAR(single[k], far[k % 5], 2e-5) << k;
}

}  // namespace
}  // namespace tessera::testing
