#pragma once
// The OpenCL library of the system, taken when it is first asked for: the plugin loads where there is none.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include <cstddef>
#include <string>

namespace tessera::gpu::opencl {

/// The calls that the plugin makes, of OpenCL 1.2 but for one.
struct library {
  decltype(&clBuildProgram) build_program;
  decltype(&clCreateBuffer) create_buffer;
  decltype(&clCreateCommandQueue) create_queue;
  decltype(&clCreateContext) create_context;
  decltype(&clCreateKernel) create_kernel;
  decltype(&clCreateProgramWithBinary) create_program_with_binary;
  decltype(&clCreateProgramWithSource) create_program_with_source;
  decltype(&clCreateUserEvent) create_user_event;
  decltype(&clEnqueueBarrierWithWaitList) enqueue_barrier;
  decltype(&clEnqueueCopyBuffer) enqueue_copy;
  decltype(&clEnqueueCopyBufferRect) enqueue_copy_rect;
  decltype(&clEnqueueFillBuffer) enqueue_fill;
  decltype(&clEnqueueMarkerWithWaitList) enqueue_marker;
  decltype(&clEnqueueNDRangeKernel) enqueue_kernel;
  decltype(&clEnqueueReadBuffer) enqueue_read;
  decltype(&clEnqueueReadBufferRect) enqueue_read_rect;
  decltype(&clEnqueueWriteBuffer) enqueue_write;
  decltype(&clEnqueueWriteBufferRect) enqueue_write_rect;
  decltype(&clFinish) finish;
  decltype(&clFlush) flush;
  decltype(&clGetDeviceIDs) device_ids;
  decltype(&clGetDeviceInfo) device_info;
  decltype(&clGetEventInfo) event_info;
  decltype(&clGetKernelInfo) kernel_info;
  decltype(&clGetPlatformIDs) platform_ids;
  decltype(&clGetPlatformInfo) platform_info;
  decltype(&clGetProgramBuildInfo) build_info;
  decltype(&clGetProgramInfo) program_info;
  decltype(&clReleaseCommandQueue) release_queue;
  decltype(&clReleaseContext) release_context;
  decltype(&clReleaseEvent) release_event;
  decltype(&clReleaseKernel) release_kernel;
  decltype(&clReleaseMemObject) release_buffer;
  decltype(&clReleaseProgram) release_program;
  decltype(&clRetainEvent) retain_event;
  decltype(&clSetEventCallback) set_event_callback;
  decltype(&clSetKernelArg) set_argument;
  decltype(&clSetUserEventStatus) set_user_event;
  cl_program(CL_API_CALL* create_program_with_il)(cl_context, const void*, std::size_t,
                                                  cl_int*);  // of 2.1; null before
};

/// Takes the library, or says why there is none; loads no driver. Thread-safe; asking again costs nothing once it is
/// there.
bool take_library(std::string& reason);

/// The calls, once take_library succeeded.
const library& cl();

}  // namespace tessera::gpu::opencl
