// The GPU plugin's sources on AMD's HIP.
#include "plugins/gpu_common/abi/plugin.hpp"
#include "plugins/gpu_common/libraries/dense.hpp"
#include "plugins/gpu_common/libraries/run_time_compiler.hpp"
#include "plugins/gpu_common/libraries/sparse.hpp"

const tessera::gpu::identity tessera::gpu::this_plugin = {
    .name = "hip",
    .devices = "0",
    .memory_limit = nullptr,
    .fallback = {.vendor = {.dense = &tessera::gpu::amd_dense,
                            .sparse = &tessera::gpu::amd_sparse,
                            .compiler = &tessera::gpu::amd_compiler,
                            .sensors = tessera::gpu::sensor_library::rocm,
                            .system_too = true}}};
