#pragma once
// Images, kernels from them, and their compilation, as each runtime does it: emulator/modules.cpp, native/modules.cpp,
// plugins/opencl/modules.cpp. modules.cpp has what is the same for all.
#include <tessera/plugin.h>

#include <cstdint>
#include <memory>
#include <string>

#include "plugins/gpu_common/abi/handles.hpp"

namespace tessera::gpu {

/// Whether the runtime loads images at all.
bool has_modules() noexcept;
/// What else only this runtime has.
void put_vendor_entries_into(tsr_device_table& table);
/// Loads an image. Statuses as for tsr_device_table::module_load. The device is current, as for all that follows.
tsr_status load_code(tsr_device* device, const void* image, std::uint64_t bytes, std::shared_ptr<void>& out);
/// A kernel of what load_code gave. Fails: NOT_FOUND with a record.
tsr_status find_entry(tsr_device* device, void* code, const char* name, std::shared_ptr<void>& out);
/// Enqueues a kernel. Statuses as for tsr_device_table::launch.
tsr_status launch_entry(tsr_device* device, tsr_stream* stream, void* entry, const tsr_launch* how);

/// Looks for the compiler, when the first device is opened.
void find_compiler(tsr_plugin& plugin);
/// Whether there is one; if not, the plugin offers no JIT table.
bool has_compiler(const tsr_plugin& plugin) noexcept;
/// What the compiler's images depend on, for a device whose facts are known; "": they cannot be kept.
std::string compiler_identity(const tsr_device& device);
/// Compiles tessera-c. Statuses as for tsr_jit_table::compile.
tsr_status compile_code(tsr_device* device, const char* text, const char* options, std::string& image);

}  // namespace tessera::gpu
