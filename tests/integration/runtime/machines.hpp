#pragma once
// Machines for tests of the whole runtime, independent of the environment.
#include <cstdint>
#include <ostream>
#include <string>

#include "tessera/front_end.hpp"
#include "tessera/machine.hpp"
#include "tessera/tessera.hpp"
#include "tessera/trace.hpp"
#include "tessera/validation.hpp"

namespace tessera::testing {

/// A machine from TOML text. `workers` as in runtime.workers.
inline machine machine_of(const std::string& toml, unsigned workers = 2) {
  config::document document = config::document::parse("[runtime]\nworkers = " + std::to_string(workers) + "\n" + toml);
  return hierarchy::assemble(document);
}

inline machine host_only(unsigned workers = 2) { return machine_of("plugins = [\"host\"]\n", workers); }

/// The host and simulated devices of the given memory; without peer links unless asked for. `more_plugins`: `, "disk"`;
/// `more_tables`: whole TOML tables.
inline machine with_sims(int devices, const std::string& memory, bool peer_link = false, unsigned workers = 2,
                         const std::string& more_runtime = "", const std::string& more_plugins = "",
                         const std::string& more_tables = "") {
  std::string toml = "plugins = [\"host\", \"sim\"" + more_plugins + "]\n" + more_runtime + more_tables +
                     "[plugin.sim]\nclock = \"real\"\n";
  for (int k = 0; k < devices; ++k)
    toml += "[[plugin.sim.device]]\nmemory = \"" + memory +
            "\"\nbandwidth_in = \"20 GiB/s\"\nbandwidth_out = \"20 GiB/s\"\nlatency = \"1 us\"\nflops = \"" +
            std::to_string(40 / (k + 1)) + " GFLOP/s\"\n";
  if (peer_link)
    toml +=
        "[[plugin.sim.link]]\nfrom = 0\nto = 1\nbandwidth = \"40 GiB/s\"\nlatency = \"1 us\"\n"
        "[[plugin.sim.link]]\nfrom = 1\nto = 0\nbandwidth = \"40 GiB/s\"\nlatency = \"1 us\"\n";
  return machine_of(toml, workers);
}

/// Tables of a machine with two host memories, numa0 and numa1, with two cores each. Whatever the machine of the tests
/// is.
inline const std::string two_hosts = "[topology]\nsynthetic = \"numa:2 core:2 pu:1\"\n[plugin.host]\ndomains = 2\n";

/// The host and devices of a GPU plugin (emulated ones, or OpenCL's), which run the GPU plugins' own kernels and
/// streams.
inline machine with_gpus(const std::string& plugin, int devices, const std::string& memory,
                         const std::string& more_runtime, const std::string& more_keys = "") {
  return machine_of("plugins = [\"host\", \"" + plugin + "\"]\n" + more_runtime + "[plugin." + plugin +
                    "]\ndevices = " + std::to_string(devices) + "\nmemory_limit = \"" + memory + "\"\n" + more_keys);
}

/// A machine and the random program that runs on it.
struct random_setting {
  const char* name;
  int devices;
  const char* memory;
  bool peer;
  const char* placement;
  std::uint64_t tasks;
  int blocks;
  const char* memory_table = "";  ///< [memory]; with a host_limit, what does not fit goes to the disk plugin
  const char* gpu_plugin = "";    ///< instead of simulated devices
  std::int64_t elements = 0;      ///< of a block; 0: a page where there is a host_limit, else 32
  int hosts = 1;                  ///< host memories: 1, or 2
  const char* gpu_keys = "";      ///< more keys of that plugin

  std::int64_t extent() const { return elements != 0 ? elements : spills() ? 512 : 32; }
  bool spills() const { return std::string(memory_table).find("host_limit") != std::string::npos; }
  machine make() const {
    const std::string keys = "placement = \"" + std::string(placement) + "\"\nhistory = \"off\"\n",
                      disk = spills() ? ", \"disk\"" : "";
    const std::string tables = memory_table + (hosts == 2 ? two_hosts : std::string());
    if (*gpu_plugin != '\0') return with_gpus(gpu_plugin, devices, memory, keys + tables, gpu_keys);
    return devices == 0 ? machine_of("plugins = [\"host\"" + disk + "]\n" + keys + tables, hosts == 2 ? 4 : 2)
                        : with_sims(devices, memory, peer, hosts == 2 ? 4 : 2, keys, disk, tables);
  }
};
inline void PrintTo(const random_setting& s, std::ostream* out) { *out << s.name; }

}  // namespace tessera::testing
