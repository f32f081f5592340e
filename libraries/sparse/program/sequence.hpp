#pragma once
// Operations as graphs of tasks, with calls by the program's thread between them.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "libraries/sparse/program/task_graph.hpp"
#include "tessera/tessera.hpp"

namespace tessera::sparse {

/// A list of operations in parts that each end with a call, or with the list. Most have one part and no call. Must
/// outlive the tasks that it submits.
class operation_sequence {
 public:
  operation_sequence(program_state& p, std::vector<operation> operations);
  ~operation_sequence();
  operation_sequence(const operation_sequence&) = delete;
  operation_sequence& operator=(const operation_sequence&) = delete;

  /// All tasks; waits where there is a call, for what it reads.
  void submit();
  /// Takes down the tasks of each part, for `replay`.
  void record();
  /// The same as submit by what was taken down.
  void replay();
  bool has_calls() const noexcept;
  /// What was taken down where there is no call.
  recording& whole() { return *m_parts.front().taken; }

  std::int64_t passes() const noexcept;                         ///< over the rows
  std::int64_t tasks() const noexcept;                          ///< of one replay, behind `record`
  const counted_work& work() const noexcept { return m_work; }  ///< of one submission

 private:
  struct part {
    std::unique_ptr<task_graph> graph;  // null: no operation
    std::optional<recording> taken;
    std::optional<operation> call;
    std::vector<double> x, y;  // of the call
  };
  void make_call(part& of);
  program_state& m_program;
  counted_work m_work;
  std::vector<part> m_parts;
};

}  // namespace tessera::sparse
