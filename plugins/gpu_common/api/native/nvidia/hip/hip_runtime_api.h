#pragma once
// HIP on NVIDIA: the names of HIP that this project uses, as what CUDA calls them. HIP's own header for NVIDIA does not
// compile with CUDA 13.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdio>
#include <cstring>

using hipError_t = cudaError_t;
using hipStream_t = cudaStream_t;
using hipEvent_t = cudaEvent_t;
using hipGraph_t = cudaGraph_t;
using hipGraphExec_t = cudaGraphExec_t;
using hipGraphNode_t = cudaGraphNode_t;
using hipMemcpy3DParms = cudaMemcpy3DParms;
using hipIpcMemHandle_t = cudaIpcMemHandle_t;
struct hipUUID {
  char bytes[16];
};

inline constexpr hipError_t hipSuccess = cudaSuccess;
inline constexpr hipError_t hipErrorInvalidValue = cudaErrorInvalidValue;
inline constexpr auto hipMemcpyDefault = cudaMemcpyDefault;
inline constexpr auto hipStreamCaptureModeRelaxed = cudaStreamCaptureModeRelaxed;
inline constexpr unsigned hipStreamNonBlocking = cudaStreamNonBlocking;
inline constexpr unsigned hipEventDisableTiming = cudaEventDisableTiming;
inline constexpr unsigned hipHostMallocPortable = cudaHostAllocPortable;
inline constexpr unsigned hipHostRegisterPortable = cudaHostRegisterPortable;
inline constexpr unsigned hipMemAttachGlobal = cudaMemAttachGlobal;
inline constexpr unsigned hipIpcMemLazyEnablePeerAccess = cudaIpcMemLazyEnablePeerAccess;
inline constexpr auto hipDeviceAttributeMultiprocessorCount = cudaDevAttrMultiProcessorCount;
inline constexpr auto hipDeviceAttributeClockRate = cudaDevAttrClockRate;
inline constexpr auto hipDeviceAttributeMemoryClockRate = cudaDevAttrMemoryClockRate;
inline constexpr auto hipDeviceAttributeMemoryBusWidth = cudaDevAttrGlobalMemoryBusWidth;
inline constexpr auto hipDeviceAttributeAsyncEngineCount = cudaDevAttrAsyncEngineCount;
inline constexpr auto hipDeviceAttributeManagedMemory = cudaDevAttrManagedMemory;

inline hipError_t hipGetLastError() { return cudaGetLastError(); }
inline const char* hipGetErrorString(hipError_t error) { return cudaGetErrorString(error); }
inline hipError_t hipDriverGetVersion(int* out) { return cudaDriverGetVersion(out); }
inline hipError_t hipRuntimeGetVersion(int* out) { return cudaRuntimeGetVersion(out); }

inline hipError_t hipGetDeviceCount(int* out) { return cudaGetDeviceCount(out); }
inline hipError_t hipSetDevice(int device) { return cudaSetDevice(device); }
inline hipError_t hipDeviceSynchronize() { return cudaDeviceSynchronize(); }
inline hipError_t hipDeviceReset() { return cudaDeviceReset(); }
inline hipError_t hipDeviceGetAttribute(int* out, cudaDeviceAttr attribute, int device) {
  return cudaDeviceGetAttribute(out, attribute, device);
}
inline hipError_t hipDeviceGetPCIBusId(char* out, int bytes, int device) {
  return cudaDeviceGetPCIBusId(out, bytes, device);
}
inline hipError_t hipDeviceGetName(char* out, int bytes, int device) {
  cudaDeviceProp is;
  const auto error = cudaGetDeviceProperties(&is, device);
  if (error == cudaSuccess) std::snprintf(out, static_cast<std::size_t>(bytes), "%s", is.name);
  return error;
}
inline hipError_t hipDeviceGetUuid(hipUUID* out, int device) {
  cudaDeviceProp is;
  const auto error = cudaGetDeviceProperties(&is, device);
  if (error == cudaSuccess) std::memcpy(out->bytes, is.uuid.bytes, sizeof out->bytes);
  return error;
}
inline hipError_t hipDeviceCanAccessPeer(int* out, int device, int peer) {
  return cudaDeviceCanAccessPeer(out, device, peer);
}
inline hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  return cudaDeviceEnablePeerAccess(peer, flags);
}

