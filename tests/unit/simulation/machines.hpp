#pragma once
// Machines with round numbers, and a runtime on them.
#include "hierarchy/simulation/simulated_machine.hpp"
#include "tessera/detail/linear_algebra.hpp"

namespace tessera::hierarchy::testing {

inline constexpr std::int64_t tile = 100;
inline constexpr std::uint64_t tile_bytes = 80000;       // of f64
inline constexpr std::uint64_t tile_ns = 1'000'000;      // a gemm of tiles on a core: 2e6 flops at 2 GFLOP/s
inline constexpr std::uint64_t device_tile_ns = 10'000;  // 200 GFLOP/s
inline constexpr std::uint64_t latency_ns = 2000;
inline constexpr std::uint64_t copy_ns = latency_ns + 80000;  // 1 GB/s

/// Cores in one domain and devices with links to the host and among each other. Nothing but work and copies takes time.
inline machine_description described(std::uint32_t cores, std::uint32_t devices) {
  machine_description d;
  d.name = "round numbers";
  d.host.cores = cores;
  d.host.core.peak_f64 = 2e9;
  d.host.core.peak_f32 = 4e9;
  d.host.core.memory_bandwidth = 1e18;
  d.runtime = {0, 0, 0};
  if (devices == 0) return d;
  described_device gpu;
  gpu.name = "gpu";
  gpu.count = devices;
  gpu.memory_bytes = std::uint64_t{1} << 30;
  gpu.speed.peak_f64 = 2e11;
  gpu.speed.peak_f32 = 4e11;
  gpu.speed.memory_bandwidth = 1e18;
  d.devices.push_back(gpu);
  d.links.push_back({"host", "gpu", 1e9, latency_ns, 0, ""});
  d.links.push_back({"gpu", "gpu", 1e9, latency_ns, 0, ""});
  return d;
}

/// A runtime with two matrices that are multiplied.
struct rig {
  explicit rig(machine_description d, bool with_factors = true, config::runtime_settings settings = {})
      : made(build_machine(d, settings)), world(made.model), rt(std::move(made.machine)) {
    if (!with_factors) return;
    factors.emplace(rt.make_matrix<double>("F", {tile, 2 * tile}, {tile, tile}));
    for (std::size_t k = 0; k < 2; ++k) fill(rt, factors->block(k), 1.0);
    rt.fence();
  }
  tiled_matrix<double> matrices(const std::string& name, std::int64_t count, location::node_id at = location::no_node) {
    auto m = rt.make_matrix<double>(name, {tile, count * tile}, {tile, tile});
    for (std::size_t k = 0; k < m.size(); ++k)
      fill(rt, m.block(k), 0.0, {.at = at == location::no_node ? rt.at("core0") : at});
    rt.fence();
    return m;
  }
  void multiply(matrix_block<double> c, location::node_id at = location::no_node) {
    gemm(rt, 1.0, factors->block(0), transpose::no, factors->block(1), transpose::no, 1.0, c, {.at = at});
  }
  /// The factors are brought to a device.
  void bring(location::node_id at) {
    auto c = matrices("scratch", 1, at);
    multiply(c.block(0), at);
    rt.fence();
  }
  void begin() {
    started = world->clock.now();
    world->forget_use();
  }
  std::uint64_t passed() const { return world->clock.now() - started; }

  simulated_machine made;
  std::shared_ptr<hierarchy::device_model> world;
  runtime rt;
  std::optional<tiled_matrix<double>> factors;
  std::uint64_t started = 0;
};

}  // namespace tessera::hierarchy::testing
