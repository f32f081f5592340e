#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "plugins/gpu_common/api/driver.hpp"
#include "plugins/gpu_common/api/native/vendor.hpp"

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
  std::snprintf(facts.architecture, sizeof facts.architecture, "sm_%d%d", major, minor);
  facts.lanes_f64 = facts.lanes_f32 / std::max(ratio, 1);
}

error_t host_function(stream_t stream, void (*function)(void*), void* argument) {
  return hipLaunchHostFunc(stream, function, argument);
}

int driver_version() noexcept {
  int version = 0;
  return cudaDriverGetVersion(&version) == cudaSuccess ? version : 0;
}

#if CUDART_VERSION >= 12080
const bool has_modules = true;

/// The driver looks at an image when something of it is first used, so what is none at all is found here: images are
/// cubins (ELF), fat binaries, or PTX, whose first directive is .version.
bool is_image(const char* image) noexcept {
  constexpr unsigned char elf[] = {0x7f, 'E', 'L', 'F'}, fat_binary[] = {0x50, 0xed, 0x55, 0xba};
  return std::strncmp(image, reinterpret_cast<const char*>(elf), sizeof elf) == 0 ||
         std::strncmp(image, reinterpret_cast<const char*>(fat_binary), sizeof fat_binary) == 0 ||
         std::strstr(image, ".version") != nullptr;
}

error_t load_module(module_t* out, const void* image) {
  if (!is_image(static_cast<const char*>(image))) return cudaErrorInvalidKernelImage;
  cudaLibrary_t made{};
  const auto error = cudaLibraryLoadData(&made, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
  *out = made;
  return error;
}

error_t unload_module(module_t module) { return cudaLibraryUnload(static_cast<cudaLibrary_t>(module)); }

error_t find_function(function_t* out, module_t module, const char* name) {
  cudaKernel_t found{};
  if (const auto error = cudaLibraryGetKernel(&found, static_cast<cudaLibrary_t>(module), name)) return error;
  *out = found;
  cudaFuncAttributes facts{};  // to ask for them loads it: not when it is launched, behind work under way
  return cudaFuncGetAttributes(&facts, found);
}

error_t launch(function_t function, const std::uint32_t grid[3], const std::uint32_t group[3],
               std::uint32_t shared_bytes, stream_t stream, void** arguments) {
  return cudaLaunchKernel(function, {grid[0], grid[1], grid[2]}, {group[0], group[1], group[2]}, arguments,
                          shared_bytes, stream);
}
#else  // cudart loads no images before 12.8
const bool has_modules = false;
error_t load_module(module_t*, const void*) { return cudaErrorNotSupported; }
error_t unload_module(module_t) { return cudaErrorNotSupported; }
error_t find_function(function_t*, module_t, const char*) { return cudaErrorNotSupported; }
error_t launch(function_t, const std::uint32_t*, const std::uint32_t*, std::uint32_t, stream_t, void**) {
  return cudaErrorNotSupported;
}
#endif

}  // namespace tessera::gpu::vendor
