// Applications over grids: expected values under all settings.
#include <numeric>

#include "apps/rodinia/hotspot/kernel.hpp"
#include "apps/rodinia/nw/kernel.hpp"
#include "apps/rodinia/pathfinder/kernel.hpp"
#include "apps/rodinia/srad/kernel.hpp"
#include "tests/integration/rodinia/settings.hpp"

namespace tessera::testing {
namespace {

using namespace apps::rodinia;

INSTANTIATE_TEST_SUITE_P(all, rodinia, ::testing::ValuesIn(rodinia_settings), name_of_rodinia);

TEST_P(rodinia, hotspot) {
  hotspot_kernel<double> heat(model, how, 256, hotspot_factors_of(256, 1));
  heat.generate(5);
  for (int k = 0; k < 100; ++k) heat.step();
  const auto t = heat.temperatures().read_host();
  expect_close(std::accumulate(t.begin(), t.end(), 0.0), 21191878.0450693, 1e-10, "sum");
  // Computed apart from this code, with divisions by the resistances and one cell after the other.
  expect_close(*std::min_element(t.begin(), t.end()), 320.690565503992, 1e-10, "minimum");
  expect_close(*std::max_element(t.begin(), t.end()), 326.0564496248, 1e-10, "maximum");
  expect_close(t[0], 322.0936830500, 1e-10, "first");
  expect_same<double>("hotspot", t.elements());
  EXPECT_TRUE(devices_took_part("heat"));
}

TEST_P(rodinia, hotspot_in_float_with_the_divisor) {
  const hotspot_factors<double> factors = hotspot_factors_of(64, 1000);
  hotspot_kernel<float> heat(model, how, 64, factors);
  heat.generate(5);
  for (int k = 0; k < 20; ++k) heat.step();
  const hotspot_input in = make_hotspot_input(64, 5);
  std::vector<float> t(in.temperatures.begin(), in.temperatures.end()), p(in.powers.begin(), in.powers.end());
  hotspot_serial<float>(t, p, 64, as<float>(factors), 20);
  const auto seen = heat.temperatures().read_host();
  for (std::size_t k = 0; k < t.size(); ++k) EXPECT_NEAR(seen.begin()[k], t[k], 2e-5 * t[k]) << k;
  expect_same<float>("hotspot float", seen.elements());
}

TEST_P(rodinia, hotspot_of_one_cell) {
  hotspot_kernel<double> heat(model, how, 1, hotspot_factors_of(1, 1));
  heat.generate(5);
  heat.step();
  const hotspot_input in = make_hotspot_input(1, 5);
  std::vector<double> t = in.temperatures;
  hotspot_serial<double>(t, in.powers, 1, hotspot_factors_of(1, 1), 1);
  EXPECT_DOUBLE_EQ(heat.temperatures().read_host()[0], t[0]);
}

TEST_P(rodinia, pathfinder) {
  pathfinder_kernel<std::int32_t> path(model, how, 100, 1000);
  path.generate(9);
  path.start();
  path.run();
  const auto seen = path.costs().read_host();
  const std::span<const std::int32_t> costs = seen.elements().subspan(1, 1000);
  EXPECT_EQ(std::accumulate(costs.begin(), costs.end(), std::int64_t{0}), 143869);
  EXPECT_EQ(*std::ranges::min_element(costs), 111);
  EXPECT_EQ(*std::ranges::max_element(costs), 165);
  EXPECT_EQ(costs.front(), 144);
  EXPECT_EQ(costs.back(), 161);
  expect_same<std::int32_t>("pathfinder", costs);
  EXPECT_TRUE(devices_took_part("row"));
}

TEST_P(rodinia, pathfinder_in_bytes_and_twice) {
  pathfinder_kernel<std::uint8_t> path(model, how, 100, 1000);
  path.generate(9);
  for (int k = 0; k < 2; ++k) {
    path.start();
    path.run();
    const auto seen = path.costs().read_host();
    expect_same<std::int32_t>("pathfinder", seen.elements().subspan(1, 1000));
  }
  path.fill([](std::int64_t, std::uint8_t* to) { std::fill_n(to, 1000, std::uint8_t{7}); });
  path.start();
  path.run();
  const auto seen = path.costs().read_host();
  for (const std::int32_t cost : seen.elements().subspan(1, 1000)) EXPECT_EQ(cost, 700);
}

TEST_P(rodinia, srad) {
  srad_kernel<double> image(model, how, 256);
  image.generate(7);
  double before = 0;
  {
    const auto seen = image.image().read_host();
    before = std::accumulate(seen.begin(), seen.end(), 0.0);
  }
  for (int k = 0; k < 2; ++k) image.iteration();
  const auto seen = image.image().read_host();
  const double sum = std::accumulate(seen.begin(), seen.end(), 0.0);
  expect_close(sum, 112360.229050186, 1e-10, "sum");
  expect_close(sum, before, 1e-12, "sum before");
  expect_close(*std::min_element(seen.begin(), seen.end()), 1.06017388282, 1e-10, "minimum");
  expect_close(*std::max_element(seen.begin(), seen.end()), 2.58368532515, 1e-10, "maximum");
  expect_close(seen[0], 1.17212385441, 1e-10, "first");
  expect_same<double>("srad", seen.elements());
  EXPECT_TRUE(devices_took_part("coefficients"));
  EXPECT_TRUE(devices_took_part("update"));
}

/// With the whole image on a device, an iteration moves what its rows sum up to.
TEST(rodinia_on_a_device, srad_brings_no_image_home) {
  constexpr std::int64_t n = 256;
  runtime rt(with_gpus("cuda_emulated", 1, "256 MiB", "history = \"off\"\n"));
  location_model model(rt);
  srad_kernel<double> image(model, {.policy = policy::percentage({0, 0, 100})}, n);
  image.generate(7);
  image.iteration();  // moves the image there
  model.fence();
  const std::uint64_t before = rt.statistics().bytes_transferred();
  for (int k = 0; k < 4; ++k) image.iteration();
  model.fence();
  const std::uint64_t moved = rt.statistics().bytes_transferred() - before;
  EXPECT_GT(moved, 0u);
  EXPECT_LT(moved, 4 * n * n * sizeof(double) / 50);
}

TEST_P(rodinia, srad_in_float_and_of_a_constant_image) {
  srad_kernel<float> image(model, how, 200);
  image.generate(7);
  for (int k = 0; k < 2; ++k) image.iteration();
  std::vector<double> expected = make_srad_image(200, 7);
  srad_serial(expected, 200, 2);
  {
    const auto seen = image.image().read_host();
    for (std::size_t k = 0; k < expected.size(); ++k)
      EXPECT_NEAR(seen.begin()[k], expected[k], 2e-5 * expected[k]) << k;
  }
  image.fill(1.25f);
  image.iteration();
  for (const float v : image.image().read_host()) EXPECT_EQ(v, 1.25f);
}

TEST_P(rodinia, nw) {
  const nw_input in = make_nw_input(512, 7);
  nw_kernel alignment(model, how, in, nw_blosum62());
  alignment.run();
  const std::vector<std::int32_t> table = alignment.table();
  const nw_summary seen =
      nw_summary_of(512, [&](std::int64_t i, std::int64_t j) { return table[static_cast<std::size_t>(i * 513 + j)]; });
  EXPECT_EQ(seen, (nw_summary{-348301337, 24, 23, 35}));
  expect_same<std::int32_t>("nw", table);
  EXPECT_TRUE(devices_ran("anti-diagonal"));
}

TEST_P(rodinia, nw_of_lengths_that_are_no_blocks) {
  for (const std::int64_t n : {1, 63, 65, 130}) {
    const nw_input in = make_nw_input(n, 3);
    nw_kernel alignment(model, how, in, nw_blosum62());
    alignment.run();
    EXPECT_EQ(alignment.table(), nw_serial(in, nw_blosum62())) << n;
  }
}

}  // namespace
}  // namespace tessera::testing
