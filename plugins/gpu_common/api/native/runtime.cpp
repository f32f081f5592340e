#include "plugins/gpu_common/api/runtime.hpp"

#include <algorithm>
#include <cstring>

#include "plugins/gpu_common/api/native/vendor.hpp"
#include "plugins/kit/system/pages.hpp"

namespace tessera::gpu {

error_kind kind_of(error_t error) noexcept {
  switch (static_cast<int>(error)) {  // both vendors number errors alike, and not all of these have a name with both
    case 0:
      return error_kind::none;
    case 600:
      return error_kind::not_ready;
    case 2:
      return error_kind::out_of_memory;
    case 3:    // not initialized: no driver
    case 35:   // no driver, or one that is too old
    case 46:   // all devices are taken by others
    case 100:  // no device
    case 101:  // no such device
    case 802:  // the machine's fabric of devices is not up
    case 803:  // driver and its library are of two versions
    case 804:
      return error_kind::no_device;
    case 1:
    case 9:    // a launch's geometry
    case 400:  // a handle
    case 701:  // more registers or shared memory than a launch can have
    case 713:  // host memory that is not registered
      return error_kind::bad_argument;
    case 205:  // another process's memory could not be mapped
      return error_kind::gone;
    case 711:  // too many devices and processes share memory
      return error_kind::out_of_memory;
    case 800:  // not permitted
      return error_kind::denied;
    case 801:
      return error_kind::unsupported;
    case 712:
      return error_kind::already_there;
    case 214:  // memory that ECC could not correct
    case 220:  // a link between devices
    case 226:  // memory, found out late
    case 700:  // an address
    case 702:  // a kernel that took too long
    case 709:  // the context is gone
    case 710:  // an assertion in a kernel
    case 714:  // stack, instruction, alignment, kind of memory, program counter
    case 715:
    case 716:
    case 717:
    case 718:
    case 719:
    case 721:                     // tensor memory that a kernel has not given back
      return error_kind::sticky;  // a kernel failed
    case 900:
      return error_kind::not_while_capturing;
    case 901:  // what spoils a capture
    case 902:
    case 903:
    case 904:
    case 905:
    case 906:
    case 907:
    case 908:
      return error_kind::spoilt_capture;
    default:
      return error_kind::other;
  }
}

const char* text_of(error_t error) noexcept { return hipGetErrorString(error); }
void clear_error() noexcept { static_cast<void>(hipGetLastError()); }

std::string missing_driver() { return vendor::missing_driver(); }

error_t count_devices(int* out) noexcept { return hipGetDeviceCount(out); }
error_t use_device(int ordinal) noexcept { return hipSetDevice(ordinal); }

error_t describe(int ordinal, device_facts& out) noexcept {
  out = {};
  const auto attribute = [&](auto which) {
    int value = 0;
    return hipDeviceGetAttribute(&value, which, ordinal) == hipSuccess ? value : 0;
  };
  if (const auto error = hipDeviceGetName(out.name, sizeof out.name, ordinal); error != hipSuccess) return error;
  hipUUID uuid{};
  if (hipDeviceGetUuid(&uuid, ordinal) == hipSuccess) std::copy_n(uuid.bytes, sizeof out.uuid, out.uuid);
  if (hipDeviceGetPCIBusId(out.pci_address, sizeof out.pci_address, ordinal) == hipSuccess)
    for (char& letter : out.pci_address)  // as the operating system writes it
      if (letter >= 'A' && letter <= 'F') letter = static_cast<char>(letter - 'A' + 'a');
  out.compute_units = attribute(hipDeviceAttributeMultiprocessorCount);
  out.copy_engines = std::max(attribute(hipDeviceAttributeAsyncEngineCount), 1);
  out.clock_hz = attribute(hipDeviceAttributeClockRate) * 1e3;
  out.memory_bandwidth =  // two transfers a clock
      2 * attribute(hipDeviceAttributeMemoryClockRate) * 1e3 * attribute(hipDeviceAttributeMemoryBusWidth) / 8;
  vendor::describe_units(ordinal, out);
  clear_error();  // of what is not known of this device
  return hipSuccess;
}

error_t free_memory(std::size_t* out) noexcept {
  std::size_t all = 0;
  return hipMemGetInfo(out, &all);
}

error_t synchronize_device() { return hipDeviceSynchronize(); }

void revive_device(int ordinal) noexcept {
  if (hipSetDevice(ordinal) == hipSuccess && kind_of(hipDeviceSynchronize()) == error_kind::sticky)
    static_cast<void>(hipDeviceReset());
  clear_error();
}

error_t allocate(void** out, std::size_t bytes) { return hipMalloc(out, bytes); }
error_t allocate_managed(void** out, std::size_t bytes) { return hipMallocManaged(out, bytes, hipMemAttachGlobal); }
error_t release(void* memory) { return hipFree(memory); }
error_t allocate_pinned(void** out, std::size_t bytes) { return hipHostMalloc(out, bytes, hipHostMallocPortable); }
error_t release_pinned(void* memory) { return hipHostFree(memory); }
error_t allocate_in_order(void** out, std::size_t bytes, stream_t stream) { return hipMallocAsync(out, bytes, stream); }
error_t release_in_order(void* memory, stream_t stream) { return hipFreeAsync(memory, stream); }
error_t register_host(void* memory, std::size_t bytes) {
  constexpr std::size_t worth_it = std::size_t{8} << 20;
  if (bytes >= worth_it) kit::populate(memory, bytes);  // else the vendor's runtime touches it, page by page
  return hipHostRegister(memory, bytes, hipHostRegisterPortable);
}
error_t unregister_host(void* memory) { return hipHostUnregister(memory); }

error_t create_stream(stream_t* out) { return hipStreamCreateWithFlags(out, hipStreamNonBlocking); }
error_t synchronize_stream(stream_t stream) { return hipStreamSynchronize(stream); }
error_t destroy_stream(stream_t stream) { return hipStreamDestroy(stream); }
error_t create_event(event_t* out) { return hipEventCreateWithFlags(out, hipEventDisableTiming); }
error_t destroy_event(event_t event) { return hipEventDestroy(event); }
error_t record(event_t event, stream_t stream) { return hipEventRecord(event, stream); }
error_t query(event_t event) { return hipEventQuery(event); }
error_t wait(stream_t stream, event_t event) { return hipStreamWaitEvent(stream, event, 0); }

error_t copy(void* to, const void* from, std::size_t bytes, stream_t stream) {
  return hipMemcpyAsync(to, from, bytes, hipMemcpyDefault, stream);
}

error_t copy_2d(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t bytes,
                std::size_t rows, stream_t stream) {
  return hipMemcpy2DAsync(to, to_pitch, from, from_pitch, bytes, rows, hipMemcpyDefault, stream);
}

error_t copy_3d(void* to, std::size_t to_pitch, std::size_t to_rows, const void* from, std::size_t from_pitch,
                std::size_t from_rows, std::size_t bytes, std::size_t rows, std::size_t planes, stream_t stream) {
  hipMemcpy3DParms parameters{};
  parameters.dstPtr = make_hipPitchedPtr(to, to_pitch, to_pitch, to_rows);
  parameters.srcPtr = make_hipPitchedPtr(const_cast<void*>(from), from_pitch, from_pitch, from_rows);
  parameters.extent = make_hipExtent(bytes, rows, planes);
  parameters.kind = hipMemcpyDefault;
  return hipMemcpy3DAsync(&parameters, stream);
}

error_t fill_bytes(void* to, int value, std::size_t bytes, stream_t stream) {
  return hipMemsetAsync(to, value, bytes, stream);
}

error_t host_function(stream_t stream, void (*function)(void*), void* argument) {
  return vendor::host_function(stream, function, argument);
}

// Relaxed: while a thread records on one stream it may ask about events of others. What may not be done meanwhile is
// refused before it comes here.
error_t begin_capture(stream_t stream) { return hipStreamBeginCapture(stream, hipStreamCaptureModeRelaxed); }

error_t end_capture(stream_t stream, graph_t* out) {
  hipGraph_t recorded{};
  if (const auto error = hipStreamEndCapture(stream, &recorded); error != hipSuccess) return error;
  const auto error = hipGraphInstantiate(out, recorded, nullptr, nullptr, 0);
  static_cast<void>(hipGraphDestroy(recorded));
  return error;
}

error_t launch_graph(graph_t graph, stream_t stream) { return hipGraphLaunch(graph, stream); }
error_t destroy_graph(graph_t graph) { return hipGraphExecDestroy(graph); }

static_assert(sizeof(hipIpcMemHandle_t) == 64);

error_t export_memory(void* memory, void* out_handle) {
  hipIpcMemHandle_t handle;
  const auto error = hipIpcGetMemHandle(&handle, memory);
  if (error == hipSuccess) std::memcpy(out_handle, &handle, sizeof handle);
  return error;
}

error_t import_memory(void** out, const void* from) {
  hipIpcMemHandle_t handle;
  std::memcpy(&handle, from, sizeof handle);
  return hipIpcOpenMemHandle(out, handle, hipIpcMemLazyEnablePeerAccess);
}

error_t release_imported(void* memory) { return hipIpcCloseMemHandle(memory); }

error_t can_access_peer(int* out, int ordinal, int peer) noexcept { return hipDeviceCanAccessPeer(out, ordinal, peer); }
error_t enable_peer(int peer) noexcept { return hipDeviceEnablePeerAccess(peer, 0); }

}  // namespace tessera::gpu
