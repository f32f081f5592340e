#include "plugins/gpu_common/libraries/dense.hpp"

#include <algorithm>
#include <cstddef>

#include "plugins/gpu_common/libraries/dense_functions.hpp"

namespace tessera::gpu {
namespace {

/// Below so many operations a product of its own costs more than a place in a batch of ours.
constexpr double worth_a_call = 2.0 * 128 * 128 * 128;

}  // namespace

dense_library::dense_library(const dense_dialect& dialect, const library_search& where)
    : m_dialect(dialect), m_blas(dialect.blas.files, where) {
  if (m_blas) m_solver = shared_library(dialect.solver.files, where);
  const auto note = [&](const dense_dialect::part& part, const shared_library& library) {
    std::string& list = library ? m_found : m_lost;
    if (!list.empty()) list += library ? ", " : "; ";
    list += std::string(part.title) + (library ? " (" + library.name() + ")" : " (" + library.complaint() + ")");
  };
  note(dialect.blas, m_blas);
  if (m_blas) note(dialect.solver, m_solver);
  m_gemm = functions_of(m_blas, dialect.gemm);
  m_gemm_strided = functions_of(m_blas, dialect.gemm_strided);
  m_syrk = functions_of(m_blas, dialect.syrk);
  m_trsm = functions_of(m_blas, dialect.trsm);
  m_potrf = functions_of(m_solver, dialect.potrf);
  if (dialect.potrf_size != nullptr) m_potrf_size = functions_of(m_solver, dialect.potrf_size);
}

dense_library::by_type dense_library::functions_of(const shared_library& library, const char* name) const {
  by_type all{};
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::string full = name;
    std::replace(full.begin(), full.end(), '?', m_dialect.letters[i]);
    all[i] = library.symbol(full);
  }
  return all;
}

void* dense_library::blas(dense_handles& handles, stream_t stream) const {
  if (!m_blas) return nullptr;
  return handles.m_blas.made(m_blas, m_dialect.create, m_dialect.destroy, m_dialect.set_stream, stream);
}

void* dense_library::solver(dense_handles& handles, stream_t stream) const {
  if (!m_solver) return nullptr;
  if (m_dialect.solver_create == nullptr) return blas(handles, stream);
  return handles.m_solver.made(m_solver, m_dialect.solver_create, m_dialect.solver_destroy, m_dialect.solver_set_stream,
                               stream);
}

void dense_library::prepare(dense_handles& handles, stream_t stream) const {
  blas(handles, stream);
  solver(handles, stream);
}

dense_library::answer dense_library::run(const kit::gemm_call& call, dense_handles& handles, stream_t stream) const {
  if (call.m == 0 || call.n == 0 || call.k == 0 || call.batch == 0) return std::nullopt;
  const auto place = place_of(call.type);
  const int ta = m_dialect.transposes[call.transpose_a], tb = m_dialect.transposes[call.transpose_b];
  if (call.batch == 1 || !call.pointers.empty()) {
    const auto gemm = reinterpret_cast<gemm_function>(m_gemm[place]);
    // The libraries want the pointers of a batch in device memory; large products go one by one instead, small ones to
    // our kernel.
    if (gemm == nullptr || (!call.pointers.empty() && 2.0 * call.m * call.n * call.k < worth_a_call))
      return std::nullopt;
    void* const handle = blas(handles, stream);
    if (handle == nullptr) return std::nullopt;
    const auto one = [&](void* a, void* b, void* c) {
      return gemm(handle, ta, tb, call.m, call.n, call.k, call.alpha.bytes, a, call.lda, b, call.ldb, call.beta.bytes,
                  c, call.ldc);
    };
    if (call.pointers.empty()) return one(call.a, call.b, call.c);
    for (const auto& at : call.pointers)
      if (const int wrong = one(at.a, at.b, at.c)) return wrong;
    return 0;
  }
  const auto gemm = reinterpret_cast<gemm_strided_function>(m_gemm_strided[place]);
  const auto bytes = static_cast<std::int64_t>(kit::element_bytes(call.type));
  for (const auto stride : {call.stride_a, call.stride_b, call.stride_c})
    if (stride < 0 || stride % bytes != 0) return std::nullopt;
  if (gemm == nullptr || call.batch > 65535) return std::nullopt;
  void* const handle = blas(handles, stream);
  if (handle == nullptr) return std::nullopt;
  return gemm(handle, ta, tb, call.m, call.n, call.k, call.alpha.bytes, call.a, call.lda, call.stride_a / bytes, call.b,
              call.ldb, call.stride_b / bytes, call.beta.bytes, call.c, call.ldc, call.stride_c / bytes,
              static_cast<int>(call.batch));
}

