#pragma once
// A whole GPU plugin but for its name: what plugins/cuda, plugins/hip and their like, and plugins/opencl, are made of.
#include <tessera/plugin.h>

#include <cstdint>

#include "plugins/gpu_common/abi/settings.hpp"

namespace tessera::gpu {

/// The header's open, with `fallback` for what the host does not give.
tsr_status open_plugin(const tsr_host* host, const tsr_option_value* values, std::uint32_t count,
                       const settings& fallback, tsr_plugin** out_plugin, const void** out_table);

/// What sets a plugin apart that has no options of its own: all else of it is this folder, compiled for its runtime.
struct identity {
  const char* name;
  const char *devices, *memory_limit;  ///< defaults of these options, as text; null: none
  settings fallback;
};

/// Defined by the plugin's own source, for header.cpp.
extern const identity this_plugin;

}  // namespace tessera::gpu
