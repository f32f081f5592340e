#pragma once
// Writes matrices in Matrix Market form, with all digits of each number; files are whole or not there.
#include <cstdint>
#include <filesystem>
#include <span>

#include "libraries/matrix_market/read.hpp"

namespace tessera::matrix_market {

/// Entries in coordinate form ("real general"), in their order. Throws tessera::error of kind output with the system's
/// reason.
void write_coordinate(const std::filesystem::path& file, std::int64_t rows, std::int64_t columns,
                      std::span<const entry> entries);

/// A row-major matrix in array form ("real general", column by column). Throws the same.
void write_dense(const std::filesystem::path& file, std::int64_t rows, std::int64_t columns,
                 std::span<const double> row_major);

/// A row-major complex matrix in array form ("complex general"): row 2i of `row_major` has the real parts of row i, row
/// 2i + 1 the imaginary ones. Throws the same.
void write_dense_complex(const std::filesystem::path& file, std::int64_t rows, std::int64_t columns,
                         std::span<const double> row_major);

}  // namespace tessera::matrix_market
