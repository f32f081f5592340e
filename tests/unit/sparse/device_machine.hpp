#pragma once
// Machines with a device, or without, by the name of a plugin.
#include <ostream>
#include <string>

#include "tests/integration/runtime/machines.hpp"

namespace tessera::sparse {

struct device_machine {
  const char* plugin;  ///< "host": no device
  const char* memory = "64 MiB";
  const char* eviction = "next_use";

  machine make() const {
    const std::string keys = "history = \"off\"\n[memory]\neviction = \"" + std::string(eviction) + "\"\n";
    if (!has_device()) return testing::host_only();
    return std::string(plugin) == "sim" ? testing::with_sims(1, memory, false, 2, keys)
                                        : testing::with_gpus(plugin, 1, memory, keys);
  }
  bool has_device() const { return std::string(plugin) != "host"; }
  /// For program_options::at.
  std::string location() const { return has_device() ? plugin + std::string("0") : std::string(); }
};
inline void PrintTo(const device_machine& m, std::ostream* out) { *out << m.plugin; }

}  // namespace tessera::sparse
