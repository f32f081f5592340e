#pragma once
// The routines of LAPACK that super instructions need. Matrices are column major with leading dimension n.
#include <cstdint>
#include <vector>

namespace tessera::sial::lapack {

/// Symmetric eigenproblem of the lower triangle of A (n x n), which becomes the eigenvectors in columns; `values`
/// ascending. Returns LAPACK's info: 0, or how many values did not converge. Throws std::runtime_error when there is no
/// LAPACK, or a limit of addresses leaves no room for the buffer that it needs.
int dsyev(int n, double* a, double* values);
/// General eigenproblem; A is destroyed. Left and right vectors in columns, of unit norm. Returns info as above.
int dgeev(int n, double* a, double* real, double* imaginary, double* left, double* right);
/// Solves A x = b for one right side; both are destroyed, b becomes x. Returns 0, or the pivot that is zero.
int dgesv(int n, double* a, double* b);

}  // namespace tessera::sial::lapack
