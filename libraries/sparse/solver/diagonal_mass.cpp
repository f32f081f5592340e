#include "libraries/sparse/solver/diagonal_mass.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"

namespace tessera::sparse {
namespace {

/// Square roots of B's diagonal.
std::vector<double> root_of(const csr_matrix& b, std::int64_t rows, const char* solver) {
  require_well_formed(b);
  if (b.rows != rows || b.columns != rows)
    throw error(error_kind::input,
                fmt::format("the mass matrix is {} x {}, and the matrix {} x {}", b.rows, b.columns, rows, rows),
                b.name, "both belong to one problem");
  for (std::int64_t i = 0; i < rows; ++i)
    for (auto k = static_cast<std::size_t>(b.row_starts[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(b.row_starts[static_cast<std::size_t>(i) + 1]); ++k)
      if (b.entry_columns[k] != i && b.values[k] != 0)
        throw error(error_kind::input,
                    fmt::format("{} takes a diagonal mass matrix, and element ({}, {}) is {}", solver, i + 1,
                                b.entry_columns[k] + 1, b.values[k]),
                    b.name, "LOBPCG takes any that is positive definite");
  std::vector<double> root = diagonal_of(b);
  for (std::size_t i = 0; i < root.size(); ++i) {
    if (!(root[i] > 0))
      throw error(error_kind::input, fmt::format("element ({}, {}) is {}", i + 1, i + 1, root[i]), b.name,
                  "the mass matrix must be positive definite");
    root[i] = std::sqrt(root[i]);
  }
  return root;
}

/// B^-1/2 A B^-1/2.
csr_matrix without_mass(csr_matrix a, const std::vector<double>& root) {
  for (std::size_t i = 0; i < root.size(); ++i)
    for (auto k = static_cast<std::size_t>(a.row_starts[i]); k < static_cast<std::size_t>(a.row_starts[i + 1]); ++k)
      a.values[k] = a.values[k] / root[i] / root[static_cast<std::size_t>(a.entry_columns[k])];
  if (!std::isfinite(infinity_norm(a)))
    throw error(error_kind::input, "divided by the mass matrix, the norm of the matrix is too large for a double",
                a.name, "divide its entries by a number");
  return a;
}

/// Rows times B^1/2.
void multiply_rows(std::vector<double>& row_major, const std::vector<double>& root) {
  const std::size_t columns = row_major.size() / root.size();
  for (std::size_t k = 0; k < row_major.size(); ++k) row_major[k] *= root[k / columns];
}

/// The residuals ||A x - lambda B x|| of the vectors.
void measure(const csr_matrix& a, const std::vector<double>& root, eigenpairs& of) {
  const std::size_t pairs = of.values.size();
  const std::vector<double> ax = plain_product(a, of.vectors);
  for (std::size_t k = 0; k < pairs; ++k) {
    std::vector<double> r(root.size());
    double largest = 0, square = 0;
    for (std::size_t i = 0; i < r.size(); ++i) {
      r[i] = ax[i * pairs + k] - of.values[k].value * root[i] * root[i] * of.vectors[i * pairs + k];
      largest = std::max(largest, std::abs(r[i]));
    }
    // This is A as it was given, and squares of its numbers may be zero or infinite.
    if (largest > 0)
      for (const double x : r) square += x / largest * (x / largest);
    of.values[k].residual = largest * std::sqrt(square);
  }
}

}  // namespace

bool has_diagonal_mass(const csr_matrix& a, const eigen_options& o) {
  if (o.mass == nullptr || o.mass->rows != a.rows) return false;
  const csr_matrix& b = *o.mass;
  require_well_formed(b);
  for (std::int64_t i = 0; i < b.rows; ++i)
    for (auto k = static_cast<std::size_t>(b.row_starts[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(b.row_starts[static_cast<std::size_t>(i) + 1]); ++k)
      if (b.entry_columns[k] != i && b.values[k] != 0) return false;
  return true;
}

eigenpairs with_diagonal_mass(const csr_matrix& a, const eigen_options& o, const char* solver,
                              const std::function<eigenpairs(const csr_matrix&, const eigen_options&)>& solve) {
  if (o.mass == nullptr) return solve(a, o);
  const std::vector<double> root = root_of(*o.mass, a.rows, solver);
  eigen_options how = o;
  how.mass = nullptr;
  if (o.preconditioner) {
    const linear_operator half = linear_operator::diagonal(root, "root of the mass matrix");
    how.preconditioner = half * *o.preconditioner * half;
  }
  multiply_rows(how.guess, root), multiply_rows(how.deflate, root);
  eigenpairs found = solve(without_mass(a, root), how);
  const std::size_t pairs = found.values.size();
  for (std::size_t k = 0; k < found.vectors.size(); ++k) found.vectors[k] /= root[k / pairs];
  measure(a, root, found);
  return found;
}

}  // namespace tessera::sparse
