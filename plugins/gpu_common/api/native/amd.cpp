#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string_view>

#include "plugins/gpu_common/api/native/vendor.hpp"

namespace tessera::gpu::vendor {

std::string missing_driver() {
  // The runtime itself would start its threads to find out.
  if (::access("/dev/kfd", R_OK | W_OK) == 0) return {};
  if (::access("/dev/kfd", F_OK) == 0)
    return "this user may not open /dev/kfd; AMD's driver asks for the group render (or video)";
  return "there is no /dev/kfd: no driver for AMD GPUs (amdgpu) is loaded";
}

void describe_units(int ordinal, device_facts& facts) noexcept {
  hipDeviceProp_t properties{};
  if (hipGetDeviceProperties(&properties, ordinal) != hipSuccess) return;
  const std::string_view name = properties.gcnArchName;  // "gfx90a:sramecc+:xnack-"
  const bool for_science = name.starts_with("gfx90") || name.starts_with("gfx94");
  const bool full_rate = name.starts_with("gfx90a") || name.starts_with("gfx94");
  std::snprintf(facts.architecture, sizeof facts.architecture, "%.63s", properties.gcnArchName);
  facts.lanes_f32 = 64;
  facts.lanes_f64 = full_rate ? 64 : for_science ? 32 : 4;
}

namespace {

struct host_call {
  void (*function)(void*);
  void* argument;
  static void run(stream_t, error_t, void* self) {
    const std::unique_ptr<host_call> call(static_cast<host_call*>(self));
    call->function(call->argument);
  }
};

}  // namespace

error_t host_function(stream_t stream, void (*function)(void*), void* argument) {
  // hipLaunchHostFunc is declared but not exported by HIP 5.2.
  auto call = std::make_unique<host_call>(host_call{function, argument});
  const auto error = hipStreamAddCallback(stream, &host_call::run, call.get(), 0);
  if (error == hipSuccess) static_cast<void>(call.release());
  return error;
}

int driver_version() noexcept {
  int version = 0;
  return hipDriverGetVersion(&version) == hipSuccess ? version : 0;
}

const bool has_modules = true;

error_t load_module(module_t* out, const void* image) {
  hipModule_t made{};
  const auto error = hipModuleLoadData(&made, image);
  *out = made;
  return error;
}

error_t unload_module(module_t module) { return hipModuleUnload(static_cast<hipModule_t>(module)); }

error_t find_function(function_t* out, module_t module, const char* name) {
  hipFunction_t found{};
  const auto error = hipModuleGetFunction(&found, static_cast<hipModule_t>(module), name);
  *out = found;
  return error;
}

error_t launch(function_t function, const std::uint32_t grid[3], const std::uint32_t group[3],
               std::uint32_t shared_bytes, stream_t stream, void** arguments) {
  return hipModuleLaunchKernel(static_cast<hipFunction_t>(function), grid[0], grid[1], grid[2], group[0], group[1],
                               group[2], shared_bytes, stream, arguments, nullptr);
}

}  // namespace tessera::gpu::vendor
