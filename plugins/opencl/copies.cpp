// Copies between buffers and host memory.
#include "plugins/opencl/queue.hpp"

namespace tessera::gpu {
namespace {

using namespace opencl;

/// Both sides of a copy. One of them may be the host's.
struct ends {
  place to, from;
  ends(const queue& stream, const void* destination, const void* source)
      : to(stream.device().buffers.find(destination)), from(stream.device().buffers.find(source)) {}
};

void* host(const place& at) { return reinterpret_cast<void*>(at.offset); }

error_t of_the_host_alone() { return {CL_INVALID_VALUE, "a copy within host memory"}; }

}  // namespace

error_t copy(void* to, const void* from, std::size_t bytes, stream_t stream) {
  const ends at(*stream, to, from);
  const cl_command_queue native = stream->native();
  if (at.to.buffer != nullptr && at.from.buffer != nullptr) {
    return stream->enqueue("clEnqueueCopyBuffer", [&](cl_event* event) {
      return cl().enqueue_copy(native, at.from.buffer, at.to.buffer, at.from.offset, at.to.offset, bytes, 0, nullptr,
                               event);
    });
  }
  if (at.to.buffer != nullptr) {
    return stream->enqueue("clEnqueueWriteBuffer", [&](cl_event* event) {
      return cl().enqueue_write(native, at.to.buffer, CL_FALSE, at.to.offset, bytes, from, 0, nullptr, event);
    });
  }
  if (at.from.buffer == nullptr) return of_the_host_alone();
  return stream->enqueue("clEnqueueReadBuffer", [&](cl_event* event) {
    return cl().enqueue_read(native, at.from.buffer, CL_FALSE, at.from.offset, bytes, to, 0, nullptr, event);
  });
}

error_t copy_2d(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t bytes,
                std::size_t rows, stream_t stream) {
  return copy_3d(to, to_pitch, rows, from, from_pitch, rows, bytes, rows, 1, stream);
}

error_t copy_3d(void* to, std::size_t to_pitch, std::size_t to_rows, const void* from, std::size_t from_pitch,
                std::size_t from_rows, std::size_t bytes, std::size_t rows, std::size_t planes, stream_t stream) {
  const ends at(*stream, to, from);
  const cl_command_queue native = stream->native();
  const std::size_t region[3] = {bytes, rows, planes}, none[3] = {0, 0, 0};
  const std::size_t to_origin[3] = {at.to.offset, 0, 0}, from_origin[3] = {at.from.offset, 0, 0};
  const std::size_t to_plane = to_pitch * to_rows, from_plane = from_pitch * from_rows;
  if (at.to.buffer != nullptr && at.from.buffer != nullptr) {
    return stream->enqueue("clEnqueueCopyBufferRect", [&](cl_event* event) {
      return cl().enqueue_copy_rect(native, at.from.buffer, at.to.buffer, from_origin, to_origin, region, from_pitch,
                                    from_plane, to_pitch, to_plane, 0, nullptr, event);
    });
  }
  if (at.to.buffer != nullptr) {
    return stream->enqueue("clEnqueueWriteBufferRect", [&](cl_event* event) {
      return cl().enqueue_write_rect(native, at.to.buffer, CL_FALSE, to_origin, none, region, to_pitch, to_plane,
                                     from_pitch, from_plane, host(at.from), 0, nullptr, event);
    });
  }
  if (at.from.buffer == nullptr) return of_the_host_alone();
  return stream->enqueue("clEnqueueReadBufferRect", [&](cl_event* event) {
    return cl().enqueue_read_rect(native, at.from.buffer, CL_FALSE, from_origin, none, region, from_pitch, from_plane,
                                  to_pitch, to_plane, host(at.to), 0, nullptr, event);
  });
}

}  // namespace tessera::gpu
