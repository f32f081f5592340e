#pragma once
// How kernels are enqueued.
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "plugins/gpu_common/kernels/kernels.hpp"
#include "plugins/kit/abi/operand.hpp"
#include "plugins/opencl/queue.hpp"

namespace tessera::gpu::opencl {

/// An argument of any type, by its bytes.
struct bytes_of {
  const void* data;
  std::size_t size;
};
/// One element of `type`.
inline bytes_of one_element(tsr_type type, const void* data) { return {data, kit::element_bytes(type)}; }

/// Groups of threads along two dimensions.
struct groups {
  std::size_t x, y = 1;
};

/// As many groups of `threads` as `count` pieces of work need, at most `most`: kernels go round for what is left.
inline std::size_t groups_for(std::int64_t count, std::size_t threads, std::size_t most = 4096) {
  const std::size_t all = (static_cast<std::size_t>(count) + threads - 1) / threads;
  return all < 1 ? 1 : all < most ? all : most;
}

/// The arguments of one launch, in the order of the kernel's parameters.
class argument_list {
 public:
  argument_list(cl_kernel kernel, const device_state& device) : m_kernel(kernel), m_device(device) {}
  void add(cl_int value) { set(sizeof value, &value); }
  void add(cl_uint value) { set(sizeof value, &value); }
  void add(std::int64_t value) { set(sizeof value, &value); }
  void add(const bytes_of& value) { set(value.size, value.data); }
  void add(cl_mem buffer) { set(sizeof buffer, &buffer); }
  /// Device memory: two parameters, the buffer and the offset in bytes.
  void add(const void* address);
  /// Five parameters: buffer, offset, steps along rows and columns, whether it is conjugated.
  void add(const matrix& value);
  cl_int code() const noexcept { return m_code; }

 private:
  void set(std::size_t size, const void* value);
  const cl_kernel m_kernel;
  const device_state& m_device;
  cl_uint m_index = 0;
  cl_int m_code = CL_SUCCESS;
};

/// The compiled kernels of a device that is open.
std::shared_ptr<program_store> programs_of(device_state& device);

/// Enqueues with arguments that are set. With the kernel's mutex held.
error_t enqueue(queue& stream, const kernel_name& which, cl_kernel native, const groups& count, std::size_t threads);

/// Enqueues a kernel of `threads` threads a group.
template <class... Arguments>
error_t launch(stream_t stream, const kernel_name& which, const groups& count, std::size_t threads,
               const Arguments&... arguments) {
  const auto programs = programs_of(stream->device());  // held until the launch is enqueued
  kernel* found = nullptr;
  if (error_t error = programs->find(which, &found); error.kind() != error_kind::none) return error;
  const std::lock_guard lock(found->mutex);
  argument_list list(found->native, stream->device());
  (list.add(arguments), ...);
  if (list.code() != CL_SUCCESS) return {list.code(), std::string("clSetKernelArg of ") + which.name};
  return enqueue(*stream, which, found->native, count, threads);
}

/// The element type as kernels know it.
inline element element_of(tsr_type type) noexcept { return static_cast<element>(type); }

}  // namespace tessera::gpu::opencl
