#include <unistd.h>

#include <memory>
#include <string_view>

#include "plugins/gpu_common/native/vendor.hpp"

namespace tessera::gpu::vendor {

std::string missing_driver() {
  // The runtime itself would start its threads to find out.
  if (::access("/dev/kfd", R_OK | W_OK) == 0) return {};
  if (::access("/dev/kfd", F_OK) == 0)
    return "this user may not open /dev/kfd; AMD's driver asks for the group render (or video)";
  return "there is no /dev/kfd: no driver for AMD GPUs (amdgpu) is loaded";
}

void describe_units(int ordinal, device_facts& facts) noexcept {
  hipDeviceProp_t is{};
  if (hipGetDeviceProperties(&is, ordinal) != hipSuccess) return;
  const std::string_view name = is.gcnArchName;  // "gfx90a:sramecc+:xnack-"
  const bool for_science = name.starts_with("gfx90") || name.starts_with("gfx94");
  const bool full_rate = name.starts_with("gfx90a") || name.starts_with("gfx94");
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

}  // namespace tessera::gpu::vendor
