#pragma once
// What kernels are written with: the CUDA and HIP dialect, with our own words for what differs. C++17, since compilers
// for GPUs read it. TESSERA_GPU_EMULATED is defined where kernels are host code.
#include <cstdint>

#include "plugins/gpu_common/api/runtime.hpp"

#if defined(TESSERA_GPU_EMULATED)
#include "plugins/gpu_common/api/emulator/dialect.hpp"
#else
#include "plugins/gpu_common/api/native/dialect.hpp"
#endif

namespace tessera::gpu {

/// The thread's number in a grid of one dimension, and how many there are.
__device__ inline std::int64_t global_thread() { return std::int64_t{block_x()} * threads_x() + thread_x(); }
__device__ inline std::int64_t global_threads() { return std::int64_t{blocks_x()} * threads_x(); }

/// Emulated, a small one: blocks run one after the other anyway, and small arrays go round it, as tests want.
#if defined(TESSERA_GPU_EMULATED)
inline constexpr unsigned largest_grid = 64;
#else
inline constexpr unsigned largest_grid = 4096;
#endif

/// Blocks of `threads` for `count` pieces of work, at most `most`: kernels go round the grid for what is left.
inline unsigned blocks_for(std::int64_t count, unsigned threads, unsigned most = largest_grid) {
  const std::int64_t blocks = (count + threads - 1) / threads;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

}  // namespace tessera::gpu
