#include <cuda_runtime_api.h>

#include <algorithm>

#include "plugins/gpu_common/driver.hpp"
#include "plugins/gpu_common/native/vendor.hpp"

namespace tessera::gpu::vendor {

std::string missing_driver() {
  int driver = 0, runtime = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
  static_cast<void>(cudaRuntimeGetVersion(&runtime));
  clear_error();
  return complaint_about_driver("CUDA", driver, runtime);
}

void describe_units(int ordinal, device_facts& facts) noexcept {
  int major = 0, minor = 0, ratio = 0;
  static_cast<void>(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, ordinal));
  static_cast<void>(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, ordinal));
  static_cast<void>(cudaDeviceGetAttribute(&ratio, cudaDevAttrSingleToDoublePrecisionPerfRatio, ordinal));
  facts.lanes_f32 =
      major == 7 || (major == 8 && minor == 0) ? 64 : 128;  // CUDA Programming Guide, arithmetic throughput
  facts.lanes_f64 = facts.lanes_f32 / std::max(ratio, 1);
}

error_t host_function(stream_t stream, void (*function)(void*), void* argument) {
  return hipLaunchHostFunc(stream, function, argument);
}

}  // namespace tessera::gpu::vendor
