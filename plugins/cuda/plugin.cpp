// The GPU plugin's sources on CUDA.
#include "plugins/gpu_common/abi/plugin.hpp"
#include "plugins/gpu_common/libraries/dense.hpp"
#include "plugins/gpu_common/libraries/run_time_compiler.hpp"
#include "plugins/gpu_common/libraries/sparse.hpp"

const tessera::gpu::identity tessera::gpu::this_plugin = {
    .name = "cuda",
    .devices = "0",
    .memory_limit = nullptr,
    .fallback = {.vendor = {.dense = &tessera::gpu::nvidia_dense,
                            .sparse = &tessera::gpu::nvidia_sparse,
                            .compiler = &tessera::gpu::nvidia_compiler,
                            .sensors = tessera::gpu::sensor_library::nvml,
                            .system_too = true}}};
