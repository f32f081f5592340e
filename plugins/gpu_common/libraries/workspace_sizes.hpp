#pragma once
// What vendors' libraries want for scratch memory.
#include <array>
#include <map>
#include <mutex>
#include <optional>

#include "plugins/gpu_common/api/runtime.hpp"
#include "plugins/gpu_common/libraries/dense.hpp"
#include "plugins/gpu_common/libraries/sparse.hpp"
#include "plugins/kit/kernels/sparse_call.hpp"

namespace tessera::gpu {

/// Asks the libraries once per shape, with handles of its own on a stream of its own, so that nobody's stream is
/// touched. One for each device, which is the thread's current one. Thread-safe.
class workspace_sizes {
 public:
  workspace_sizes() = default;
  ~workspace_sizes();
  workspace_sizes(const workspace_sizes&) = delete;
  workspace_sizes& operator=(const workspace_sizes&) = delete;

  /// Bytes that this call wants beyond its operands, whose addresses are not looked at; 0 where the library finds its
  /// own or is not used.
  std::uint64_t of(const dense_library& library, const kit::potrf_call& call);
  std::uint64_t of(const sparse_library& library, const library_product& product);

 private:
  bool begin();  ///< false: there is no stream to ask with

  std::mutex m_mutex;
  std::optional<stream_t> m_stream;
  std::optional<dense_handles> m_dense;
  std::optional<sparse_handles> m_sparse;
  std::map<std::array<std::int64_t, 4>, std::uint64_t> m_potrf;
};

}  // namespace tessera::gpu
