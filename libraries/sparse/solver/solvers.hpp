#pragma once
// The eigensolvers by their names.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libraries/sparse/solver/eigenpairs.hpp"

namespace tessera::sparse {

/// An eigensolver, and what a user must know of it.
struct eigensolver {
  std::string_view name;       ///< in a command line
  std::string_view title;      ///< in a report
  std::string_view iteration;  ///< what eigen_options::max_iterations counts
  bool block_limits_levels;    ///< of equal eigenvalues it sees at most as many as eigen_options::block
  bool preconditioned;         ///< it takes eigen_options::precondition
  double (*min_memory)(const csr_matrix&, const eigen_options&);  ///< bytes beside the matrices as given
  eigenpairs (*solve)(runtime&, const csr_matrix&, const eigen_options&);
};

/// All of them, the one that is used by default first.
std::span<const eigensolver> eigensolvers() noexcept;
/// Throws tessera::error (usage) for a name that is none.
const eigensolver& eigensolver_named(std::string_view name);
/// For a choice of the command line.
std::vector<std::string> eigensolver_names();
}  // namespace tessera::sparse
