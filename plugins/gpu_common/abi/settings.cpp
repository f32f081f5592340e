#include "plugins/gpu_common/abi/settings.hpp"

#include <string_view>

#include "plugins/gpu_common/api/runtime.hpp"

namespace tessera::gpu {

std::vector<tsr_option> option_schema(const char* devices, const char* memory_limit) {
  std::vector<tsr_option> schema = {
      {sizeof(tsr_option), TSR_OPTION_INT, "devices", devices, 0, 64, nullptr,
       "How many devices to use at most, the first ones; 0: all."},
      {sizeof(tsr_option), TSR_OPTION_BYTES, "memory_limit", memory_limit, 1, 1e18, nullptr,
       "How much of each device's memory to use; without it what is free when the device is opened."},
      {sizeof(tsr_option), TSR_OPTION_STRING, "memory", "device", 0, 0, "device|managed",
       "managed: memory that the driver moves between host and device, so that memory_limit may exceed what the device "
       "has."},
      {sizeof(tsr_option), TSR_OPTION_BYTES, "pinned_limit", "8 GiB", 1, 1e18, nullptr,
       "How much pinned host memory each device may give out through its second space."},
      {sizeof(tsr_option), TSR_OPTION_RATE, "bus_bandwidth", bus_is_measured ? nullptr : "20 GiB/s", 1, 1e15, nullptr,
       bus_is_measured ? "What one copy between host and device is assumed to reach, for planning; without it what is "
                         "measured when the device is opened."
                       : "What one copy between host and device is assumed to reach, for planning."},
      {sizeof(tsr_option), TSR_OPTION_RATE, "peer_bandwidth", "100 GiB/s", 1, 1e15, nullptr,
       "What one copy between two devices that reach each other is assumed to reach, for planning."},
      {sizeof(tsr_option), TSR_OPTION_DURATION, "bus_latency", "8 us", 0, 1e9, nullptr,
       "What one small copy between host and device is assumed to take, for planning."},
      {sizeof(tsr_option), TSR_OPTION_BOOL, "callbacks", callbacks_are_cheap ? "true" : "false", 0, 0, nullptr,
       "Whether the ends of work are told by functions of the host in the streams' order, which hold a stream up until "
       "they have run; else threads look for them."},
      {sizeof(tsr_option), TSR_OPTION_BOOL, "libraries", "true", 0, 0, nullptr,
       "Whether the vendor's libraries of linear algebra are used where they are found; else Tessera's own kernels do "
       "all."},
      {sizeof(tsr_option), TSR_OPTION_STRING, "library_path", nullptr, 0, 0, nullptr,
       "A folder in which those libraries are looked for, before the places that the system knows."},
  };
  if (device_memory_is_host_memory) {
    schema.push_back({sizeof(tsr_option), TSR_OPTION_BOOL, "shared", "false", 0, 0, nullptr,
                      "Whether the devices' memory is made such that other processes can map it (IPC), as that of real "
                      "devices is."});
    schema.push_back(
        {sizeof(tsr_option), TSR_OPTION_STRING, "compiler", nullptr, 0, 0, nullptr,
         "The C compiler for kernels that are compiled while the program runs: a path, or a name to be found in PATH; "
         "without it cc, gcc, clang or c++."});
    schema.push_back({sizeof(tsr_option), TSR_OPTION_DURATION, "compile_limit", "60 s", 1, 3.6e12, nullptr,
                      "How long that compiler may take for one text before it is ended."});
  }
  std::erase_if(schema, [](const tsr_option& one) {
    const std::string_view name = one.name;
    return (!has_pinned_memory && name == "pinned_limit") || (!has_managed_memory && name == "memory") ||
           (!has_libraries && (name == "libraries" || name == "library_path"));
  });
  return schema;
}

settings read_settings(const kit::option_reader& option, const settings& fallback) {
  const auto amount = [&](const char* name, std::uint64_t otherwise) {
    return static_cast<std::uint64_t>(option.integer(name, static_cast<std::int64_t>(otherwise)));
  };
  settings read = fallback;
  read.devices = static_cast<int>(option.integer("devices", fallback.devices));
  read.memory_limit = amount("memory_limit", fallback.memory_limit);
  read.managed = option.text("memory", fallback.managed ? "managed" : "device") == "managed";
  read.pinned_limit = amount("pinned_limit", fallback.pinned_limit);
  read.bus_bandwidth = option.number("bus_bandwidth", fallback.bus_bandwidth);
  read.peer_bandwidth = option.number("peer_bandwidth", fallback.peer_bandwidth);
  read.bus_latency_ns = amount("bus_latency", fallback.bus_latency_ns);
  read.callbacks = option.flag("callbacks", fallback.callbacks);
  read.libraries = option.flag("libraries", fallback.libraries);
  read.library_path = option.text("library_path", fallback.library_path);
  read.shared = option.flag("shared", fallback.shared);
  read.compiler = option.text("compiler", fallback.compiler);
  read.compile_limit_ns = amount("compile_limit", fallback.compile_limit_ns);
  return read;
}

}  // namespace tessera::gpu
