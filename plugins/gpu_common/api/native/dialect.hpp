#pragma once
// The words of device code for compilers for GPUs (nvcc, hipcc).
#include <hip/hip_runtime.h>

#include <cstddef>

#include "plugins/gpu_common/api/runtime.hpp"

namespace tessera::gpu {

struct extent3 {
  unsigned x = 1, y = 1, z = 1;
};

__device__ inline unsigned thread_x() { return threadIdx.x; }
__device__ inline unsigned thread_y() { return threadIdx.y; }
__device__ inline unsigned block_x() { return blockIdx.x; }
__device__ inline unsigned block_y() { return blockIdx.y; }
__device__ inline unsigned block_z() { return blockIdx.z; }
__device__ inline unsigned threads_x() { return blockDim.x; }
__device__ inline unsigned threads_y() { return blockDim.y; }
__device__ inline unsigned blocks_x() { return gridDim.x; }
__device__ inline void barrier() { __syncthreads(); }

/// The launch's shared memory, the same for every thread of the block.
template <class T>
__device__ inline T* shared_memory() {
  extern __shared__ __align__(16) unsigned char tessera_shared[];
  return reinterpret_cast<T*>(tessera_shared);
}

template <class T>
__device__ inline void add_atomically(T* to, T value) {
  atomicAdd(to, value);
}

/// Enqueues kernel(arguments...) on a stream of the current device.
template <class... Parameters, class... Arguments>
error_t launch(void (*kernel)(Parameters...), extent3 grid, extent3 threads, std::size_t shared_bytes, stream_t stream,
               const Arguments&... arguments) {
  kernel<<<dim3(grid.x, grid.y, grid.z), dim3(threads.x, threads.y, threads.z), shared_bytes, stream>>>(
      static_cast<Parameters>(arguments)...);
  return hipGetLastError();
}

}  // namespace tessera::gpu
