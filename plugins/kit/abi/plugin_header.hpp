#pragma once
// The header that a plugin of this tree hands out.
#include <tessera/plugin.h>

#include <cstdint>

#include "plugins/kit/abi/version.hpp"

// Set per plugin by the build; this file is included by the one source of a plugin that defines its header.
#ifndef TSR_BUILD_SANITIZER
#define TSR_BUILD_SANITIZER TSR_SANITIZER_NONE
#endif

namespace tessera::kit {

inline tsr_plugin_header make_header(tsr_plugin_kind kind, const char* name, const tsr_option* options,
                                     std::uint32_t option_count, decltype(tsr_plugin_header::open) open) noexcept {
  tsr_plugin_header header{};
  header.struct_size = sizeof header;
  header.abi_major = TSR_ABI_MAJOR;
  header.abi_minor = TSR_ABI_MINOR;
  header.kind = kind;
  header.sanitizer = TSR_BUILD_SANITIZER;
  header.name = name;
  header.vendor = "Tessera";
  header.version = plugin_version;
  header.build = "GCC " __VERSION__;
  header.options = options;
  header.option_count = option_count;
  header.open = open;
  return header;
}

}  // namespace tessera::kit
