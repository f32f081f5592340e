#pragma once
// A GPU runtime in host threads: the calls that gpu_common makes, with the semantics of CUDA's. Device memory is host
// memory, a stream is one thread, a kernel's threads are fibers of it (launch.hpp). Nothing here computes fast; it is there
// so that kernels and stream logic run, also under sanitizers, where there is no GPU.
//
// As in CUDA: calls concern the calling thread's current device; a broken device answers `lost` to every call and runs
// neither work nor host functions any more; an event counts as reached until it is recorded.
#include <tessera/plugin.h>

#include <cstddef>
#include <cstdint>
#include <functional>

#include "plugins/gpu_common/device_facts.hpp"

namespace tessera::gpu {

namespace emulator {
class stream;
struct event;
}  // namespace emulator

using stream_t = emulator::stream*;
using event_t = emulator::event*;
enum class error_t : std::uint8_t {
  success,
  not_ready,
  out_of_memory,
  no_device,
  invalid_value,
  already_registered,
  lost,           ///< sticky, as is what follows
  missed_barrier  ///< of a kernel's threads some waited at a barrier, some ended
};

inline constexpr const char* runtime_name = "emulator";
/// Kernels are host code and device memory can be touched by host code: host tasks are offered.
inline constexpr bool device_memory_is_host_memory = true;

error_kind kind_of(error_t error) noexcept;
const char* text_of(error_t error) noexcept;
/// Forgets an error that is not sticky.
inline void clear_error() noexcept {}

error_t count_devices(int* out) noexcept;
error_t use_device(int ordinal) noexcept;
error_t describe(int ordinal, device_facts& out) noexcept;
error_t free_memory(std::size_t* out) noexcept;
/// Returns when nothing of the current device's work is running any more. Also on a lost device.
error_t synchronize_device();
/// A device that was lost can be used again, once nothing of it is in use.
void revive_device(int ordinal) noexcept;

error_t allocate(void** out, std::size_t bytes);
error_t release(void* memory);
error_t allocate_pinned(void** out, std::size_t bytes);
error_t release_pinned(void* memory);
error_t register_host(void* memory, std::size_t bytes);
error_t unregister_host(void* memory);

error_t create_stream(stream_t* out);
error_t synchronize_stream(stream_t stream);
/// The stream's work is done first.
error_t destroy_stream(stream_t stream);
error_t create_event(event_t* out);
error_t destroy_event(event_t event);
error_t record(event_t event, stream_t stream);
/// not_ready, success, or lost.
error_t query(event_t event);
error_t wait(stream_t stream, event_t event);

error_t copy(void* to, const void* from, std::size_t bytes, stream_t stream);
error_t copy_2d(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t bytes,
                std::size_t rows, stream_t stream);
error_t copy_3d(void* to, std::size_t to_pitch, std::size_t to_rows, const void* from, std::size_t from_pitch,
                std::size_t from_rows, std::size_t bytes, std::size_t rows, std::size_t planes, stream_t stream);
/// The largest pitch of copy_2d and copy_3d.
inline constexpr std::size_t max_pitch = (std::size_t{1} << 31) - 1;
error_t fill_bytes(void* to, int value, std::size_t bytes, stream_t stream);
/// The function makes no call of this runtime.
error_t host_function(stream_t stream, void (*function)(void*), void* argument);

error_t can_access_peer(int* out, int ordinal, int peer) noexcept;
inline error_t enable_peer(int) noexcept { return error_t::success; }

// What CUDA has not.
namespace emulator {
inline constexpr int device_count = 8;
/// Where streams' threads may run; null: anywhere. It must stay valid while streams are made.
void use_host(const tsr_host* host) noexcept;
/// Breaks a device: what runs ends, what is queued is dropped. From any thread, also from a host function or a kernel.
void lose_device(int ordinal, error_t why = error_t::lost) noexcept;
/// The device whose stream runs on this thread.
int running_device() noexcept;
/// Enqueues a piece of work; how launches get in.
error_t enqueue(stream_t stream, std::function<void()> work);
}  // namespace emulator

}  // namespace tessera::gpu
