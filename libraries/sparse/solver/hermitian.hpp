#pragma once
// Complex Hermitian matrices as real symmetric ones of twice the order.
#include <complex>
#include <optional>
#include <string>
#include <vector>

#include "libraries/sparse/solver/eigenpairs.hpp"

namespace tessera::matrix_market {
class open_file;
}

namespace tessera::sparse {

/// An entry of a complex matrix that is being made.
struct complex_triplet {
  std::int32_t row = 0, column = 0;
  std::complex<double> value = 0;
};

/// The real form of a Hermitian matrix A + iB: an entry becomes the tile [[a, -b], [b, a]], so that real and imaginary
/// part of an element of a vector are two neighbouring rows. It is symmetric, and has each eigenvalue twice: with x it
/// has ix, which is another real vector. `entries` has both triangles. Throws tessera::error (input) for a matrix of
/// 2^30 rows or more.
csr_matrix real_form(std::string name, std::int64_t order, const std::vector<complex_triplet>& entries);

/// The real form of a file "coordinate complex hermitian"; entries that are given twice are added up. Throws
/// tessera::error (input), with file:line, and (memory) when the real form does not fit into `memory` bytes; without
/// that number into what the machine has left.
csr_matrix read_hermitian(matrix_market::open_file& file, std::optional<std::int64_t> memory = {});

/// How an eigensolver is called.
using eigensolver_function = eigenpairs (*)(runtime&, const csr_matrix&, const eigen_options&);

/// Eigenpairs of the complex problem. `a` is a real form, and so are all vectors: 2n rows, two for a complex number.
/// The solver finds twice as many real pairs; of the space of their complex vectors, those are taken that have the
/// outermost Ritz values, orthonormal in the complex inner product, with residuals of one more product with A.
/// eigen_options::block counts complex vectors. Throws what the solver throws, and tessera::error: usage for a mass
/// matrix, numerical when the solver's vectors span too small a space.
eigenpairs hermitian_pairs(runtime& rt, eigensolver_function solve, const csr_matrix& a, const eigen_options& options);
/// The options of the real problem that it solves.
eigen_options real_options(const csr_matrix& a, const eigen_options& options);

}  // namespace tessera::sparse
