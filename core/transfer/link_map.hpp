#pragma once
// Which space can be copied to which, by whom and how fast; and what has been copied.
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/memory/space.hpp"

namespace tessera::transfer {

/// How bytes get from one space to another.
enum class route_kind : std::uint8_t {
  none,    ///< not in one step; go through a space that has routes to both
  direct,  ///< one copy by `executor`
  staged   ///< two copies of one plugin through the staging ring in host memory, ordered on the devices
};

/// A route between two spaces.
struct route {
  route_kind kind = route_kind::none;
  std::uint32_t executor = 0;  ///< direct: registry index of the device whose plugin copies
  double bandwidth = 0;        ///< bytes per second
  double latency = 0;          ///< seconds
  double seconds(std::uint64_t bytes) const noexcept {
    return latency + (bandwidth > 0 ? static_cast<double>(bytes) / bandwidth : 0);
  }
};

/// Counters of one pair of spaces.
struct link_counters {
  std::atomic<std::uint64_t> transfers{0}, bytes{0};
};

/// All pairs; computed once from the devices' own answers. Immutable but for the counters.
class link_map {
 public:
  explicit link_map(std::span<const std::unique_ptr<memory::space>> spaces);

  const route& between(memory::space_number from, memory::space_number to) const noexcept {
    return m_routes[from * m_count + to];
  }
  /// A space with a one-step route from `from` and to `to`, fastest first choice; no_space if there is none.
  memory::space_number stop_between(memory::space_number from, memory::space_number to) const noexcept;
  /// Blocks take no way through a closed space; links from and to it stay.
  void close(memory::space_number space) noexcept { m_closed.add(space); }
  void open(memory::space_number space) noexcept { m_closed.remove(space); }
  link_counters& counters(memory::space_number from, memory::space_number to) noexcept {
    return m_counters[from * m_count + to];
  }
  std::size_t size() const noexcept { return m_count; }

 private:
  std::size_t m_count;
  block::atomic_space_set m_closed;
  std::vector<route> m_routes;
  std::unique_ptr<link_counters[]> m_counters;
};

}  // namespace tessera::transfer
