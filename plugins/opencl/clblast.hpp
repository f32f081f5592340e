#pragma once
// Products by CLBlast (https://github.com/CNugteren/CLBlast), where it is installed; taken when the first product is
// asked for.
#include <optional>
#include <string_view>

#include "plugins/gpu_common/kernels/kernels.hpp"
#include "plugins/opencl/runtime.hpp"

namespace tessera::gpu::opencl {

enum class clblast_use {
  gpus,  ///< on GPUs: a processor had better be used through the plugin `host`
  always,
  never
};
/// "gpus", "always", "never"; anything else is "gpus".
clblast_use clblast_use_of(std::string_view word) noexcept;
/// From now on, for all devices.
void set_clblast_use(clblast_use use) noexcept;

/// Enqueues a product, or a batch of equal distances. Nothing: there is no such library, it is not wanted, or the
/// product is none of its kind (small, a triangle, other distances); ours does it then. May compile for seconds.
std::optional<error_t> multiply_by_clblast(const product& p, stream_t stream);

/// A context is about to go, with all that was compiled for it.
void forget_clblast_kernels();

}  // namespace tessera::gpu::opencl
