#pragma once
// How the emulator runs a kernel: block after block on the stream's thread, one fiber per thread that waits at a
// barrier.
//
// Under the thread sanitizer every thread of a block is a fiber of its own that the sanitizer knows, and nothing but
// the barrier orders them: two threads of a block that touch the same memory without a barrier between them are
// reported, though they never run at the same time. Blocks are ordered (they run one after the other), so races between
// blocks are not seen. Under the address sanitizer shared memory is an allocation of just the bytes that the launch
// asked for.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <tuple>
#include <utility>

#include "plugins/gpu_common/api/emulator/runtime.hpp"

namespace tessera::gpu {

struct extent3 {
  unsigned x = 1, y = 1, z = 1;
};

namespace emulator {

class kernel_fiber;

/// What a kernel's thread can ask for. One per stream thread while a kernel runs there.
struct running_block {
  extent3 grid, threads, block;
  unsigned char* shared = nullptr;
  std::atomic<kernel_fiber*> current{nullptr};  // relaxed: switches between fibers of one thread

  extent3 thread() const noexcept;
};

/// That of the calling stream thread.
running_block& here() noexcept;

/// Waits until all threads of the block have come here.
void barrier();

/// Runs `body` for each thread of each block. A block whose threads do not all reach the same barriers breaks the
/// device.
void run_grid(extent3 grid, extent3 threads, std::size_t shared_bytes, const std::function<void()>& body);

}  // namespace emulator

/// Enqueues kernel(arguments...). As on a real device an empty grid or more than 1024 threads a block are an error.
template <class... Parameters, class... Arguments>
error_t launch(void (*kernel)(Parameters...), extent3 grid, extent3 threads, std::size_t shared_bytes, stream_t stream,
               const Arguments&... arguments) {
  const auto blocks = std::uint64_t{grid.x} * grid.y * grid.z, size = std::uint64_t{threads.x} * threads.y * threads.z;
  if (blocks == 0 || grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535 || size == 0 || size > 1024 ||
      shared_bytes > 48 * 1024)
    return error_t::invalid_value;
  return emulator::enqueue(stream, [=, given = std::tuple<Parameters...>(arguments...)] {
    emulator::run_grid(grid, threads, shared_bytes, [&] { std::apply(kernel, given); });
  });
}

}  // namespace tessera::gpu
