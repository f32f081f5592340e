#pragma once
// Buffers of one device, by the addresses that stand for them.
#include <cstddef>
#include <cstdint>
#include <map>
#include <shared_mutex>

#include "plugins/opencl/errors.hpp"

namespace tessera::gpu::opencl {

/// A place in a buffer. Without a buffer: `offset` is an address of the host's.
struct place {
  cl_mem buffer = nullptr;
  std::size_t offset = 0;
};

/// Which addresses are which buffer's. Thread-safe.
class buffer_map {
 public:
  /// Makes a buffer and reserves addresses for it.
  error_t create(cl_context context, std::size_t bytes, void** out);
  /// Commands that use it still run to their end.
  error_t release(void* begin);
  /// Where an address lies; one past the end of a buffer is still in it.
  place find(const void* address) const;
  /// Releases all: the context goes.
  void clear();

 private:
  struct entry {
    std::size_t bytes;
    cl_mem buffer;
  };
  mutable std::shared_mutex m_mutex;
  std::map<std::uintptr_t, entry> m_entries;  // by the first address
};

}  // namespace tessera::gpu::opencl