dense_library::answer dense_library::run(const kit::syrk_call& call, dense_handles& handles, stream_t stream) const {
  const auto syrk = reinterpret_cast<syrk_function>(m_syrk[place_of(call.type)]);
  if (syrk == nullptr || call.n == 0 || call.k == 0) return std::nullopt;
  void* const handle = blas(handles, stream);
  if (handle == nullptr) return std::nullopt;
  const int transpose = m_dialect.transposes[call.transpose == TSR_NO_TRANSPOSE ? TSR_NO_TRANSPOSE : TSR_TRANSPOSE];
  return syrk(handle, m_dialect.triangles[call.triangle], transpose, call.n, call.k, call.alpha.bytes, call.a, call.lda,
              call.beta.bytes, call.c, call.ldc);
}

dense_library::answer dense_library::run(const kit::trsm_call& call, dense_handles& handles, stream_t stream) const {
  const auto trsm = reinterpret_cast<trsm_function>(m_trsm[place_of(call.type)]);
  if (trsm == nullptr || call.m == 0 || call.n == 0) return std::nullopt;
  void* const handle = blas(handles, stream);
  if (handle == nullptr) return std::nullopt;
  return trsm(handle, m_dialect.sides[call.side], m_dialect.triangles[call.triangle],
              m_dialect.transposes[call.transpose], m_dialect.diagonals[call.unit_diagonal ? 1 : 0], call.m, call.n,
              call.alpha.bytes, call.a, call.lda, call.b, call.ldb);
}

std::uint64_t dense_library::workspace(const kit::potrf_call& call, dense_handles& handles, stream_t stream) const {
  const auto place = place_of(call.type);
  if (m_potrf[place] == nullptr || m_dialect.potrf_size == nullptr || m_potrf_size[place] == nullptr || call.n == 0)
    return 0;
  void* const handle = solver(handles, stream);
  const auto size_of = reinterpret_cast<potrf_size_function>(m_potrf_size[place]);
  int elements = 0;
  if (handle == nullptr ||
      size_of(handle, m_dialect.triangles[call.triangle], call.n, call.a, call.lda, &elements) != 0)
    return 0;
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(elements), 1) * kit::element_bytes(call.type);
}

dense_library::answer dense_library::run(const kit::potrf_call& call, const scratch_given& scratch, bool recording,
                                         dense_handles& handles, stream_t stream) const {
  const auto place = place_of(call.type);
  if (m_potrf[place] == nullptr || call.n == 0) return std::nullopt;
  void* const handle = solver(handles, stream);
  if (handle == nullptr) return std::nullopt;
  const int triangle = m_dialect.triangles[call.triangle];
  if (m_dialect.potrf_size == nullptr) {
    if (recording) return std::nullopt;  // it takes memory by itself
    return reinterpret_cast<potrf_function>(m_potrf[place])(handle, triangle, call.n, call.a, call.lda, call.info);
  }
  const std::uint64_t bytes = workspace(call, handles, stream);
  if (bytes == 0) return std::nullopt;
  const auto factor = [&](void* memory) {
    const auto elements = static_cast<int>(bytes / kit::element_bytes(call.type));
    return reinterpret_cast<potrf_with_workspace>(m_potrf[place])(handle, triangle, call.n, call.a, call.lda, memory,
                                                                  elements, call.info);
  };
  if (scratch.memory != nullptr && scratch.bytes >= bytes) return factor(scratch.memory);
  void* own = nullptr;
  if (recording) return std::nullopt;
  if (kind_of(allocate_in_order(&own, bytes, stream)) != error_kind::none) {
    clear_error();
    return std::nullopt;
  }
  const int wrong = factor(own);
  release_in_order(own, stream);
  return wrong;
}

}  // namespace tessera::gpu
