// Lets a C++ exception out of `open`, which no plugin may do.
#include <tessera/plugin.h>

#include <stdexcept>

#ifndef TSR_BUILD_SANITIZER
#define TSR_BUILD_SANITIZER TSR_SANITIZER_NONE
#endif

namespace {

tsr_status open_plugin(const tsr_host*, const tsr_option_value*, std::uint32_t, tsr_plugin**, const void**) {
  throw std::runtime_error("forty-two is not a prime");
}

}  // namespace

extern "C" TSR_EXPORT const tsr_plugin_header* tsr_plugin_query(std::uint32_t, std::uint32_t) {
  static const tsr_plugin_header header = [] {
    tsr_plugin_header h{};
    h.struct_size = sizeof h;
    h.abi_major = TSR_ABI_MAJOR;
    h.abi_minor = TSR_ABI_MINOR;
    h.kind = TSR_PLUGIN_DEVICE;
    h.sanitizer = TSR_BUILD_SANITIZER;
    h.name = MINI_NAME;
    h.open = &open_plugin;
    return h;
  }();
  return &header;
}
