#pragma once
// A whole GPU plugin but for its name: what plugins/cuda, plugins/hip and plugins/cuda_emulated put into their headers.
#include <tessera/plugin.h>

#include <cstdint>

#include "plugins/gpu_common/settings.hpp"

namespace tessera::gpu {

/// The header's open, with `fallback` for what the host does not give.
tsr_status open_plugin(const tsr_host* host, const tsr_option_value* values, std::uint32_t count,
                       const settings& fallback, tsr_plugin** out_plugin, const void** out_table);

}  // namespace tessera::gpu
