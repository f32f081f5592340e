#pragma once
// Operations as tasks: passes over the rows, and operations on small matrices in between.
#include <cstdint>
#include <memory>
#include <vector>

#include "libraries/sparse/program/operation.hpp"
#include "libraries/sparse/program/panel_pass.hpp"
#include "libraries/sparse/program/work.hpp"

namespace tessera::sparse {

/// The tasks of a list of operations. Keeps the operations; must outlive the tasks that it submits.
class task_graph {
 public:
  task_graph(const graph_shape& shape, std::vector<operation> operations);
  task_graph(const task_graph&) = delete;
  task_graph& operator=(const task_graph&) = delete;

  /// All tasks, in an order that is right; also under runtime::record. Where devices take part and what leaves a full
  /// memory is chosen by past uses (lru, fifo), every second pass goes over the panels backwards: what the last one
  /// used most recently, and is still there, is used first. With next uses known, forwards is better (decision 0089).
  void submit();
  std::int64_t passes() const noexcept;                         ///< over the rows
  std::int64_t tasks() const noexcept;                          ///< of one submission; functions count as one
  const counted_work& work() const noexcept { return m_work; }  ///< of one submission

 private:
  void submit_small(const operation& o);
  void submit_tasks(const operation& o);
  runtime& m_runtime;
  const bool m_turns;  // every second pass is backwards
  std::vector<operation> m_operations;
  counted_work m_work;
  std::vector<std::vector<std::size_t>> m_small;      // per pass: small operations in front of it
  std::vector<std::unique_ptr<panel_pass>> m_passes;  // null where no operation goes over the rows
};

}  // namespace tessera::sparse
