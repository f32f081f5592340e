#pragma once
// OpenCL with the calls that gpu_common makes. A buffer of OpenCL is opaque; here it is known by a range of addresses
// that is reserved with the operating system and has nothing behind it (buffers.hpp): so what gpu_common computes with
// addresses is right for buffers too, and one that gets to the host by mistake faults.
//
// Calls concern the calling thread's current device. Each device has a context of its own; events of another one's are
// waited for through a user event.
#include <cstddef>
#include <cstdint>

#include "plugins/opencl/errors.hpp"

namespace tessera::gpu {

namespace opencl {
class queue;
struct event;
}  // namespace opencl

using stream_t = opencl::queue*;
using event_t = opencl::event*;
using graph_t = void*;  // none

inline constexpr const char* runtime_name = "OpenCL";
inline constexpr bool device_memory_is_host_memory = false;
/// Kernels see buffers and offsets, and nobody else computes an address.
inline constexpr bool device_memory_is_addressable = false;
/// OpenCL cannot page-lock host memory that it did not allocate.
inline constexpr bool has_pinned_memory = false;
/// Nor has it these.
inline constexpr bool has_managed_memory = false, has_graphs = false, has_libraries = false, has_shared_memory = false;
inline constexpr bool release_waits = false, bus_is_measured = false, callbacks_are_cheap = true;
inline constexpr std::uint64_t memory_of_others = 0;

/// Forgets an error that is not sticky; OpenCL remembers none.
inline void clear_error() noexcept {}

/// How many devices all drivers have together; their numbers stay the same as long as the process.
error_t count_devices(int* out);
error_t use_device(int ordinal) noexcept;
error_t describe(int ordinal, device_facts& out);
/// Returns when nothing of the current device runs any more. What a driver drops is dropped for good.
error_t synchronize_device();
/// The device can be used, again if it was lost. Nothing of it is in use.
void revive_device(int ordinal);
/// `describe` tells what can be told.
inline error_t free_memory(std::size_t*) { return {CL_INVALID_OPERATION, "asking for free memory"}; }

error_t allocate(void** out, std::size_t bytes);
error_t release(void* memory);
inline error_t allocate_managed(void**, std::size_t) { return {CL_INVALID_OPERATION, "managed memory"}; }
inline error_t allocate_in_order(void**, std::size_t, stream_t) {
  return {CL_INVALID_OPERATION, "memory in the order of a queue"};
}
inline error_t release_in_order(void*, stream_t) { return {CL_INVALID_OPERATION, "memory in the order of a queue"}; }
inline error_t allocate_pinned(void**, std::size_t) { return {CL_INVALID_OPERATION, "pinned memory"}; }
inline error_t release_pinned(void*) { return {}; }
inline error_t register_host(void*, std::size_t) { return {CL_INVALID_OPERATION, "registering host memory"}; }
inline error_t unregister_host(void*) { return {CL_INVALID_OPERATION, "unregistering host memory"}; }

error_t create_stream(stream_t* out);
/// Also waits for callbacks.
error_t synchronize_stream(stream_t stream);
/// The stream's work is done first.
error_t destroy_stream(stream_t stream);
void* native_handle(stream_t stream) noexcept;
error_t create_event(event_t* out);
error_t destroy_event(event_t event);
error_t record(event_t event, stream_t stream);
/// not_ready, success, or sticky: a command before it was ended by the driver, which after that may do what it likes.
error_t query(event_t event);
error_t wait(stream_t stream, event_t event);

error_t copy(void* to, const void* from, std::size_t bytes, stream_t stream);
error_t copy_2d(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t bytes,
                std::size_t rows, stream_t stream);
error_t copy_3d(void* to, std::size_t to_pitch, std::size_t to_rows, const void* from, std::size_t from_pitch,
                std::size_t from_rows, std::size_t bytes, std::size_t rows, std::size_t planes, stream_t stream);
inline constexpr std::size_t max_pitch = ~std::size_t{0};
error_t fill_bytes(void* to, int value, std::size_t bytes, stream_t stream);
/// The function is called in the order of the stream's, on a thread of the driver's.
error_t host_function(stream_t stream, void (*function)(void*), void* argument);

inline error_t begin_capture(stream_t) { return {CL_INVALID_OPERATION, "recording"}; }
inline error_t end_capture(stream_t, graph_t*) { return {CL_INVALID_OPERATION, "recording"}; }
inline error_t launch_graph(graph_t, stream_t) { return {CL_INVALID_OPERATION, "a graph"}; }
inline error_t destroy_graph(graph_t) { return {}; }

inline error_t export_memory(void*, void*) { return {CL_INVALID_OPERATION, "exporting memory"}; }
inline error_t import_memory(void**, const void*) { return {CL_INVALID_OPERATION, "importing memory"}; }
inline error_t release_imported(void*) { return {}; }

/// Buffers belong to one context: devices reach each other through the host alone.
inline error_t can_access_peer(int* out, int, int) noexcept {
  *out = 0;
  return {};
}
inline error_t enable_peer(int) noexcept { return {}; }

}  // namespace tessera::gpu
