#pragma once
// What a runtime is started on: made by hierarchy/machine, taken by the runtime, so that the core needs no discovery.
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/config/runtime_settings.hpp"
#include "core/location/tree.hpp"
#include "core/plugin/registry.hpp"

namespace tessera::schedule {
struct simulation;
}

namespace tessera {

/// Takes lines of the log; level: 0 debug, 1 info, 2 warning. Any thread. Empty: warnings go to standard error.
using log_function = std::function<void(int level, const std::string& line)>;

inline void say(const log_function& log, int level, const std::string& line) {
  if (log)
    log(level, line);
  else if (level >= 2)
    std::fprintf(stderr, "tessera: %s\n", line.c_str());
}

/// Settings, opened plugins and the tree of locations. Consistent: every space and device that the tree names exists in
/// the registry, and settings.workers is the real number (never 0).
struct machine {
  config::runtime_settings settings;          ///< of [runtime] and [memory]
  std::shared_ptr<plugin::registry> plugins;  ///< with its devices open; shared: the program may keep it
  location::tree tree;                        ///< memories and workers; names and numbers are those of `plugins`
  std::vector<std::string> notes;  ///< what the user should be told, one sentence each: more workers than cores, ...
  log_function log = {};           ///< for what is worth a line in a log; may be empty
  /// Set: the machine is imagined, and its devices take their time on this clock (hierarchy/simulation). The runtime is
  /// then for one thread.
  std::shared_ptr<schedule::simulation> simulated = {};
  std::string region_policy = "static";  ///< of regions that say `runtime` (region.policy)
  /// What leaves blocks less of the host's memory than there is, for people to read; "": nothing does.
  std::string host_bound = {};
};

}  // namespace tessera
