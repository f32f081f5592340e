#pragma once
// Machines that are imagined, as TOML describes them.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::hierarchy {

/// Operations whose speed a description may give apart.
enum class timed_operation : std::uint8_t {
  gemm,
  syrk,
  trsm,
  potrf
};
inline constexpr std::array<std::string_view, 4> timed_operation_names{"gemm", "syrk", "trsm", "potrf"};

/// Share of the peak that an operation reaches, by the size of its matrices: the cube root of the product of its three
/// extents. Between the points a straight line over the logarithm of the size, beyond them constant.
struct efficiency_curve {
  struct point {
    double size = 0, share = 1;
  };
  std::vector<point> points;  ///< sizes ascend; empty: 1 everywhere
  double at(double size) const noexcept;
};

/// How fast one core, or one device, computes.
struct described_speed {
  double peak_f64 = 0, peak_f32 = 0;  ///< floating-point operations per second
  double memory_bandwidth = 0;        ///< bytes per second, for operations that move more than they compute
  std::uint64_t overhead_ns = 0;      ///< of each operation
  std::array<efficiency_curve, timed_operation_names.size()> efficiency;
};

/// Cores and host memory: `domains` of them, all alike.
struct described_host {
  std::uint32_t domains = 1;
  std::uint32_t cores = 1;         ///< of one domain
  std::uint64_t memory_bytes = 0;  ///< of one domain; 0: no limit
  double bandwidth = 0;            ///< of a copy between two domains, bytes per second
  described_speed core;            ///< of one core
};

/// Devices that are all alike.
struct described_device {
  std::string name;
  std::uint32_t count = 1;
  std::uint64_t memory_bytes = 0;  ///< of each
  std::uint32_t kernels = 1;       ///< that run at the same time, each at full speed
  described_speed speed;           ///< overhead_ns: from the end of what it waits for until a kernel starts
  std::string where;               ///< place in the file
};

/// A connection that each device of a name has: to the host, or to the devices of another name or of its own. Both
/// directions carry the bandwidth at the same time.
struct described_link {
  std::string from, to;  ///< "host" or names of devices
  double bandwidth = 0;  ///< of one direction, bytes per second
  std::uint64_t latency_ns = 0;
  std::uint32_t at_once = 0;  ///< copies in one direction over all connections of this link together; 0: no limit
  std::string where;          ///< place in the file
};

/// What the runtime costs there; see schedule::simulation.
struct described_overheads {
  std::uint64_t submit_ns = 200, host_task_ns = 300, device_task_ns = 1500;
};

struct machine_description {
  std::string name;
  described_host host;
  std::vector<described_device> devices;
  std::vector<described_link> links;
  described_overheads runtime;
  std::uint32_t device_count() const noexcept {
    std::uint32_t all = 0;
    for (const described_device& d : devices) all += d.count;
    return all;
  }
};

/// Reads a description. Throws tessera::error (configuration) with file, line and column for text that is not TOML, an
/// unknown key (hint: the nearest name), a wrong type, unit or range, a missing key, and links that name nothing or
/// connect twice.
machine_description parse_machine(std::string_view toml, const std::string& name);
/// The same from a file.
machine_description read_machine(const std::string& file);

}  // namespace tessera::hierarchy
