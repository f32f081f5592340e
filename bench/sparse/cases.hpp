#pragma once
// What bench_sparse measures, each case in a file of its own.
#include <string>

#include "libraries/sparse/matrix/csr_matrix.hpp"

namespace bench {

struct sparse_case {
  std::string family, file;
  int workers;
  long block, iterations, reps, panel, strip;
  double tolerance;

  /// "lap3d:60_b8", as in the rows.
  std::string name() const { return family + "_b" + std::to_string(block); }
};

/// Time of an iteration of LOBPCG: the best of those that have directions, as its peer (sparse_openmp.cpp).
void measure_lobpcg(const tessera::sparse::csr_matrix& a, const sparse_case& c);
/// Time of a step of Lanczos with full reorthogonalization, over `iterations` steps, as its peer
/// (sparse_lanczos_openmp.cpp).
void measure_lanczos(const tessera::sparse::csr_matrix& a, const sparse_case& c);
/// What the graph of an iteration of LOBPCG costs: time before the first iteration, memory, time of a task.
void measure_graph(const tessera::sparse::csr_matrix& a, const sparse_case& c);
/// Time until all pairs of a block have residuals of `tolerance` or less, as its peers (sparse_scipy.py, ...).
void measure_solution(const tessera::sparse::csr_matrix& a, const sparse_case& c);
/// The matrix for the peers: two int64 (rows, nonzeros), row starts as int64, columns as int32, values as double.
void write_raw(const tessera::sparse::csr_matrix& a, const std::string& file);

}  // namespace bench
