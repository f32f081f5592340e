#pragma once
// The emulator's handles and errors.
#include <cstdint>
#include <functional>

namespace tessera::gpu {

namespace emulator {
/// A stream, as libraries that enqueue on it see it.
class stream {
 public:
  virtual void run(std::function<void()> work) = 0;

 protected:
  ~stream() = default;
};
struct event;
struct graph;
}  // namespace emulator

using stream_t = emulator::stream*;
using event_t = emulator::event*;
using graph_t = emulator::graph*;
enum class error_t : std::uint8_t {
  success,
  not_ready,
  out_of_memory,
  no_device,
  invalid_value,
  already_registered,
  gone,  ///< another process's memory that is no more
  not_permitted,
  not_supported,
  lost,           ///< sticky, as is what follows
  missed_barrier  ///< of a kernel's threads some waited at a barrier, some ended
};

inline constexpr const char* runtime_name = "emulator";
/// Kernels are host code and device memory can be touched by host code: host tasks are offered.
inline constexpr bool device_memory_is_host_memory = true;
/// Kernels see addresses, with which callers may compute.
inline constexpr bool device_memory_is_addressable = true;
/// There is a second space, of page-locked host memory, and other host memory can be page-locked.
inline constexpr bool has_pinned_memory = true;
/// Memory that the driver moves, graphs, and libraries of linear algebra can be had.
inline constexpr bool has_managed_memory = true, has_graphs = true, has_libraries = true, has_shared_memory = true;
inline constexpr bool release_waits = false, bus_is_measured = false, callbacks_are_cheap = true;
inline constexpr std::uint64_t memory_of_others = 0;

}  // namespace tessera::gpu
