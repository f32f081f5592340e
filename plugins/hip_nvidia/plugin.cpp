// The GPU plugin's sources as HIP on NVIDIA: what the plugin cuda is, under HIP's name.
#include "plugins/gpu_common/abi/plugin.hpp"
#include "plugins/gpu_common/libraries/dense.hpp"
#include "plugins/gpu_common/libraries/run_time_compiler.hpp"
#include "plugins/gpu_common/libraries/sparse.hpp"

const tessera::gpu::identity tessera::gpu::this_plugin = {
    .name = "hip_nvidia",
    .devices = "0",
    .memory_limit = nullptr,
    .fallback = {.vendor = {.dense = &tessera::gpu::nvidia_dense,
                            .sparse = &tessera::gpu::nvidia_sparse,
                            .compiler = &tessera::gpu::nvidia_compiler,
                            .sensors = tessera::gpu::sensor_library::nvml,
                            .system_too = true}}};
