// The header of a plugin that is nothing but an identity.
#include "plugins/kit/abi/plugin_header.hpp"

#include <cstdio>
#include <string>

#include "plugins/gpu_common/abi/plugin.hpp"
#include "plugins/gpu_common/api/runtime.hpp"

namespace tessera::gpu {
namespace {

tsr_status open(const tsr_host* host, const tsr_option_value* values, std::uint32_t count, tsr_plugin** out_plugin,
                const void** out_table) {
  settings fallback = this_plugin.fallback;
  fallback.name = this_plugin.name;
  return open_plugin(host, values, count, fallback, out_plugin, out_table);
}

std::uint32_t probe(const tsr_host*, char* reason, std::uint32_t reason_bytes) {
  const std::string missing = missing_driver();
  if (reason != nullptr && reason_bytes > 0) std::snprintf(reason, reason_bytes, "%s", missing.c_str());
  return missing.empty() ? 1 : 0;
}

const tsr_plugin_header& header() {
  static const auto options = option_schema(this_plugin.devices, this_plugin.memory_limit);
  static const tsr_plugin_header value = [] {
    auto made = kit::make_header(TSR_PLUGIN_DEVICE, this_plugin.name, options.data(),
                                 static_cast<std::uint32_t>(options.size()), open);
    made.probe = probe;
    return made;
  }();
  return value;
}

}  // namespace
}  // namespace tessera::gpu

extern "C" const tsr_plugin_header* tsr_plugin_query(std::uint32_t host_major, std::uint32_t) {
  return host_major == TSR_ABI_MAJOR ? &tessera::gpu::header() : nullptr;
}
