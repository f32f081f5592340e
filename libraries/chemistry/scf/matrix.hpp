#pragma once
// Dense matrices of self-consistent fields. Column major.
#include <cstddef>
#include <vector>

namespace tessera::chemistry {

/// A B: A is m x k, B is k x n.
std::vector<double> product(std::size_t m, std::size_t n, std::size_t k, const std::vector<double>& a,
                            const std::vector<double>& b);
/// C^T A C: A is n x n and symmetric or antisymmetric, C is n x m.
std::vector<double> transformed(std::size_t n, std::size_t m, const std::vector<double>& a,
                                const std::vector<double>& c);
/// C A C^T: A is m x m, C is n x m.
std::vector<double> back(std::size_t n, std::size_t m, const std::vector<double>& a, const std::vector<double>& c);
/// The first `occupied` columns of C, n x ..., times their transpose.
std::vector<double> density_of(std::size_t n, std::size_t occupied, const std::vector<double>& c);
/// Of a symmetric A, n x n, which becomes the eigenvectors in columns. Ascending. Throws tessera::error (numerical).
std::vector<double> eigenvalues(std::size_t n, std::vector<double>& a);
/// X with X^T S X = 1: n x count, without the directions of eigenvalues of S below `limit`.
std::vector<double> orthonormal_functions(std::size_t n, const std::vector<double>& overlap, double limit,
                                          std::size_t& count);

}  // namespace tessera::chemistry
