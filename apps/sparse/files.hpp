#pragma once
// Files that a solver starts from. Each is read once: it may be a pipe.
#include <string>
#include <vector>

#include "libraries/sparse/matrix/csr_matrix.hpp"

namespace tessera::apps {

/// A matrix whose eigenpairs are looked for.
struct problem_matrix {
  sparse::csr_matrix matrix;
  bool is_complex = false;  ///< Hermitian, in real form
};

/// Reads a Matrix Market file: a real matrix, or a complex Hermitian one, as its first line says. `of_two` matrices are
/// to be read: a complex one is refused then (usage). Throws what sparse::read_matrix does.
problem_matrix read_problem(const std::string& file, bool of_two);

/// Vectors as `--out` writes them, or in any other form of a Matrix Market file, row-major; of a complex matrix in real
/// form. `rows` are those of the real matrix. Throws tessera::error: input for another number of rows and for complex
/// vectors of a real matrix, memory for vectors that the machine has no room for.
std::vector<double> read_vectors(const std::string& file, std::int64_t rows, bool of_complex);

}  // namespace tessera::apps
