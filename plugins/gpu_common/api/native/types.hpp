#pragma once
// Handles and errors of a real GPU's runtime: HIP's, which native/nvidia/ makes CUDA's.
#include <hip/hip_runtime_api.h>

namespace tessera::gpu {

using stream_t = hipStream_t;
using event_t = hipEvent_t;
using graph_t = hipGraphExec_t;
using error_t = hipError_t;

#if defined(__HIP_PLATFORM_AMD__)
inline constexpr const char* runtime_name = "HIP";
#else
inline constexpr const char* runtime_name = "CUDA";
#endif
inline constexpr bool device_memory_is_host_memory = false;
inline constexpr bool device_memory_is_addressable = true, has_pinned_memory = true, has_managed_memory = true;
inline constexpr bool has_graphs = true, has_libraries = true, has_shared_memory = true;

}  // namespace tessera::gpu
