#pragma once
// The version of the plugins of this tree.

namespace tessera::kit {
inline constexpr const char* plugin_version = "0.1.0";
}
