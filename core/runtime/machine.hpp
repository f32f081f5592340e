#pragma once
// What a runtime is started on: made by hierarchy/machine, taken by the runtime, so that the core needs no discovery.
#include <memory>
#include <string>
#include <vector>

#include "core/config/runtime_settings.hpp"
#include "core/location/tree.hpp"
#include "core/plugin/registry.hpp"

namespace tessera {

/// Settings, opened plugins and the tree of locations. Consistent: every space and device that the tree names exists in
/// the registry, and settings.workers is the real number (never 0).
struct machine {
  config::runtime_settings settings;
  std::shared_ptr<plugin::registry> plugins;
  location::tree tree;
  std::vector<std::string> notes;  ///< what the user should be told, one sentence each: more workers than cores, ...
};

}  // namespace tessera
