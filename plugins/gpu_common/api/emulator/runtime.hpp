#pragma once
// A GPU runtime in host threads: what ../runtime.hpp asks, and how tests and plugins steer it. Device memory is host
// memory, a stream is one thread, a kernel's threads are fibers of it (launch.hpp). Nothing here computes fast; it is
// there so that kernels and stream logic run, also under sanitizers, where there is no GPU.
#include <tessera/plugin.h>

#include <functional>

#include "plugins/gpu_common/api/runtime.hpp"

namespace tessera::gpu {

namespace emulator {
inline constexpr int device_count = 8;
/// Where streams' threads may run; null: anywhere. It must stay valid while streams are made.
void use_host(const tsr_host* host) noexcept;
/// Whether memory that is allocated from now on can be exported. It is then not watched by the address sanitizer.
void share_memory(bool yes) noexcept;
/// Breaks a device: what runs ends, what is queued is dropped. From any thread, also from a host function or a kernel.
void lose_device(int ordinal, error_t why = error_t::lost) noexcept;
/// The device whose stream runs on this thread.
int running_device() noexcept;
/// Enqueues a piece of work; how launches get in.
error_t enqueue(stream_t stream, std::function<void()> work);
}  // namespace emulator

}  // namespace tessera::gpu
