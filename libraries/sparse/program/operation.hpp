#pragma once
// What is recorded: operations and their operands.
#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include "tessera/sparse.hpp"
#include "tessera/tiled_memory.hpp"

namespace tessera::sparse {

class matrix_product;

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

/// What an operation does, and with it where it may run: all but `small` go over the rows.
enum class operation_kind : std::uint8_t {
  mxm,             ///< to[0] = matrix from[0], which is read at rows of other panels too
  gram,            ///< small_to[0] = from[0]^T from[1]
  column_norms,    ///< small_to[0] = norms of from[0]
  column_dots,     ///< small_to[0] = products of the columns of from[0] with those of from[1]
  combine,         ///< to = from small_from[0] + factor to
  axpy,            ///< to[0] += from[0] diag(small_from[0])
  add_multiple,    ///< to[0] += factor from[0]
  scale,           ///< to[0] = from[0] diag(small_from[0])
  copy,            ///< to[0] = from[0]
  hadamard,        ///< to[0] = from[0] from[1], element by element
  apply_diagonal,  ///< to[0] = diag(diagonal) from[0]
  small            ///< function(small_from, small_to)
};

/// One call. Two are equal when they do the same with the same operands; functions are equal when their names are.
struct operation {
  operation_kind kind;
  std::string name;
  std::vector<std::shared_ptr<vector_data>> from, to;
  std::vector<std::shared_ptr<small_data>> small_from, small_to;
  const csr_matrix* matrix = nullptr;
  const spmv_operator* rows = nullptr;  ///< of mxm: in place of a matrix
  const double* diagonal = nullptr;
  double factor = 0;
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
    return kind == axpy || kind == add_multiple || (kind == combine && factor != 0);
  }
  bool operator==(const operation& other) const noexcept {
    return kind == other.kind && name == other.name && from == other.from && to == other.to &&
           small_from == other.small_from && small_to == other.small_to && matrix == other.matrix &&
           rows == other.rows && diagonal == other.diagonal && factor == other.factor;
  }
};

}  // namespace tessera::sparse
