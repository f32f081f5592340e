#pragma once
// What is built for a sparse matrix when its handle is made: the transposed structure for our kernels, and for the
// vendor's library the rows' starts in 32 bits.
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "plugins/gpu_common/abi/handles.hpp"
#include "plugins/kit/kernels/sparse_call.hpp"

namespace tessera::gpu {

/// A stream for a while: what uses host memory of ours is over before that goes.
class scoped_stream {
 public:
  scoped_stream() : m_error(create_stream(&m_native)) {}
  ~scoped_stream() {
    if (kind_of(m_error) != error_kind::none) return;
    synchronize_stream(m_native);
    destroy_stream(m_native);
  }
  scoped_stream(const scoped_stream&) = delete;
  scoped_stream& operator=(const scoped_stream&) = delete;

  const error_t& made() const noexcept { return m_error; }
  stream_t native() const noexcept { return m_native; }

 private:
  stream_t m_native{};
  const error_t m_error;
};

/// Device memory of our own that counts as the caller's.
class counted_memory {
 public:
  explicit counted_memory(tsr_device& device) : m_device(device) {}
  ~counted_memory();
  counted_memory(const counted_memory&) = delete;
  counted_memory& operator=(const counted_memory&) = delete;

  /// RESOURCE_EXHAUSTED, with a record that begins with `what`, when there is no room.
  tsr_status allocate(const char* what, std::uint64_t bytes);
  /// False where there is no room; no record.
  bool try_allocate(std::uint64_t bytes);
  char* data() const noexcept { return static_cast<char*>(m_memory); }

 private:
  error_t take(std::uint64_t bytes);
  tsr_device& m_device;
  std::uint64_t m_bytes = 0;
  void* m_memory = nullptr;
};

/// The matrix as the host has read it.
struct host_structure {
  std::vector<std::int64_t> starts;
  std::vector<std::int32_t> columns;
};

struct matrix_index {
  explicit matrix_index(tsr_device& device) : transposed(device), library(device) {}
  counted_memory transposed, library;
  const std::int64_t *starts = nullptr,
                     *order = nullptr;  ///< of columns; where a tile's values are. Null: never transposed
  const std::int32_t* rows = nullptr;
  const std::int32_t* library_starts = nullptr;  ///< null: products are not the library's
  mutable std::mutex mutex;
  mutable std::map<std::int64_t, std::uint64_t>
      workspaces;  ///< bytes that the library wants, by the columns of X; under the mutex
};

/// Builds what the matrix wants. Fails as create_csr does; without room for what the library wants, that is left out.
tsr_status build_index(tsr_device& device, const kit::csr_matrix& matrix, const host_structure& host,
                       const scoped_stream& stream, matrix_index& out);

}  // namespace tessera::gpu
