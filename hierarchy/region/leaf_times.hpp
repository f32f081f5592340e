#pragma once
// What the tasks of regions take.
#include <atomic>
#include <cstdint>
#include <memory>

namespace tessera::hierarchy {

/// When the last kernel of any region ended on a device. Nanoseconds of the steady clock.
struct device_clock {
  std::atomic<std::int64_t> last_end{0};
};

/// What the tasks of one region took on one leaf; they write it themselves.
struct region_leaf_times {
  std::atomic<double> rate{0};              ///< iterations per second of one task, averaged; 0: not measured
  std::atomic<std::uint32_t> under_way{0};  ///< tasks made and not ended
  bool asked = false;                       ///< whether earlier runs were asked; by launch_history
  std::shared_ptr<device_clock> clock;      ///< of a device; set before its first task
};

}  // namespace tessera::hierarchy
