#pragma once
// The routines of LAPACK that applications need. Matrices are column major with leading dimension n.
#include <complex>
#include <cstdint>
#include <vector>

namespace tessera::lapack {

/// Symmetric eigenproblem of the lower triangle of A (n x n), which becomes the eigenvectors in columns; `values`
/// ascending. Returns LAPACK's info: 0, or how many values did not converge. Throws std::runtime_error when there is no
/// LAPACK, or a limit of addresses leaves no room for the buffer that it needs.
int dsyev(int n, double* a, double* values);
/// General eigenproblem; A is destroyed. Left and right vectors in columns, of unit norm. Returns info as above.
int dgeev(int n, double* a, double* real, double* imaginary, double* left, double* right);
/// Solves A x = b for one right side; both are destroyed, b becomes x. Returns 0, or the pivot that is zero.
int dgesv(int n, double* a, double* b);
/// Cholesky factor of the lower triangle of A, in place. Returns 0, or the first pivot that is not positive.
int dpotrf(int n, double* a);
/// A x = lambda B x with the lower triangles of A, symmetric, and B, positive definite. A becomes the eigenvectors in
/// columns, orthonormal with B, `b` the Cholesky factor; `values` ascending. Returns 0, info of dsyevd, or n + the
/// pivot of B that is not positive.
int dsygvd(int n, double* a, double* b, double* values);
/// Singular values of A (m x n), which is destroyed: A = U diag(values) V^T. With k = min(m, n), `left` is m x k and
/// has U, `right` is k x n and has V^T, both column major without gaps; `values` descend. Returns info of dgesvd.
int dgesvd(int m, int n, double* a, double* values, double* left, double* right);
/// C += op(A) op(B), where op transposes or does not; op(A) is m x k, op(B) k x n, each without gaps.
void dgemm(bool transpose_a, bool transpose_b, int m, int n, int k, const double* a, const double* b, double* c);
/// Hermitian eigenproblem of the lower triangle of A (n x n), as dsyev.
int zheev(int n, std::complex<double>* a, double* values);

}  // namespace tessera::lapack
