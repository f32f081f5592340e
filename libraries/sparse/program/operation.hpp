#pragma once
// What is recorded: operations and their operands.
#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include "tessera/front_end.hpp"
#include "tessera/sparse.hpp"

namespace tessera::sparse {

class matrix_product;

/// An operator by a function of whole blocks: one that submits tasks, or one that the program's thread calls.
struct whole_function {
  std::function<void(const operator_tasks&)> submit = {};
  std::function<void(const operator_block&)> call = {};
  operator_facts facts = {};
};
/// Calls `multiply`, and numbers of Y that it leaves out are not a number behind it, instead of what was there.
void call_whole(const std::function<void(const operator_block&)>& multiply, const operator_block& on);

/// A tile of memory as a task uses it.
inline block_access access(const tiled_memory& of, std::size_t tile, intent how) {
  return {.block = of.tiles()[tile].record, .version = 0, .intent = how, .flags = 0, .space = 0};
}

/// A block vector's numbers: one piece of memory, adopted by the runtime as a tile per panel.
struct vector_data : std::enable_shared_from_this<vector_data> {
  program_state* owner = nullptr;
  std::string name = {};
  std::int64_t rows = 0, columns = 0;
  std::shared_ptr<double> home = {};
  std::unique_ptr<tiled_memory> tiles = {};
  block_access use(std::size_t panel, intent how) const { return access(*tiles, panel, how); }
};

/// A small matrix's numbers: one block.
struct small_data : std::enable_shared_from_this<small_data> {
  program_state* owner = nullptr;
  std::string name = {};
  std::int64_t rows = 0, columns = 0;
  std::shared_ptr<double> home = {};
  std::unique_ptr<tiled_memory> block = {};
  std::int64_t size() const noexcept { return rows * columns; }
  block_access use(intent how) const { return access(*block, 0, how); }
};

/// What an operation does, and with it where it may run: the last three do not go over the rows.
enum class operation_kind : std::uint8_t {
  mxm,             ///< to[0] = scale matrix from[0] + factor to[0]; from is read at rows of other panels too
  gram,            ///< small_to[0] = from[0]^T from[1]
  column_norms,    ///< small_to[0] = norms of from[0]
  column_dots,     ///< small_to[0] = products of the columns of from[0] with those of from[1]
  combine,         ///< to = from small_from[0] + factor to
  axpy,            ///< to[0] += from[0] diag(small_from[0])
  add_multiple,    ///< to[0] += factor from[0]
  scale,           ///< to[0] = from[0] diag(small_from[0])
  axpby,           ///< to[0] = scale from[0] + factor to[0]
  copy,            ///< to[0] = from[0]
  hadamard,        ///< to[0] = from[0] from[1], element by element
  apply_diagonal,  ///< to[0] = scale diag(diagonal) from[0] + factor to[0]
  tasks,           ///< to[0] = what `whole` makes of from[0], by tasks of its own between two passes
  call,            ///< the same by the program's thread, between two graphs
  small            ///< function(small_from, small_to)
};

/// One call. Two are equal when they do the same with the same operands; functions are equal when their names are.
struct operation {
  operation_kind kind;
  std::string name;
  std::vector<std::shared_ptr<vector_data>> from, to;
  std::vector<std::shared_ptr<small_data>> small_from, small_to;
  const csr_matrix* matrix = nullptr;
  const row_function* rows = nullptr;  ///< of mxm: in place of a matrix
  const whole_function* whole = nullptr;
  const double* diagonal = nullptr;
  double scale = 1, factor = 0;
  small_function function = {};
  std::source_location site = std::source_location::current();  ///< of the call, for messages; of small operations
  const matrix_product* product = nullptr;                      ///< of the matrix, when the operation is about to run

  bool is_reduction() const noexcept {
    using enum operation_kind;
    return kind == gram || kind == column_norms || kind == column_dots;
  }
  /// Its destinations are sources too.
  bool updates() const noexcept {
    using enum operation_kind;
    const bool adds = kind == combine || kind == mxm || kind == apply_diagonal || kind == axpby;
    return kind == axpy || kind == add_multiple || (adds && factor != 0);
  }
  /// It runs between two passes over the rows, not in one.
  bool is_between_passes() const noexcept { return kind == operation_kind::small || has_whole_blocks(); }
  bool has_whole_blocks() const noexcept { return kind == operation_kind::tasks || kind == operation_kind::call; }
  bool operator==(const operation& other) const noexcept {
    return kind == other.kind && name == other.name && from == other.from && to == other.to &&
           small_from == other.small_from && small_to == other.small_to && matrix == other.matrix &&
           rows == other.rows && whole == other.whole && diagonal == other.diagonal && scale == other.scale &&
           factor == other.factor;
  }
};

}  // namespace tessera::sparse
