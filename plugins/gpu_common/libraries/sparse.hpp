#pragma once
// A vendor's sparse linear algebra: products of a sparse matrix with a vector or a dense matrix by cuSPARSE or
// rocSPARSE, where they are found. What they are not asked for is done by the kernels of this folder.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plugins/gpu_common/api/runtime.hpp"
#include "plugins/gpu_common/libraries/library_handle.hpp"
#include "plugins/gpu_common/libraries/shared_library.hpp"
#include "plugins/kit/kernels/sparse_call.hpp"

namespace tessera::gpu {

/// Names and numbers of a vendor's functions.
struct sparse_dialect {
  const char* title;               ///< "cuSPARSE"
  std::vector<std::string> files;  ///< newest first
  const char *create, *destroy, *set_stream;
  const char* property;  ///< asks for the version; null: the file's name says enough
  int oldest;            ///< version that is used: 1000 x major + minor; without `property` 0
  const char* sign;      ///< a function that only versions have which are used; null: none is needed
  const char *make_csr, *make_matrix, *drop_sparse, *drop_matrix;
  const char* make_bsr;  ///< null, or not in the library: it has no tiles like ours
  const char *make_vector, *drop_vector, *spmv,
      *spmv_size;  ///< of vectors with descriptors; or, with spmv_size null, `spmv` is of one
  const char *make_description,
      *drop_description;         ///<   type ('?' stands for its letter), of a matrix that these describe
  const char *spmm, *spmm_size;  ///< spmm_size null: called by stages
  const char* letters;           ///< of F32, F64, C64, C128
  std::array<int, 4> types;      ///< likewise
  int as_is, index_32, by_rows,
      by_columns;  ///< not transposed; an index of 32 bits; orders of a dense matrix, of a tile
  int spmv_algorithm, spmm_algorithm, tiles_algorithm;  ///< such that the same call gives the same bits
  int unsupported;                                      ///< the status that says that the library does not do this
};
extern const sparse_dialect nvidia_sparse, amd_sparse;

/// The library's handle of one stream.
class sparse_handles {
  friend class sparse_library;
  library_handle m_handle;
};

/// Y = alpha A X + beta Y as it is passed on. Pointers are the device's, scalars the host's.
struct library_product {
  kit::spmm_call call;
  const std::int32_t* starts;  ///< the rows' starts in 32 bits
  void* workspace;             ///< the caller's; null: none
  std::uint64_t workspace_bytes;
  bool recording;  ///< then no memory is taken
  std::uint64_t* asked =
      nullptr;  ///< not null: nothing is enqueued, and this gets the bytes of scratch memory that are wanted
};

/// The library of one process. Thread-safe but for the handles. Descriptors are made for each call: they are host
/// memory that is made in a fraction of a microsecond, hold X's and Y's addresses, and must not be shared by the
/// streams that use one matrix at once.
class sparse_library {
 public:
  /// Loads it.
  sparse_library(const sparse_dialect& dialect, const library_search& where);
  explicit operator bool() const noexcept { return m_usable; }

  const std::string& found() const noexcept {
    return m_found;
  }  ///< "cuSPARSE (libcusparse.so.12)"; "" if it cannot be used
  const std::string& lost() const noexcept { return m_lost; }  ///< why, then

  /// Why products with this matrix are not the library's, or null if they are. The arrays are what the host has read of
  /// it.
  const char* why_not(const kit::csr_matrix& matrix, const std::int64_t* row_starts,
                      const std::int32_t* column_indices) const;

  /// Enqueues a call of such a matrix: "", or what failed. Nothing if the call is not the library's after all
  /// (transposed, empty, not aligned, without memory while work is recorded): nothing was enqueued, and the own kernels
  /// do it.
  std::optional<std::string> run(const library_product& product, sparse_handles& handles, stream_t stream) const;

  /// Bytes of scratch memory that such a call wants; 0: none, or the call is not the library's. `product.call` has any
  /// pointers of the device for X and Y.
  std::uint64_t workspace(library_product product, sparse_handles& handles, stream_t stream) const;

  /// Makes a stream's handle now: while work is recorded it cannot be made.
  void prepare(sparse_handles& handles, stream_t stream) const;

 private:
  class attempt;
  std::string missing() const;

  const sparse_dialect& m_dialect;
  shared_library m_library;
  bool m_usable = false, m_has_tiles = false;
  std::string m_found, m_lost;
};

}  // namespace tessera::gpu
