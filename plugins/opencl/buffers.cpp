#include "plugins/opencl/buffers.hpp"

#include <sys/mman.h>

#include <cstring>
#include <mutex>

namespace tessera::gpu::opencl {
namespace {

/// One byte more than the buffer has, so that the end of one is never the beginning of the next.
std::size_t reserved(std::size_t bytes) { return bytes + 1; }

}  // namespace

error_t buffer_map::create(cl_context context, std::size_t bytes, void** out) {
  if (bytes + 1 == 0) return {CL_INVALID_BUFFER_SIZE, "clCreateBuffer"};
  cl_int code = CL_SUCCESS;
  const cl_mem buffer = cl().create_buffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &code);
  if (code != CL_SUCCESS) return {code, "clCreateBuffer of " + std::to_string(bytes) + " bytes"};
  void* const begin = ::mmap(nullptr, reserved(bytes), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) {
    cl().release_buffer(buffer);
    return {CL_OUT_OF_HOST_MEMORY, "reserving " + std::to_string(bytes) + " addresses"};
  }
  const std::unique_lock lock(m_mutex);
  m_entries.emplace(reinterpret_cast<std::uintptr_t>(begin), entry{bytes, buffer});
  *out = begin;
  return {};
}

error_t buffer_map::release(void* begin) {
  entry gone{};
  {
    const std::unique_lock lock(m_mutex);
    const auto found = m_entries.find(reinterpret_cast<std::uintptr_t>(begin));
    if (found == m_entries.end()) return {};  // it went with its context
    gone = found->second;
    m_entries.erase(found);
  }
  ::munmap(begin, reserved(gone.bytes));
  return result_of(cl().release_buffer(gone.buffer), "clReleaseMemObject");
}

place buffer_map::find(const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::shared_lock lock(m_mutex);
  auto after = m_entries.upper_bound(at);
  if (after == m_entries.begin()) return {nullptr, at};
  --after;
  const std::size_t offset = at - after->first;
  return offset <= after->second.bytes ? place{after->second.buffer, offset} : place{nullptr, at};
}

void buffer_map::clear() {
  const std::unique_lock lock(m_mutex);
  for (const auto& [begin, one] : m_entries) {
    ::munmap(reinterpret_cast<void*>(begin), reserved(one.bytes));
    cl().release_buffer(one.buffer);
  }
  m_entries.clear();
}

}  // namespace tessera::gpu::opencl
