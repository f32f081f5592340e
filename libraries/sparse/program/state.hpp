#pragma once
// A program's inside: its memory, and what is recorded.
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libraries/sparse/matrix/row_panels.hpp"
#include "libraries/sparse/product/form_choice.hpp"
#include "libraries/sparse/product/matrix_product.hpp"
#include "libraries/sparse/program/device_data.hpp"
#include "libraries/sparse/program/operation.hpp"
#include "libraries/sparse/program/task_graph.hpp"
#include "tessera/sparse.hpp"

namespace tessera::sparse {

class kept_values;

struct program_state {
  program_state(runtime& on, const csr_matrix& a, const program_options& how);

  std::shared_ptr<vector_data> make_vector(std::string name, std::int64_t columns);
  std::shared_ptr<small_data> make_small(std::string name, std::int64_t rows, std::int64_t columns);
  /// Checks the arrays of a matrix that the program has not multiplied by so far, as those of its own.
  void check_once(const csr_matrix& a);
  /// Runs it at once, or keeps it for later.
  void record(operation o);
  /// Runs what is kept, and waits for it, but not between the iterations of a loop. Throws tessera::error (usage)
  /// inside a loop's body, and while later iterations are under way than that which is asked about; `what` wants to
  /// know.
  void run(const std::string& what);
  /// A block that operations use which are made of others: the same for the same number and columns.
  block_vector scratch(int number, std::int64_t columns);
  std::unique_ptr<task_graph> make_graph(std::vector<operation> operations);
  /// Finds out which panels depend on each other by the matrices and operators that are new among these.
  void look_at_matrices(std::span<const operation> operations);
  /// The transposed matrix: made at the first call for it, and kept.
  const csr_matrix& transposed_of(const csr_matrix& a);
  /// The form of a matrix for products with so many vectors: chosen at the first call for them, and kept.
  const form_choice& form_of(const csr_matrix& a, std::int64_t columns);
  /// The matrix in that form: made at the first call for it, and kept.
  const matrix_product& product_of(const csr_matrix& a, std::int64_t columns);
  /// What was recorded since the last call.
  std::vector<operation> taken() { return std::exchange(recorded, {}); }

  runtime& rt;
  const csr_matrix& matrix;
  program_options options;
  std::uint32_t location = anywhere;  ///< of program_options::at
  row_panels panels;
  std::vector<const csr_matrix*> checked;  ///< well formed
  std::vector<matrix_panels> matrices;     ///< that were multiplied by so far
  std::map<const csr_matrix*, csr_matrix> transposes;
  std::map<std::pair<const csr_matrix*, std::int64_t>, form_choice> forms;  ///< by columns of the vectors
  std::map<std::pair<const csr_matrix*, matrix_form>, matrix_product> products;
  std::map<std::pair<int, std::int64_t>, block_vector> scratch_blocks;
  std::optional<device_data> on_devices;  ///< where devices take part
  std::vector<operation> recorded;
  /// Graphs that are kept between iterations for tasks that may use them. A graph of a scattered matrix may have
  /// megabytes: each panel names most others.
  static constexpr std::size_t most_under_way = 4;
  std::vector<std::unique_ptr<task_graph>> under_way;  ///< of run, until they are done
  double looked_seconds = 0;          ///< at matrices that are to be multiplied by, since the last loop began
  int applied_in_place = 0;           ///< preconditioners, one inside of the other
  counted_work done;                  ///< by all that ran so far
  const kept_values* seen = nullptr;  ///< of the iteration that a condition which lags is asked about
  bool between_iterations = false;
};

/// One operation over all rows, by the plainest loops; its operands are at home. For execution::at_once.
void run_at_once(const operation& o);

}  // namespace tessera::sparse
