#pragma once
// A simulated run on a device whose memory holds a number of tiles; for programs whose data do not fit.
#include <cstdint>

#include "apps/common/memory_budget.hpp"
#include "hierarchy/simulation/simulated_machine.hpp"

namespace tessera::testing {

/// The tiles are of so many bytes; `more` bytes are for small blocks. Tasks go where their hint says.
inline hierarchy::simulated_machine small_device(std::int64_t tiles, std::uint64_t tile_bytes,
                                                 std::uint64_t more = 16384) {
  hierarchy::machine_description d;
  d.name = "a small device";
  d.host.core.peak_f64 = d.host.core.peak_f32 = 1e10;
  d.host.core.memory_bandwidth = 1e10;
  hierarchy::described_device device;
  device.name = "gpu";
  device.memory_bytes = static_cast<std::uint64_t>(tiles) * tile_bytes + more;
  device.kernels = 2;
  device.speed.peak_f64 = device.speed.peak_f32 = 1e10;
  device.speed.memory_bandwidth = 1e11;
  d.devices.push_back(device);
  d.links.push_back({"host", "gpu", 1e9, 1000, 0, ""});
  config::runtime_settings settings;
  settings.placement = "pinned";
  settings.window_tasks = 16384;
  settings.high_watermark = settings.low_watermark = 100;
  return hierarchy::build_machine(d, settings);
}

/// The budget of that device, and a hint that sends tasks there.
inline apps::memory_budget memory_budget_of_device(const runtime& rt) {
  apps::memory_budget budget = apps::memory_budget_of(rt);
  budget.location = rt.at("gpu");
  return budget;
}

/// Has a task on the host look at a block: its bytes come back.
template <class T>
void look_at(runtime& rt, block_of<T> b) {
  rt.submit(
      "look", {.at = rt.at("core0")}, [](view<const T>) {}, read(b));
}

}  // namespace tessera::testing
