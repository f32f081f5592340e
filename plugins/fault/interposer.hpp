#pragma once
// Stands between the core and a device or storage plugin and injects the faults that were asked for.
#include <tessera/plugin.h>

#include "plugins/fault/rules.hpp"

namespace tessera::fault {

/// The table to hand out instead of `inner`, for the plugin that was just opened as `plugin`. Handles stay the inner
/// ones. Everything is given back at the plugin's shutdown. Used by the layer `fault`, and by plugins that inject
/// faults into themselves. Fails: INVALID_ARGUMENT (a null handle).
tsr_status interpose(const kit::reporter& report, tsr_plugin* plugin, const char* name, const void* inner,
                     settings rules, const void** out_table);

}  // namespace tessera::fault
