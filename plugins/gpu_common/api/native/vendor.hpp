#pragma once
// What NVIDIA's and AMD's runtimes do differently: native/nvidia.cpp and native/amd.cpp, one of which is compiled.
#include <cstdint>
#include <string>

#include "plugins/gpu_common/api/runtime.hpp"

namespace tessera::gpu::vendor {

/// As gpu::missing_driver.
std::string missing_driver();

/// How many operations the units of a device do at once.
void describe_units(int ordinal, device_facts& facts) noexcept;

/// As gpu::host_function.
error_t host_function(stream_t stream, void (*function)(void*), void* argument);

/// An image that was loaded, and a function in it.
using module_t = void*;
using function_t = void*;
/// Whether this build's runtime loads images; if not, the calls answer an error.
extern const bool has_modules;
error_t load_module(module_t* out, const void* image);
error_t unload_module(module_t module);
error_t find_function(function_t* out, module_t module, const char* name);
error_t launch(function_t function, const std::uint32_t grid[3], const std::uint32_t group[3],
               std::uint32_t shared_bytes, stream_t stream, void** arguments);
/// As the vendor counts; 0: unknown.
int driver_version() noexcept;

}  // namespace tessera::gpu::vendor
