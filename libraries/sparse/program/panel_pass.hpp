#pragma once
// One pass over the rows: a task per panel, which does all operations of the pass with it, and the sums of the panels.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "libraries/sparse/matrix/row_panels.hpp"
#include "libraries/sparse/program/device_data.hpp"
#include "libraries/sparse/program/device_steps.hpp"
#include "libraries/sparse/program/operation.hpp"
#include "libraries/sparse/program/strip_steps.hpp"
#include "libraries/sparse/program/sum_tree.hpp"

namespace tessera::sparse {

/// What of a matrix, or of an operator in its place, its multiplications need: made once for each in a program.
struct matrix_panels {
  const csr_matrix* matrix;
  const row_function* rows;
  std::vector<std::vector<std::int32_t>> touched;  ///< per panel of rows, panels of columns, ascending
};

/// How a graph is cut, and where it runs. All of it outlives the graph.
struct graph_shape {
  runtime& rt;
  const row_panels& panels;
  std::int64_t strip_rows;                  ///< 0: what fits the cache
  std::span<const matrix_panels> matrices;  ///< those that the operations use
  device_data* on_devices = nullptr;        ///< what devices read; null: no device takes part
  std::uint32_t location = anywhere;        ///< tasks over the rows run at or below it, if they can
};

/// Its tasks are those of one operation, which has a function for the host and kernels for devices. Outlives them.
class panel_pass {
 public:
  /// @param members  operations over the rows, in their order; kept by the caller
  panel_pass(const graph_shape& shape, std::span<const operation* const> members);

  /// All tasks; backwards: the last panel first. Results do not depend on it.
  void submit(runtime& rt, bool backwards) const;
  std::int64_t tasks() const noexcept;  ///< of one submission

 private:
  /// A multiplication's source and the blocks of it that each panel's task has.
  struct multiplied_vector {
    vector_data* vector;
    std::vector<std::vector<std::size_t>> blocks;   ///< per panel: places among the task's blocks, ascending rows
    std::vector<std::vector<std::int32_t>> panels;  ///< per panel: which panels these are
  };
  struct argument;
  class block_list;
  static const op::definition& panel_operation(runtime& rt, std::int64_t width);
  static const op::definition& host_operation(runtime& rt);
  void make_steps(const graph_shape& shape, std::span<const operation* const> members);
  void make_uses(const graph_shape& shape, std::size_t panel, std::span<const intent> how);
  void add_device_data(device_data& data, std::size_t panel, block_list& to);
  void run_panel(std::size_t panel, std::span<const op::operand> blocks) const;

  const row_panels& m_panels;
  const op::definition* m_operation = nullptr;
  std::uint32_t m_location;
  std::int64_t m_strip_rows = 0;
  std::vector<strip_step> m_steps;
  std::vector<vector_data*> m_vectors;
  std::vector<small_data*> m_small;  // that are read
  std::vector<multiplied_vector> m_sources;
  std::int64_t m_partial_size = 0;
  std::unique_ptr<sum_tree> m_sums;               // null: there are no reductions
  std::vector<std::vector<block_access>> m_uses;  // per panel: vectors, small matrices, partial sums, what else is read
  std::optional<device_steps> m_device_steps;
  std::vector<device_panel> m_device_panels;  // where devices take part
};

}  // namespace tessera::sparse
