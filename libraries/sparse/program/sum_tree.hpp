#pragma once
// Sums over all rows: partial sums of the panels, added up in a tree that is the same everywhere.
#include <cstdint>
#include <vector>

#include "libraries/sparse/program/device_kernels.hpp"
#include "libraries/sparse/program/operation.hpp"

namespace tessera::sparse {

/// Where the sums of a reduction are among a panel's partial sums, and where they go.
struct reduced {
  std::int64_t begin, size;
  small_data* to;
  bool root;    ///< sums of squares become norms
  bool mirror;  ///< the upper triangle counts: a vector's products with itself
};

/// The reductions of a pass. The tasks add 16 partial sums at a time, in the order of the panels; on a device they do
/// so in the same order. Outlives its tasks.
class sum_tree {
 public:
  /// @param size  of the partial sums of a panel
  sum_tree(runtime& rt, std::int64_t panels, std::int64_t size, std::vector<reduced> reductions);
  sum_tree(const sum_tree&) = delete;
  sum_tree& operator=(const sum_tree&) = delete;

  /// The block of a panel's partial sums, for the task that makes them.
  block_access partial(std::int64_t panel) const { return write(m_levels[0].block(static_cast<std::size_t>(panel))); }
  /// The tasks, behind those of all panels. They run at or below `location` if they can.
  void submit(runtime& rt, std::uint32_t location) const;
  std::int64_t tasks() const noexcept;  ///< of one submission

 private:
  struct launches;
  static const op::definition& sum_operation(runtime& rt);
  static const op::definition& finish_operation(runtime& rt);
  std::size_t parts() const noexcept { return m_levels.back().size(); }  ///< that the last task adds up

  const op::definition& m_sum;
  const op::definition& m_finish;
  std::vector<reduced> m_reductions;
  std::vector<array<double>> m_levels;  // partial sums of the panels, then of 16 of those each, ...
};

}  // namespace tessera::sparse
