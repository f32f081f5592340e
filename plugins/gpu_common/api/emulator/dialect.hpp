#pragma once
// The words of device code where kernels are host code.
#include "plugins/gpu_common/api/emulator/launch.hpp"

// The dialect's own keywords; a compiler for GPUs knows them.
#define __global__ static
#define __device__
#define __host__
#define __launch_bounds__(...)

namespace tessera::gpu {

inline unsigned thread_x() { return emulator::here().thread().x; }
inline unsigned thread_y() { return emulator::here().thread().y; }
inline unsigned block_x() { return emulator::here().block.x; }
inline unsigned block_y() { return emulator::here().block.y; }
inline unsigned block_z() { return emulator::here().block.z; }
inline unsigned threads_x() { return emulator::here().threads.x; }
inline unsigned threads_y() { return emulator::here().threads.y; }
inline unsigned blocks_x() { return emulator::here().grid.x; }
inline void barrier() { emulator::barrier(); }

/// The launch's shared memory, the same for every thread of the block.
template <class T>
T* shared_memory() {
  return reinterpret_cast<T*>(emulator::here().shared);
}

template <class T>
void add_atomically(T* to, T value) {
  std::atomic_ref<T>(*to).fetch_add(value, std::memory_order_relaxed);
}

}  // namespace tessera::gpu
