#pragma once
// What this folder asks of a GPU's runtime. CUDA's semantics: calls concern the calling thread's current device; a
// broken device answers an error of kind `sticky` to every call and runs neither work nor host functions any more; an
// event counts as reached until it is recorded. Defined by emulator/runtime.cpp or by native/runtime.cpp. C++17, since
// compilers for GPUs read it.
#include <cstddef>
#include <string>

#include "plugins/gpu_common/api/device_facts.hpp"

#if defined(TESSERA_GPU_VENDOR)
#include "gpu_vendor.hpp"  // a runtime in a plugin's own folder, which has all of what follows
#elif defined(TESSERA_GPU_EMULATED)
#include "plugins/gpu_common/api/emulator/types.hpp"
#else
#include "plugins/gpu_common/api/native/types.hpp"
#endif

#if !defined(TESSERA_GPU_VENDOR)

namespace tessera::gpu {

error_kind kind_of(error_t error) noexcept;
const char* text_of(error_t error) noexcept;
/// Forgets an error that is not sticky.
void clear_error() noexcept;

/// Why no device can be used on this machine, found out cheaply and without a context; "" when there may be one.
std::string missing_driver();
error_t count_devices(int* out) noexcept;
error_t use_device(int ordinal) noexcept;
error_t describe(int ordinal, device_facts& out) noexcept;
/// Bytes of the current device's memory that can be allocated now.
error_t free_memory(std::size_t* out) noexcept;
/// Returns when nothing of the current device's work is running any more. Also on a lost device.
error_t synchronize_device();
/// A device that was lost can be used again, once nothing of it is in use.
void revive_device(int ordinal) noexcept;

error_t allocate(void** out, std::size_t bytes);
/// Memory that the host reads and writes too, while nothing of the device uses it. Given back by release.
error_t allocate_managed(void** out, std::size_t bytes);
error_t release(void* memory);
error_t allocate_pinned(void** out, std::size_t bytes);
error_t release_pinned(void* memory);
/// Device memory for the work enqueued between the two calls; nothing waits.
error_t allocate_in_order(void** out, std::size_t bytes, stream_t stream);
error_t release_in_order(void* memory, stream_t stream);
error_t register_host(void* memory, std::size_t bytes);
error_t unregister_host(void* memory);

error_t create_stream(stream_t* out);
error_t synchronize_stream(stream_t stream);
/// The stream's work is done first.
error_t destroy_stream(stream_t stream);
/// What programs know the stream by that use the vendor's runtime themselves.
inline void* native_handle(stream_t stream) noexcept { return stream; }
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

/// From here on work is recorded instead of run, until the end; the calling thread allocates nothing meanwhile. A
/// capture that was spoilt ends with an error and gives no graph.
error_t begin_capture(stream_t stream);
error_t end_capture(stream_t stream, graph_t* out);
error_t launch_graph(graph_t graph, stream_t stream);
/// Launches under way still end.
error_t destroy_graph(graph_t graph);

/// Memory that allocate gave, for other processes; 64 bytes that they can import.
error_t export_memory(void* memory, void* out_handle);
/// Another process's memory, of the current device. Given back by release_imported.
error_t import_memory(void** out, const void* handle);
error_t release_imported(void* memory);

error_t can_access_peer(int* out, int ordinal, int peer) noexcept;
/// Lets kernels and copies of the current device reach a peer's memory.
error_t enable_peer(int peer) noexcept;

}  // namespace tessera::gpu
#endif
