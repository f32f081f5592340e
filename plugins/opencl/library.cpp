#include "plugins/opencl/library.hpp"

#include <dlfcn.h>

#include <mutex>

namespace tessera::gpu::opencl {
namespace {

std::mutex guard;
library calls{};
bool taken = false;

/// False when a call is missing.
template <class Call>
bool find(void* handle, const char* name, Call& out, std::string& reason) {
  out = reinterpret_cast<Call>(::dlsym(handle, name));
  if (out == nullptr) reason = std::string("libOpenCL.so.1 has no ") + name + "; it is older than OpenCL 1.2";
  return out != nullptr;
}

bool find_all(void* handle, library& in, std::string& reason) {
  const auto one = [&](const char* name, auto& call) { return find(handle, name, call, reason); };
  return one("clBuildProgram", in.build_program) && one("clCreateBuffer", in.create_buffer) &&
         one("clCreateCommandQueue", in.create_queue) && one("clCreateContext", in.create_context) &&
         one("clCreateKernel", in.create_kernel) && one("clCreateProgramWithBinary", in.create_program_with_binary) &&
         one("clCreateProgramWithSource", in.create_program_with_source) &&
         one("clCreateUserEvent", in.create_user_event) && one("clEnqueueBarrierWithWaitList", in.enqueue_barrier) &&
         one("clEnqueueCopyBuffer", in.enqueue_copy) && one("clEnqueueCopyBufferRect", in.enqueue_copy_rect) &&
         one("clEnqueueFillBuffer", in.enqueue_fill) && one("clEnqueueMarkerWithWaitList", in.enqueue_marker) &&
         one("clEnqueueNDRangeKernel", in.enqueue_kernel) && one("clEnqueueReadBuffer", in.enqueue_read) &&
         one("clEnqueueReadBufferRect", in.enqueue_read_rect) && one("clEnqueueWriteBuffer", in.enqueue_write) &&
         one("clEnqueueWriteBufferRect", in.enqueue_write_rect) && one("clFinish", in.finish) &&
         one("clFlush", in.flush) && one("clGetDeviceIDs", in.device_ids) && one("clGetDeviceInfo", in.device_info) &&
         one("clGetEventInfo", in.event_info) && one("clGetKernelInfo", in.kernel_info) &&
         one("clGetPlatformIDs", in.platform_ids) && one("clGetPlatformInfo", in.platform_info) &&
         one("clGetProgramBuildInfo", in.build_info) && one("clGetProgramInfo", in.program_info) &&
         one("clReleaseCommandQueue", in.release_queue) && one("clReleaseContext", in.release_context) &&
         one("clReleaseEvent", in.release_event) && one("clReleaseKernel", in.release_kernel) &&
         one("clReleaseMemObject", in.release_buffer) && one("clReleaseProgram", in.release_program) &&
         one("clRetainEvent", in.retain_event) && one("clSetEventCallback", in.set_event_callback) &&
         one("clSetKernelArg", in.set_argument) && one("clSetUserEventStatus", in.set_user_event);
}

}  // namespace

bool take_library(std::string& reason) {
  const std::lock_guard lock(guard);
  if (taken) return true;
  void* const handle = ::dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    reason = std::string("the OpenCL library is missing: ") + ::dlerror();
    return false;
  }
  taken = find_all(handle, calls, reason);
  calls.create_program_with_il =
      reinterpret_cast<decltype(calls.create_program_with_il)>(::dlsym(handle, "clCreateProgramWithIL"));
  return taken;  // never closed: drivers behind it keep threads
}

const library& cl() { return calls; }

}  // namespace tessera::gpu::opencl
