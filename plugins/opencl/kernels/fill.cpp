// Fills with a pattern.
#include <cstring>

#include "plugins/opencl/launch.hpp"

namespace tessera::gpu {

using namespace opencl;

error_t fill_pattern(void* to, const void* pattern, std::uint32_t pattern_bytes, std::int64_t count, stream_t stream) {
  if (count <= 0) return {};
  const place at = stream->device().buffers.find(to);
  const auto bytes = static_cast<std::size_t>(count) * pattern_bytes;
  if (at.offset % pattern_bytes == 0) {
    return stream->enqueue("clEnqueueFillBuffer", [&](cl_event* event) {
      return cl().enqueue_fill(stream->native(), at.buffer, pattern, pattern_bytes, at.offset, bytes, 0, nullptr,
                               event);
    });
  }
  std::uint64_t words[2] = {};
  std::memcpy(words, pattern, pattern_bytes);
  constexpr std::size_t threads = 256;
  return launch(stream, {"fill", element::none, "fill_bytes"}, {groups_for(static_cast<std::int64_t>(bytes), threads)},
                threads, static_cast<const void*>(to), bytes_of{&words[0], 8}, bytes_of{&words[1], 8}, pattern_bytes,
                static_cast<std::int64_t>(bytes));
}

error_t fill_bytes(void* to, int value, std::size_t bytes, stream_t stream) {
  const auto byte = static_cast<unsigned char>(value);
  return fill_pattern(to, &byte, 1, static_cast<std::int64_t>(bytes), stream);
}

}  // namespace tessera::gpu
