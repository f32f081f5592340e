#pragma once
// What the user says about the GPUs of a plugin.
#include <tessera/plugin.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "plugins/gpu_common/api/runtime.hpp"
#include "plugins/gpu_common/libraries/sensors.hpp"
#include "plugins/kit/abi/option_reader.hpp"

namespace tessera::gpu {

struct dense_dialect;
struct sparse_dialect;
struct compiler_dialect;

/// What a plugin's vendor has besides a runtime; not the user's choice.
struct vendor_libraries {
  const dense_dialect* dense = nullptr;  ///< its libraries of linear algebra; null: none
  const sparse_dialect* sparse = nullptr;
  const compiler_dialect* compiler = nullptr;     ///< its compiler as a library; null: none
  sensor_library sensors = sensor_library::none;  ///< what knows its devices
  bool system_too = false;  ///< those of the system are right for it, not only those of `library_path`
};

/// Bytes per second of a bus that nothing is known of.
inline constexpr double usual_bus_bandwidth = 20.0 * (1u << 30);

struct settings {
  int devices = 0;                 ///< at most so many; 0: all
  std::uint64_t memory_limit = 0;  ///< bytes of each device; 0: what is free
  std::uint64_t pinned_limit = 8ull << 30;
  double bus_bandwidth = bus_is_measured ? 0 : usual_bus_bandwidth;  ///< bytes per second, for planning; 0: measured
  double peer_bandwidth = 100.0 * (1u << 30);
  std::uint64_t bus_latency_ns = 8000;
  /// Which of the devices that the runtime counts are used, and why it is none; empty: all.
  std::function<bool(int ordinal)> accepts = {};
  std::function<std::string()> why_none = {};
  std::string name{};                    ///< the plugin's; not the user's choice
  bool shared = false;                   ///< emulated devices' memory can be exported
  bool managed = false;                  ///< the devices' memory is managed by the driver
  bool callbacks = callbacks_are_cheap;  ///< whether streams call when work has ended
  bool libraries = true;                 ///< whether the vendor's libraries are used
  std::string library_path{};            ///< where they are looked for first
  vendor_libraries vendor = {};
  std::string compiler{};                           ///< of the host, for emulated devices; "": one that is found
  std::uint64_t compile_limit_ns = 60'000'000'000;  ///< of one call of it
};

/// The options of every GPU plugin, with defaults for `devices` and `memory_limit` as text; null: none.
std::vector<tsr_option> option_schema(const char* devices, const char* memory_limit);

settings read_settings(const kit::option_reader& option, const settings& fallback);

}  // namespace tessera::gpu
