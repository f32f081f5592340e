#pragma once
// What NVIDIA's and AMD's runtimes do differently: native/nvidia.cpp and native/amd.cpp, one of which is compiled.
#include <string>

#include "plugins/gpu_common/runtime.hpp"

namespace tessera::gpu::vendor {

/// As gpu::missing_driver.
std::string missing_driver();

/// How many operations the units of a device do at once.
void describe_units(int ordinal, device_facts& facts) noexcept;

/// As gpu::host_function.
error_t host_function(stream_t stream, void (*function)(void*), void* argument);

}  // namespace tessera::gpu::vendor
