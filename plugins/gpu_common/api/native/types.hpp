#pragma once
// Handles and errors of a real GPU's runtime: HIP's, which native/nvidia/ makes CUDA's.
#include <hip/hip_runtime_api.h>

#include <cstdint>

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
/// To give device memory back waits for all work of the device; the bus is what it is measured to be; and the vendor's
/// libraries and the code of kernels take memory of their own, later than the plugin says how much there is.
inline constexpr bool release_waits = true, bus_is_measured = true;
/// A function of the host in a stream's order costs the stream next to nothing.
inline constexpr bool callbacks_are_cheap = false;
inline constexpr std::uint64_t memory_of_others = std::uint64_t{1} << 30;

}  // namespace tessera::gpu
