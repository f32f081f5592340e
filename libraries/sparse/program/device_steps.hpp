#pragma once
// What a device's task does with the rows of its panel: a launch or a few for each operation of a pass.
#include <cstdint>
#include <span>
#include <vector>

#include "libraries/sparse/program/device_kernels.hpp"
#include "libraries/sparse/program/strip_steps.hpp"

namespace tessera::sparse {

/// What a multiplication reads on a device: blocks by their places among the task's.
struct device_source {
  /// Rows of the vector.
  struct piece {
    std::size_t block;
    std::int64_t begin, end;
  };
  std::size_t starts = 0, columns = 0, values = 0;  ///< of the matrix; the last two are not used without entries
  std::int64_t entries = 0;
  std::vector<piece> pieces = {};  ///< ascending
};

/// A panel of a pass for devices. Blocks are named by their places among the task's: block vectors are first, then
/// small matrices, then the partial sums, if there are any.
struct device_panel {
  std::int64_t rows = 0;
  std::vector<device_source> sources = {};  ///< of the multiplications, in their order
  std::vector<std::size_t> diagonals = {};  ///< blocks of the diagonals, in the order of their steps
};

/// The steps of a pass, and how they are launched.
class device_steps {
 public:
  /// @param columns  of the block vectors  @param small  how many small matrices are read  @param partial_size  of a
  /// panel's sums. The steps outlive it.
  device_steps(const std::vector<strip_step>& steps, std::vector<std::int64_t> columns, std::size_t small,
               std::int64_t partial_size);
  /// Columns that the kernels are compiled for: those of the widest block vectors, where these are a multiple of 4, so
  /// that there are not many kernels; else 1.
  std::int64_t width() const noexcept;
  /// Bytes of workspace that a panel needs.
  std::uint64_t workspace(std::int64_t rows) const noexcept;
  /// Enqueues a panel's work.
  void launch(const device_panel& panel, const op::context& c, op::kernel_sequence& to) const;

 private:
  class launcher;
  bool goes_by_rows(const strip_step& s) const noexcept;  // of combinations: without workspace
  std::uint64_t bytes_of_slices(std::int64_t count) const noexcept;
  std::uint64_t slice_bytes(std::int64_t rows) const noexcept;  // of the workspace: sums of slices of the rows
  /// Rows of a combination that are kept in the workspace at a time: so many that it is no larger than a panel of a
  /// vector, whose room in a full memory it can have.
  std::int64_t rows_kept(std::int64_t rows) const noexcept;
  const std::vector<strip_step>& m_steps;
  std::vector<std::int64_t> m_columns;
  std::size_t m_small;
  std::int64_t m_partial_size;
  std::int64_t m_kept_columns = 0;  // of the largest combination's destinations that are read too
  std::int64_t m_widest = 1;        // columns of a block vector
};

}  // namespace tessera::sparse
