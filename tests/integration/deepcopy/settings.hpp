#pragma once
// Machines that deep copies are tested on, and the memory that they go to.
#include <ostream>
#include <string>

#include "tests/integration/runtime/machines.hpp"

namespace tessera::testing {

/// One of them.
struct copy_setting {
  const char* name;
  const char* plugin;       ///< beside the host; "": none
  const char* destination;  ///< a location
  bool moves = true;        ///< the destination is a memory of its own
  bool addresses = true;    ///< pointers can be stored there
  const char* keys = "";    ///< more of [runtime]
  machine make() const {
    const std::string more = std::string("placement = \"eager\"\nhistory = \"off\"\n") + keys;
    if (plugin == std::string("sim")) return with_sims(1, "64 MiB", false, 2, more);
    if (*plugin != '\0') return with_gpus(plugin, 1, "64 MiB", more);
    if (moves) return machine_of("plugins = [\"host\"]\n" + more + two_hosts, 4);
    return machine_of("plugins = [\"host\"]\n" + more);
  }
  bool is_host() const { return *plugin == '\0'; }
};
inline void PrintTo(const copy_setting& s, std::ostream* out) { *out << s.name; }

inline std::string name_of(const ::testing::TestParamInfo<copy_setting>& test) { return test.param.name; }
inline const auto copy_settings = ::testing::Values(
    copy_setting{"host", "", "machine", false}, copy_setting{"two_hosts", "", "numa1"},
    copy_setting{"validated", "", "numa1", true, true, "validate = true\n"},
    copy_setting{"sim", "sim", "sim0", true, false}, copy_setting{"cuda_emulated", "cuda_emulated", "cuda_emulated0"},
    copy_setting{"hip_emulated", "hip_emulated", "hip_emulated0"});
inline const auto copy_settings_opencl = ::testing::Values(copy_setting{"opencl", "opencl", "opencl0", true, false});

}  // namespace tessera::testing
