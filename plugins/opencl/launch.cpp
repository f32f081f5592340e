#include "plugins/opencl/launch.hpp"

namespace tessera::gpu::opencl {

void argument_list::set(std::size_t size, const void* value) {
  const cl_int code = cl().set_argument(m_kernel, m_index++, size, value);
  if (m_code == CL_SUCCESS) m_code = code;
}

void argument_list::add(const void* address) {
  const place at = m_device.buffers.find(address);
  add(at.buffer);
  add(at.buffer != nullptr ? static_cast<std::int64_t>(at.offset) : std::int64_t{0});
}

void argument_list::add(const matrix& value) {
  add(static_cast<const void*>(value.data));
  add(value.row_step);
  add(value.column_step);
  add(cl_int{value.conjugated});
}

std::shared_ptr<program_store> programs_of(device_state& device) {
  const std::lock_guard lock(device.mutex);
  return device.programs;
}

error_t enqueue(queue& stream, const kernel_name& which, cl_kernel native, const groups& count, std::size_t threads) {
  const std::size_t global[2] = {count.x * threads, count.y}, local[2] = {threads, 1};
  return stream.enqueue(which.name, [&](cl_event* event) {
    return cl().enqueue_kernel(stream.native(), native, 2, nullptr, global, local, 0, nullptr, event);
  });
}

}  // namespace tessera::gpu::opencl
