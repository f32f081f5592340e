#pragma once
// Modules whose kernels run on the host: what plugins with such kernels have in common.
#include <cstdint>
#include <memory>
#include <utility>

#include "plugins/kit/jit/host_image.hpp"

namespace tessera::kit {

/// A part of the rules of module_calls (kit/abi): images are shared libraries of the host's compiler, entries are
/// host_kernel. What derives from it says when an image may be loaded, launches, and compiles.
/// @tparam Rules  the plugin's own rules of calls
template <class Rules>
struct host_module_rules : Rules {
  template <class Device>
  static tsr_status load(Device* device, const void* image, std::uint64_t bytes, std::shared_ptr<void>& out) {
    std::unique_ptr<host_image> made;
    if (const auto status = host_image::load(device->report, image, bytes, made)) return status;
    out = std::shared_ptr<host_image>(std::move(made));
    return TSR_OK;
  }

  template <class Device>
  static tsr_status find(Device* device, void* code, const char* name, std::shared_ptr<void>& out) {
    const auto* found = static_cast<host_image*>(code)->find(device->report, name);
    if (found == nullptr) return TSR_NOT_FOUND;
    out = std::make_shared<host_kernel>(*found);
    return TSR_OK;
  }
};

}  // namespace tessera::kit
