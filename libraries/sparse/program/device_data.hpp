#pragma once
// What tasks on devices read beside block vectors, as blocks: matrices and diagonals.
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "libraries/sparse/matrix/row_panels.hpp"
#include "libraries/sparse/program/operation.hpp"

namespace tessera::sparse {

/// A matrix by panels of rows: three blocks each. The entries are the matrix's own memory, adopted, and are only read.
/// The matrix outlives it and stays as it is.
class matrix_blocks {
 public:
  matrix_blocks(runtime& rt, const csr_matrix& a, const row_panels& panels);

  /// What a panel's task reads. A panel without entries has no blocks of them.
  struct panel {
    block_access starts;                ///< i32: where each row's entries begin, counted from the panel's first
    std::vector<block_access> entries;  ///< i32 columns and f64 values; or none
    std::int64_t count;                 ///< of entries
  };
  panel of(std::size_t number) const;  ///< of that panel

 private:
  const csr_matrix& m_matrix;
  const row_panels& m_panels;
  std::vector<std::int64_t> m_tile;  // per panel: its tile of the entries; -1: it has none
  std::unique_ptr<tiled_memory> m_starts, m_columns, m_values;
};

/// Those of a program, each made when it is first asked for. They end with it.
class device_data {
 public:
  device_data(runtime& rt, const row_panels& panels) : m_runtime(rt), m_panels(panels) {}

  const matrix_blocks& of(const csr_matrix& a);
  /// A number per row, a tile per panel.
  const tiled_memory& of(const double* diagonal);

 private:
  runtime& m_runtime;
  const row_panels& m_panels;
  std::map<const csr_matrix*, matrix_blocks> m_matrices;
  std::map<const double*, std::unique_ptr<tiled_memory>> m_diagonals;
};

}  // namespace tessera::sparse
