// Runs in virtual time against what can be worked out by hand.
#include <gtest/gtest.h>

#include "apps/cholesky/factorization.hpp"
#include "hierarchy/simulation/simulated_machine.hpp"
#include "tessera/detail/linear_algebra.hpp"
#include "tests/unit/simulation/machines.hpp"

namespace tessera::hierarchy {
namespace {

using testing::described;
using testing::rig;

TEST(simulated_run, cores_take_flops_over_rate) {
  // 10 tasks of 1 ms on 4 cores: three rounds.
  rig r(described(4, 0));
  auto c = r.matrices("C", 10);
  r.begin();
  for (std::size_t k = 0; k < 10; ++k) r.multiply(c.block(k));
  r.rt.fence();
  EXPECT_EQ(r.passed(), 3 * testing::tile_ns);
}

TEST(simulated_run, a_thousand_cores_and_many_devices) {
  rig r(described(1024, 62));
  auto c = r.matrices("C", 1024);
  r.bring(r.rt.at("core0"));
  r.begin();
  for (std::size_t k = 0; k < c.size(); ++k) r.multiply(c.block(k), r.rt.at("core0"));
  r.rt.fence();
  EXPECT_EQ(r.passed(), testing::tile_ns) << "a task per core, all at the same time";
  EXPECT_EQ(r.rt.workers(), 1024u);
}

TEST(simulated_run, a_chain_on_the_host_is_as_long_as_its_tasks) {
  rig r(described(4, 0));
  auto c = r.matrices("C", 1);
  r.begin();
  for (int k = 0; k < 7; ++k) r.multiply(c.block(0));
  r.rt.fence();
  EXPECT_EQ(r.passed(), 7 * testing::tile_ns);
}

TEST(simulated_run, one_device_takes_flops_over_rate) {
  rig r(described(1, 1));
  const auto at = r.rt.at("gpu");
  auto c = r.matrices("C", 32, at);
  r.bring(at);
  r.begin();
  for (std::size_t k = 0; k < 32; ++k) r.multiply(c.block(k), at);
  r.rt.fence();
  EXPECT_EQ(r.passed(), 32 * testing::device_tile_ns);
  EXPECT_EQ(r.world->devices()[1]->busy_ns, 32 * testing::device_tile_ns);
}

TEST(simulated_run, a_copy_takes_latency_and_bytes_over_bandwidth) {
  rig r(described(1, 1));
  auto c = r.matrices("C", 5);
  r.bring(r.rt.at("gpu"));
  r.begin();
  r.multiply(c.block(0), r.rt.at("gpu"));
  r.rt.fence();
  EXPECT_EQ(r.passed(), testing::copy_ns + testing::device_tile_ns);
  r.begin();
  for (std::size_t k = 1; k < 5; ++k) r.multiply(c.block(k), r.rt.at("gpu"));
  r.rt.fence();
  // Copies are longer than kernels here: they follow one another, and only the last kernel is left over.
  ASSERT_GT(testing::copy_ns, testing::device_tile_ns);
  EXPECT_EQ(r.passed(), 4 * testing::copy_ns + testing::device_tile_ns);
  const auto& links = r.world->links();
  ASSERT_EQ(links.size(), 1u);
  EXPECT_EQ(links[0].bytes, 4 * testing::tile_bytes);
  EXPECT_EQ(links[0].busy_ns, 4 * (testing::copy_ns - testing::latency_ns));
}

TEST(simulated_run, submission_takes_time_too) {
  auto d = described(4, 0);
  d.runtime.submit_ns = 5000;
  rig r(std::move(d));
  auto c = r.matrices("C", 3);
  r.begin();
  for (std::size_t k = 0; k < 3; ++k) r.multiply(c.block(k));
  r.rt.fence();
  // Each begins on another core as soon as it is there: the third 10 us after the first.
  EXPECT_EQ(r.passed(), 2 * 5000 + testing::tile_ns);
}

TEST(simulated_run, what_does_not_fit_is_evicted_and_written_back) {
  auto d = described(1, 1);
  d.devices[0].memory_bytes = 8 * testing::tile_bytes;
  rig r(std::move(d));
  auto c = r.matrices("C", 20);
  r.begin();
  for (int round = 0; round < 2; ++round)
    for (std::size_t k = 0; k < 20; ++k) r.multiply(c.block(k), r.rt.at("gpu"));
  r.rt.fence();
  const statistics s = r.rt.statistics();
  EXPECT_GT(s.coherence.written_back, 0u);
  EXPECT_GE(r.passed(), 20 * (testing::copy_ns - testing::latency_ns));  // each must come at least once
  EXPECT_GE(r.passed(), 40 * testing::device_tile_ns);
}

std::uint64_t cholesky_ns(machine_description d, const std::string& placement, std::int64_t tiles,
                          std::uint64_t* bytes = nullptr) {
  config::runtime_settings settings;
  settings.placement = placement;
  rig r(std::move(d), false, settings);
  const std::int64_t n = tiles * testing::tile;
  auto a = r.rt.make_matrix<double>("A", {n, n}, {testing::tile, testing::tile});
  auto info = r.rt.make_array<std::int32_t>("info", {tiles}, {1});
  for (std::int64_t j = 0; j < tiles; ++j)
    for (std::int64_t i = j; i < tiles; ++i) fill(r.rt, a(i, j), 1.0);
  r.rt.fence();
  r.begin();
  apps::factorize(r.rt, a, info);
  r.rt.fence();
  if (bytes != nullptr) {
    *bytes = 0;
    for (const link_use& u : r.world->links()) *bytes += u.bytes;
  }
  return r.passed();
}

TEST(simulated_run, two_runs_are_the_same_run) {
  for (const char* placement : {"locality", "cost", "eager"}) {
    std::uint64_t bytes[2];
    const auto first = cholesky_ns(described(8, 3), placement, 14, &bytes[0]);
    EXPECT_EQ(first, cholesky_ns(described(8, 3), placement, 14, &bytes[1])) << placement;
    EXPECT_EQ(bytes[0], bytes[1]) << placement;
    EXPECT_GT(bytes[0], 0u) << placement;
  }
}

TEST(simulated_run, no_run_is_faster_than_its_work_and_its_longest_path) {
  constexpr std::int64_t tiles = 12;
  for (const std::uint32_t cores : {1u, 2u, 5u, 16u, 64u}) {
    const std::uint64_t ns = cholesky_ns(described(cores, 0), "locality", tiles);
    // In units of a gemm of 2 t^3: potrf 1/6, trsm and syrk 1/2.
    const double t = testing::tile_ns;
    const double work = t * (tiles / 6.0 + tiles * (tiles - 1) / 2.0 + tiles * (tiles - 1) * (tiles - 2) / 6.0);
    // potrf, then a trsm and a gemm per step, and at the end syrk and potrf.
    const double path = t * (1 / 6.0 + (tiles - 1) * 0.5 + (tiles - 2) + 0.5 + 1 / 6.0);
    EXPECT_GE(static_cast<double>(ns), 0.999 * work / cores) << cores;
    EXPECT_GE(static_cast<double>(ns), 0.999 * path) << cores;
    // List scheduling without transfers: Graham's bound, work / p + path.
    EXPECT_LE(static_cast<double>(ns), 1.001 * (work / cores + path)) << cores;
  }
}

TEST(simulated_run, more_devices_are_not_slower) {
  std::uint64_t before = ~std::uint64_t{0};
  for (const std::uint32_t devices : {1u, 2u, 4u, 8u}) {
    auto d = described(2, devices);
    for (auto& l : d.links) l.bandwidth *= 100;
    const std::uint64_t ns = cholesky_ns(std::move(d), "cost", 20);
    EXPECT_LE(static_cast<double>(ns), 1.05 * static_cast<double>(before)) << devices;
    before = ns;
  }
}

TEST(simulated_run, functions_of_the_program_are_not_called) {
  rig r(described(2, 0));
  auto a = r.rt.make_array<double>("a", {8}, {8});
  bool called = false;
  r.rt.submit(
      "function", [&called](view<double>) { called = true; }, write(a.block(0)));
  r.rt.fence();
  EXPECT_FALSE(called);
}

}  // namespace
}  // namespace tessera::hierarchy
