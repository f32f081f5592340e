#include "apps/sparse/files.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/units.hpp"
#include "libraries/sparse/matrix/available_memory.hpp"
#include "libraries/sparse/matrix/read_real.hpp"
#include "libraries/sparse/solver/hermitian.hpp"

namespace tessera::apps {
namespace {

using namespace sparse;

/// Throws tessera::error (memory) where there is no room.
void require_room_for_vectors(const std::string& file, std::int64_t rows, std::int64_t columns) {
  const double bytes = static_cast<double>(rows) * static_cast<double>(columns) * sizeof(double);
  if (const auto there = static_cast<double>(available_memory()); bytes > there)
    throw error(error_kind::memory,
                fmt::format("{} vectors of {} rows take {}, and there are {}", columns, rows, format_bytes(bytes),
                            format_bytes(there)),
                file, "such a file has a column for each vector");
}

}  // namespace

problem_matrix read_problem(const std::string& file, bool of_two) {
  matrix_market::open_file from(file, matrix_market::patterns::ones);
  if (!from.is_complex()) return {.matrix = read_real(from)};
  if (of_two) throw error(error_kind::usage, "a complex matrix takes no mass matrix", "--mass", "real ones do");
  return {.matrix = read_hermitian(from), .is_complex = true};
}

std::vector<double> read_vectors(const std::string& file, std::int64_t rows, bool of_complex) {
  matrix_market::open_file from(file);
  if (from.is_complex() && !of_complex)
    throw error(error_kind::input, "the vectors are complex, and the matrix is real", file, "vectors of this matrix");
  std::int64_t columns = 0;
  bool mirrored = false;
  std::vector<double> made;
  const auto add = [&](std::int64_t row, std::int64_t column, double real, double imaginary) {
    if (!of_complex) {
      made[static_cast<std::size_t>(row * columns + column)] += real;
    } else {
      made[static_cast<std::size_t>(2 * row * columns + column)] += real;
      made[static_cast<std::size_t>((2 * row + 1) * columns + column)] += imaginary;
    }
  };
  from.entries(
      [&](const matrix_market::header& h) {
        if (const std::int64_t needed = of_complex ? rows / 2 : rows; h.rows != needed)
          throw error(error_kind::input, fmt::format("the vectors have {} rows, and the matrix has {}", h.rows, needed),
                      file, "such a file has a column for each vector");
        columns = h.columns, mirrored = h.kind != matrix_market::symmetry::general;
        require_room_for_vectors(file, rows, columns);
        made.assign(static_cast<std::size_t>(rows * columns), 0.0);
      },
      [&](const matrix_market::entry& e) {
        add(e.row, e.column, e.value, e.imaginary);
        if (mirrored && e.row != e.column) add(e.column, e.row, e.value, -e.imaginary);
      });
  return made;
}

}  // namespace tessera::apps