inline hipError_t hipMemGetInfo(std::size_t* free, std::size_t* total) { return cudaMemGetInfo(free, total); }
inline hipError_t hipMalloc(void** out, std::size_t bytes) { return cudaMalloc(out, bytes); }
inline hipError_t hipFree(void* memory) { return cudaFree(memory); }
inline hipError_t hipHostMalloc(void** out, std::size_t bytes, unsigned flags) {
  return cudaHostAlloc(out, bytes, flags);
}
inline hipError_t hipHostFree(void* memory) { return cudaFreeHost(memory); }
inline hipError_t hipMallocManaged(void** out, std::size_t bytes, unsigned flags) {
  return cudaMallocManaged(out, bytes, flags);
}
inline hipError_t hipMallocAsync(void** out, std::size_t bytes, hipStream_t stream) {
  return cudaMallocAsync(out, bytes, stream);
}
inline hipError_t hipFreeAsync(void* memory, hipStream_t stream) { return cudaFreeAsync(memory, stream); }
inline hipError_t hipHostRegister(void* memory, std::size_t bytes, unsigned flags) {
  return cudaHostRegister(memory, bytes, flags);
}
inline hipError_t hipHostUnregister(void* memory) { return cudaHostUnregister(memory); }

inline hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t* out, void* memory) { return cudaIpcGetMemHandle(out, memory); }
inline hipError_t hipIpcOpenMemHandle(void** out, hipIpcMemHandle_t handle, unsigned flags) {
  return cudaIpcOpenMemHandle(out, handle, flags);
}
inline hipError_t hipIpcCloseMemHandle(void* memory) { return cudaIpcCloseMemHandle(memory); }

inline hipError_t hipStreamCreateWithFlags(hipStream_t* out, unsigned flags) {
  return cudaStreamCreateWithFlags(out, flags);
}
inline hipError_t hipStreamSynchronize(hipStream_t stream) { return cudaStreamSynchronize(stream); }
inline hipError_t hipStreamDestroy(hipStream_t stream) { return cudaStreamDestroy(stream); }
inline hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags) {
  return cudaStreamWaitEvent(stream, event, flags);
}
inline hipError_t hipLaunchHostFunc(hipStream_t stream, void (*function)(void*), void* argument) {
  return cudaLaunchHostFunc(stream, function, argument);
}
inline hipError_t hipStreamBeginCapture(hipStream_t stream, cudaStreamCaptureMode mode) {
  return cudaStreamBeginCapture(stream, mode);
}
inline hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* out) { return cudaStreamEndCapture(stream, out); }
inline hipError_t hipGraphInstantiate(hipGraphExec_t* out, hipGraph_t graph, hipGraphNode_t*, char*, std::size_t) {
  return cudaGraphInstantiate(out, graph, 0);
}
inline hipError_t hipGraphLaunch(hipGraphExec_t graph, hipStream_t stream) { return cudaGraphLaunch(graph, stream); }
inline hipError_t hipGraphDestroy(hipGraph_t graph) { return cudaGraphDestroy(graph); }
inline hipError_t hipGraphExecDestroy(hipGraphExec_t graph) { return cudaGraphExecDestroy(graph); }
inline hipError_t hipEventCreateWithFlags(hipEvent_t* out, unsigned flags) {
  return cudaEventCreateWithFlags(out, flags);
}
inline hipError_t hipEventDestroy(hipEvent_t event) { return cudaEventDestroy(event); }
inline hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) { return cudaEventRecord(event, stream); }
inline hipError_t hipEventQuery(hipEvent_t event) { return cudaEventQuery(event); }

inline hipError_t hipMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                                 hipStream_t stream) {
  return cudaMemcpyAsync(to, from, bytes, kind, stream);
}
inline hipError_t hipMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                   std::size_t bytes, std::size_t rows, cudaMemcpyKind kind, hipStream_t stream) {
  return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, bytes, rows, kind, stream);
}
inline hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms* how, hipStream_t stream) {
  return cudaMemcpy3DAsync(how, stream);
}
inline hipError_t hipMemsetAsync(void* to, int value, std::size_t bytes, hipStream_t stream) {
  return cudaMemsetAsync(to, value, bytes, stream);
}
inline cudaPitchedPtr make_hipPitchedPtr(void* data, std::size_t pitch, std::size_t width, std::size_t rows) {
  return {data, pitch, width, rows};
}
inline cudaExtent make_hipExtent(std::size_t width, std::size_t rows, std::size_t planes) {
  return {width, rows, planes};
}
