#pragma once
// A vendor's dense linear algebra: matrix products, triangular systems, Cholesky factors by cuBLAS and cuSOLVER or
// rocBLAS and rocSOLVER, where they are found. What they are not asked for, or do not have, is done by the kernels of
// this folder.
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "plugins/gpu_common/api/runtime.hpp"
#include "plugins/gpu_common/libraries/library_handle.hpp"
#include "plugins/gpu_common/libraries/shared_library.hpp"
#include "plugins/kit/kernels/blas_call.hpp"

namespace tessera::gpu {

/// How a vendor's functions are called. They take the same arguments in the same order with every vendor; what differs
/// is names, and the numbers of choices. In names a '?' stands for the letter of the element type.
struct dense_dialect {
  struct part {
    const char* title;               ///< "cuBLAS"
    std::vector<std::string> files;  ///< newest first
  };
  part blas, solver;
  const char* letters;  ///< of F32, F64, C64, C128
  const char *create, *destroy, *set_stream, *gemm, *gemm_strided, *syrk, *trsm;
  std::array<int, 3> transposes;                                   ///< by tsr_transpose
  std::array<int, 2> triangles, sides, diagonals;                  ///< by tsr_triangle, by tsr_side; not unit, unit
  const char *solver_create, *solver_destroy, *solver_set_stream;  ///< null: the BLAS's handle serves
  const char *potrf, *potrf_size;  ///< the size, in elements, of its workspace; null: it finds its own
};
extern const dense_dialect nvidia_dense, amd_dense;

/// The libraries' handles of one stream.
class dense_handles {
  friend class dense_library;
  library_handle m_blas, m_solver;
};

/// Scratch memory that a caller has given.
struct scratch_given {
  void* memory = nullptr;  ///< the device's; null: none
  std::uint64_t bytes = 0;
};

/// The libraries of one process. Thread-safe but for the handles.
class dense_library {
 public:
  /// Loads them.
  dense_library(const dense_dialect& dialect, const library_search& where);

  /// "cuBLAS (libcublas.so.13), cuSOLVER (libcusolver.so.12)".
  const std::string& found() const noexcept { return m_found; }
  /// What is lost because it was not found, and why; "" if nothing.
  const std::string& lost() const noexcept { return m_lost; }

  /// Enqueue a call: 0, or the library's number of what went wrong. Nothing if the call is not the library's (it is not
  /// there, lacks the function, or is worse at it): nothing was enqueued, and the own kernels do it.
  using answer = std::optional<int>;
  answer run(const kit::gemm_call& call, dense_handles& handles, stream_t stream) const;
  answer run(const kit::syrk_call& call, dense_handles& handles, stream_t stream) const;
  answer run(const kit::trsm_call& call, dense_handles& handles, stream_t stream) const;
  /// With the caller's scratch memory where that is enough, else with some that is taken and given back in the stream's
  /// order, which is not done while work is recorded.
  answer run(const kit::potrf_call& call, const scratch_given& scratch, bool recording, dense_handles& handles,
             stream_t stream) const;
  /// Bytes of scratch memory that this wants; 0: the library finds its own, or does not do the call. Operands are not
  /// looked at.
  std::uint64_t workspace(const kit::potrf_call& call, dense_handles& handles, stream_t stream) const;

  /// Makes a stream's handles now: while work is recorded they cannot be made.
  void prepare(dense_handles& handles, stream_t stream) const;

 private:
  using by_type = std::array<void*, 4>;
  by_type functions_of(const shared_library& library, const char* name) const;
  void* blas(dense_handles& handles, stream_t stream) const;
  void* solver(dense_handles& handles, stream_t stream) const;

  const dense_dialect& m_dialect;
  shared_library m_blas, m_solver;
  std::string m_found, m_lost;
  by_type m_gemm{}, m_gemm_strided{}, m_syrk{}, m_trsm{}, m_potrf{}, m_potrf_size{};
};

}  // namespace tessera::gpu
