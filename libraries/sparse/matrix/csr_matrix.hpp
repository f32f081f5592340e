#pragma once
// Sparse matrices by rows, in memory of the program.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera::sparse {

/// Compressed sparse rows. Columns ascend within a row, and none stands twice.
struct csr_matrix {
  std::string name;  ///< for messages
  std::int64_t rows = 0, columns = 0;
  std::vector<std::int64_t> row_starts;     ///< rows + 1; entries of row i are row_starts[i] .. row_starts[i + 1]
  std::vector<std::int32_t> entry_columns;  ///< of each entry, from 0
  std::vector<double> values;               ///< of each entry
  std::int64_t nonzeros() const noexcept { return static_cast<std::int64_t>(values.size()); }  ///< entries
};

/// An entry of a matrix that is being made.
struct triplet {
  std::int32_t row = 0, column = 0;
  double value = 0;
};

/// Sorts the entries; those of one place are added up, in their order. Throws tessera::error (input) for one outside of
/// the matrix, and for less than 0 or more than 2^31 - 1 rows or columns.
csr_matrix matrix_of(std::string name, std::int64_t rows, std::int64_t columns, const std::vector<triplet>& entries);

/// Reads a Matrix Market file (real, integer, or a pattern of ones; general or symmetric). Entries that are given twice
/// are added up. Throws tessera::error of kind input, with file:line, and of kind memory, before the entries are read,
/// when the matrix does not fit into `memory` bytes; without that number into what the machine has left.
csr_matrix read_matrix(const std::filesystem::path& file, std::optional<std::int64_t> memory = {});

/// Writes a Matrix Market file, "coordinate real general", with all digits of each number. Whole or not at all. Throws
/// tessera::error of kind output with the system's reason.
void write_matrix(const csr_matrix& a, const std::filesystem::path& file);

/// Rows become columns. Throws tessera::error (input) for a matrix that is not well formed.
csr_matrix transposed(const csr_matrix& a);

/// Throws tessera::error of kind input when the matrix is not square, or an entry differs from its mirror image by more
/// than rounding (1e-10 of the larger); the message names the entry.
void require_symmetric(const csr_matrix& a, const char* hint = "eigenvalues are computed of symmetric matrices");

/// Throws tessera::error of kind input for arrays that make no matrix: wrong lengths, columns out of range or out of
/// order, values that are not finite. For matrices that others have made.
void require_well_formed(const csr_matrix& a);

/// A X by plain loops, for a few vectors side by side: a row of `x` for each column of A.
std::vector<double> plain_product(const csr_matrix& a, std::span<const double> x);

/// Largest sum of absolute values of a row; at least the 2-norm of a symmetric matrix.
double infinity_norm(const csr_matrix& a);

/// The same matrix with all entries times 2^exponent: exact, but for what becomes too small or too large for a double.
csr_matrix times_power_of_two(csr_matrix a, int exponent);

/// One element per row; 0 where there is no entry.
std::vector<double> diagonal_of(const csr_matrix& a);

}  // namespace tessera::sparse
