#include "plugins/gpu_common/libraries/workspace_sizes.hpp"

namespace tessera::gpu {

workspace_sizes::~workspace_sizes() {
  m_dense.reset();
  m_sparse.reset();
  if (m_stream) destroy_stream(*m_stream);
}

bool workspace_sizes::begin() {
  if (m_stream) return true;
  stream_t made{};
  if (kind_of(create_stream(&made)) != error_kind::none) {
    clear_error();
    return false;
  }
  m_stream = made;
  m_dense.emplace();
  m_sparse.emplace();
  return true;
}

std::uint64_t workspace_sizes::of(const dense_library& library, const kit::potrf_call& call) {
  const std::array<std::int64_t, 4> shape{call.type, call.triangle, call.n, call.lda};
  const std::lock_guard lock(m_mutex);
  if (const auto known = m_potrf.find(shape); known != m_potrf.end()) return known->second;
  if (!begin()) return 0;
  return m_potrf[shape] = library.workspace(call, *m_dense, *m_stream);
}

std::uint64_t workspace_sizes::of(const sparse_library& library, const library_product& product) {
  const std::lock_guard lock(m_mutex);
  return begin() ? library.workspace(product, *m_sparse, *m_stream) : 0;
}

}  // namespace tessera::gpu
