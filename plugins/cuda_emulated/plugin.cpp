// The GPU plugin's sources on the emulator, as a device of NVIDIA's.
#include "plugins/gpu_common/abi/plugin.hpp"
#include "plugins/gpu_common/libraries/dense.hpp"
#include "plugins/gpu_common/libraries/sparse.hpp"

const tessera::gpu::identity tessera::gpu::this_plugin = {
    .name = "cuda_emulated",
    .devices = "1",
    .memory_limit = "1 GiB",
    .fallback = {.devices = 1,
                 .memory_limit = 1ull << 30,
                 .vendor = {.dense = &tessera::gpu::nvidia_dense,
                            .sparse = &tessera::gpu::nvidia_sparse,
                            .sensors = tessera::gpu::sensor_library::nvml}}};
