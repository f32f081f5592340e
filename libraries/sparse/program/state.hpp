#pragma once
// A program's inside: its memory, and what is recorded.
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libraries/sparse/matrix/row_panels.hpp"
#include "libraries/sparse/product/form_choice.hpp"
#include "libraries/sparse/product/matrix_product.hpp"
#include "libraries/sparse/program/device_data.hpp"
#include "libraries/sparse/program/operation.hpp"
#include "libraries/sparse/program/sequence.hpp"
#include "libraries/sparse/program/task_graph.hpp"
#include "tessera/sparse.hpp"

namespace tessera::sparse {

class kept_values;

struct program_state {
  program_state(runtime& on, const linear_operator& a, const program_options& how);

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
  /// What operations point to lives as long as the program: they are told apart by their addresses.
  void keep(std::shared_ptr<const void> what) { kept.insert(std::move(what)); }
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
  const linear_operator of;
  const std::int64_t row_count;
  program_options options;
  std::uint32_t location = anywhere;  ///< of program_options::at
  row_panels panels;
  std::vector<const csr_matrix*> checked;  ///< well formed
  std::vector<matrix_panels> matrices;     ///< that were multiplied by so far
  std::map<const csr_matrix*, csr_matrix> transposes;
  std::map<std::pair<const csr_matrix*, std::int64_t>, form_choice> forms;  ///< by columns of the vectors
  std::map<std::pair<const csr_matrix*, matrix_form>, matrix_product> products;
  std::map<std::pair<int, std::int64_t>, block_vector> scratch_blocks;  ///< by number and columns
  int scratch_in_use = 0;  ///< of them, by operations that are recorded now
  std::set<std::shared_ptr<const void>> kept;
  std::optional<device_data> on_devices;  ///< where devices take part
  std::vector<operation> recorded;
  /// Graphs that are kept between iterations for tasks that may use them. A graph of a scattered matrix may have
  /// megabytes: each panel names most others.
  static constexpr std::size_t max_under_way = 4;
  std::vector<std::unique_ptr<operation_sequence>> under_way;  ///< of run, until they are done
  double looked_seconds = 0;          ///< at matrices that are to be multiplied by, since the last loop began
  counted_work done;                  ///< by all that ran so far
  const kept_values* seen = nullptr;  ///< of the iteration that a condition which lags is asked about
  bool between_iterations = false;
};

/// A block for operations that are recorded while it exists: the same one each time for the same columns, but for those
/// that exist already.
class scratch_block {
 public:
  scratch_block(program_state& of, std::int64_t columns);
  ~scratch_block() { --m_program.scratch_in_use; }
  scratch_block(const scratch_block&) = delete;
  scratch_block& operator=(const scratch_block&) = delete;
  operator const block_vector&() const noexcept { return m_block; }
  const block_vector& block() const noexcept { return m_block; }

 private:
  program_state& m_program;
  block_vector m_block;
};

/// The numbers of a block vector, wherever they are. Throws tessera::error for those that a failed task should have
/// written.
void read_numbers(const vector_data& from, std::span<double> to);
/// New numbers for all of it.
void write_numbers(const vector_data& to, std::span<const double> numbers);

/// One operation over all rows, by the plainest loops; its operands are at home. For execution::at_once.
void run_at_once(const operation& o);

}  // namespace tessera::sparse
