#pragma once
// Operations as tasks: one per panel and pass, and a tree of sums for what is reduced.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "apps/sparse/matrix/row_panels.hpp"
#include "apps/sparse/program/operation.hpp"

namespace tessera::sparse {

/// What of a matrix its multiplications need: made once per matrix and program.
struct matrix_panels {
  const csr_matrix* matrix;
  std::vector<std::vector<std::int32_t>> touched;  ///< per panel of rows, panels of columns, ascending
};

/// How a graph is cut. All of it outlives the graph.
struct graph_shape {
  runtime& rt;
  const row_panels& panels;
  std::int64_t strip_rows;                  ///< 0: what fits the cache
  std::span<const matrix_panels> matrices;  ///< those that the operations use
};

/// The tasks of a list of operations. Keeps the operations; must outlive the tasks that it submits.
class task_graph {
 public:
  task_graph(const graph_shape& shape, std::vector<operation> operations);
  ~task_graph();
  task_graph(const task_graph&) = delete;
  task_graph& operator=(const task_graph&) = delete;

  void submit();                         ///< all tasks, in an order that is right; also under runtime::record
  std::int64_t passes() const noexcept;  ///< over the rows
  std::int64_t tasks() const noexcept;   ///< of one submission
  const work_count& work() const noexcept { return m_work; }  ///< of one submission

 private:
  struct stage;
  void make_stage(const graph_shape& shape, std::span<const std::size_t> members);
  void submit_small(const operation& o);
  runtime& m_runtime;
  std::vector<operation> m_operations;
  work_count m_work;
  std::vector<std::vector<std::size_t>> m_small;  ///< per pass: small operations in front of it
  std::vector<std::unique_ptr<stage>> m_stages;   ///< one per pass; null where no operation goes over the rows
};

}  // namespace tessera::sparse
