#pragma once
// What a configuration says in full: its own settings, and the options of the plugins that it opens.
#include <string>
#include <vector>

#include "core/config/document.hpp"

namespace tessera::hierarchy {

/// document::explain, and every option of the plugins under runtime.plugins and runtime.layers, with its default or the
/// place of its value. Loads the plugins' files, and opens none. A plugin that cannot be looked into is told among the
/// notes, unless it may be missing
/// ("cuda?"). Throws tessera::error (configuration) for an option that its plugin does not have or accept, and for
/// names that mean nothing (hierarchy/machine/names.hpp).
std::vector<config::explained> explain(const config::document& configuration, std::vector<std::string>& notes);

}  // namespace tessera::hierarchy
