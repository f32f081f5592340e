// The GPU plugin's sources on the emulator: the header.
#include "plugins/gpu_common/plugin.hpp"

#include "plugins/common/plugin_header.hpp"

namespace {

using namespace tessera;

gpu::settings fallback() {
  gpu::settings setting;
  setting.devices = 1;
  setting.memory_limit = 1ull << 30;
  return setting;
}

tsr_status open(const tsr_host* host, const tsr_option_value* values, std::uint32_t count, tsr_plugin** out_plugin,
                const void** out_table) {
  return gpu::open_plugin(host, values, count, fallback(), out_plugin, out_table);
}

const tsr_plugin_header& header() {
  static const auto options = gpu::option_schema("1", "1 GiB");
  static const tsr_plugin_header value =
      common::make_header(TSR_PLUGIN_DEVICE, "cuda_emulated", options.data(), static_cast<std::uint32_t>(options.size()), open);
  return value;
}

}  // namespace

extern "C" const tsr_plugin_header* tsr_plugin_query(std::uint32_t host_major, std::uint32_t) {
  return host_major == TSR_ABI_MAJOR ? &header() : nullptr;
}
