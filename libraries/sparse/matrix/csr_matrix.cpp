#include "libraries/sparse/matrix/csr_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/error.hpp"
#include "core/base/units.hpp"
#include "libraries/matrix_market/write.hpp"
#include "libraries/sparse/matrix/available_memory.hpp"
#include "libraries/sparse/matrix/large_arrays.hpp"
#include "libraries/sparse/matrix/read_real.hpp"

namespace tessera::sparse {
namespace {

/// Sorts each row by columns and adds up entries of one place; rows move together.
void sort_and_add_up(csr_matrix& a) {
  std::vector<std::pair<std::int32_t, double>> row;
  std::size_t to = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.rows); ++i) {
    const auto begin = static_cast<std::size_t>(a.row_starts[i]), end = static_cast<std::size_t>(a.row_starts[i + 1]);
    row.clear();
    for (std::size_t k = begin; k < end; ++k) row.emplace_back(a.entry_columns[k], a.values[k]);
    std::ranges::stable_sort(row, {}, &std::pair<std::int32_t, double>::first);
    a.row_starts[i] = static_cast<std::int64_t>(to);
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (k > 0 && row[k].first == row[k - 1].first) {
        a.values[to - 1] += row[k].second;
      } else {
        a.entry_columns[to] = row[k].first;
        a.values[to++] = row[k].second;
      }
    }
  }
  a.row_starts.back() = static_cast<std::int64_t>(to);
  a.entry_columns.resize(to);
  a.values.resize(to);
}

/// `each(visit)` calls visit(row, column, value) for all entries, the same each time.
template <class ForEach>
csr_matrix assemble(std::string name, std::int64_t rows, std::int64_t columns, const ForEach& each) {
  csr_matrix made{
      .name = std::move(name), .rows = rows, .columns = columns, .row_starts = {}, .entry_columns = {}, .values = {}};
  made.row_starts.assign(static_cast<std::size_t>(rows) + 1, 0);
  each([&](std::int32_t row, std::int32_t, double) { ++made.row_starts[static_cast<std::size_t>(row) + 1]; });
  std::partial_sum(made.row_starts.begin(), made.row_starts.end(), made.row_starts.begin());
  reserve_large(made.entry_columns, static_cast<std::size_t>(made.row_starts.back()));
  reserve_large(made.values, static_cast<std::size_t>(made.row_starts.back()));
  made.entry_columns.resize(static_cast<std::size_t>(made.row_starts.back()));
  made.values.resize(made.entry_columns.size());
  std::vector<std::int64_t> next(made.row_starts.begin(), made.row_starts.end() - 1);
  each([&](std::int32_t row, std::int32_t column, double value) {
    const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(row)]++);
    made.entry_columns[at] = column;
    made.values[at] = value;
  });
  sort_and_add_up(made);
  return made;
}

/// Bytes while a file is read: entries as they were read, and the rows that are made of them.
double bytes_to_read(const matrix_market::header& h) {
  constexpr double read = sizeof(triplet), placed = sizeof(std::int32_t) + sizeof(double);
  const double copies = h.kind == matrix_market::symmetry::symmetric ? 2 : 1;
  return static_cast<double>(h.rows) * 2 * sizeof(std::int64_t) +
         static_cast<double>(h.entries) * (read + copies * placed);
}

[[noreturn]] void refuse(const csr_matrix& a, std::string message, std::string hint = {}) {
  throw error(error_kind::input, std::move(message), a.name.empty() ? "a matrix without a name" : a.name,
              std::move(hint));
}

}  // namespace

csr_matrix matrix_of(std::string name, std::int64_t rows, std::int64_t columns, const std::vector<triplet>& entries) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (rows < 0 || columns < 0 || rows > most || columns > most)
    throw error(error_kind::input, fmt::format("the matrix is {} x {}", rows, columns), name,
                fmt::format("sizes are 0 to {}", most));
  for (const triplet& e : entries)
    if (e.row < 0 || e.row >= rows || e.column < 0 || e.column >= columns)
      throw error(error_kind::input,
                  fmt::format("the triplet ({}, {}) is outside of the matrix, {} x {}", e.row, e.column, rows, columns),
                  name, "rows and columns of triplets count from 0");
  return assemble(std::move(name), rows, columns, [&](const auto& visit) {
    for (const triplet& e : entries) visit(e.row, e.column, e.value);
  });
}

/// Of entries that are finite each.
static void require_finite_sums(const csr_matrix& a) {
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (auto k = static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(i) + 1]); ++k)
      if (!std::isfinite(a.values[k]))
        refuse(a, fmt::format("entries that are given twice, at ({}, {}), add up to a number that is not finite", i + 1,
                              a.entry_columns[k] + 1));
}

csr_matrix read_matrix(const std::filesystem::path& file, std::optional<std::int64_t> memory) {
  matrix_market::open_file from(file, matrix_market::patterns::ones, matrix_market::numbers::real);
  return read_real(from, memory);
}

csr_matrix read_real(matrix_market::open_file& file, std::optional<std::int64_t> memory) {
  matrix_market::header is;
  std::vector<triplet> entries;
  file.entries(
      [&](const matrix_market::header& h) {
        is = h;
        require_memory(file.name(), h.rows, h.entries, bytes_to_read(h), memory ? *memory : available_memory());
        entries.reserve(static_cast<std::size_t>(h.entries));
      },
      [&](const matrix_market::entry& e) {
        entries.push_back({e.row, e.column, e.value});
      });
  const bool mirrored = is.kind == matrix_market::symmetry::symmetric;
  csr_matrix made = assemble(file.name(), is.rows, is.columns, [&](const auto& visit) {
    for (const triplet& e : entries) {
      visit(e.row, e.column, e.value);
      if (mirrored && e.row != e.column) visit(e.column, e.row, e.value);
    }
  });
  require_finite_sums(made);
  return made;
}

void write_matrix(const csr_matrix& a, const std::filesystem::path& file) {
  std::vector<matrix_market::entry> entries;
  entries.reserve(a.values.size());
  for (std::int32_t i = 0; i < a.rows; ++i)
    for (auto k = static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(i) + 1]); ++k)
      entries.push_back({i, a.entry_columns[k], a.values[k]});
  matrix_market::write_coordinate(file, a.rows, a.columns, entries);
}

csr_matrix transposed(const csr_matrix& a) {
  require_well_formed(a);
  csr_matrix made{.name = a.name + ", transposed",
                  .rows = a.columns,
                  .columns = a.rows,
                  .row_starts = {},
                  .entry_columns = {},
                  .values = {}};
  made.row_starts.assign(static_cast<std::size_t>(a.columns) + 1, 0);
  for (const std::int32_t column : a.entry_columns) ++made.row_starts[static_cast<std::size_t>(column) + 1];
  std::partial_sum(made.row_starts.begin(), made.row_starts.end(), made.row_starts.begin());
  reserve_large(made.entry_columns, a.entry_columns.size());
  reserve_large(made.values, a.values.size());
  made.entry_columns.resize(a.entry_columns.size());
  made.values.resize(a.values.size());
  std::vector<std::int64_t> next(made.row_starts.begin(), made.row_starts.end() - 1);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (auto k = static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(i) + 1]); ++k) {
      const auto to = static_cast<std::size_t>(next[static_cast<std::size_t>(a.entry_columns[k])]++);
      made.entry_columns[to] = static_cast<std::int32_t>(i);
      made.values[to] = a.values[k];
    }
  return made;
}

void require_symmetric(const csr_matrix& a, const char* hint) {
  if (a.rows != a.columns)
    refuse(a, fmt::format("the matrix is {} x {}, not square", a.rows, a.columns),
           "eigenvalues are those of a square matrix");
  const auto element = [&](std::int32_t row, std::int32_t column) {
    const auto begin = a.entry_columns.begin() + a.row_starts[static_cast<std::size_t>(row)];
    const auto end = a.entry_columns.begin() + a.row_starts[static_cast<std::size_t>(row) + 1];
    const auto at = std::lower_bound(begin, end, column);
    return at == end || *at != column ? 0.0 : a.values[static_cast<std::size_t>(at - a.entry_columns.begin())];
  };
  for (std::int32_t i = 0; i < a.rows; ++i)
    for (auto k = static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(i)]);
         k < static_cast<std::size_t>(a.row_starts[static_cast<std::size_t>(i) + 1]); ++k) {
      const std::int32_t j = a.entry_columns[k];
      if (j == i) continue;
      const double mine = a.values[k], mirror = element(j, i);
      if (std::abs(mine - mirror) > 1e-10 * std::max(std::abs(mine), std::abs(mirror)))
        refuse(a,
               fmt::format("the matrix is not symmetric: ({0}, {1}) is {2:.17g} and ({1}, {0}) is {3:.17g}", i + 1,
                           j + 1, mine, mirror),
               hint);
    }
}

void require_well_formed(const csr_matrix& a) {
  const auto rows = static_cast<std::size_t>(std::max<std::int64_t>(a.rows, 0));
  if (a.rows < 1 || a.columns < 1) refuse(a, fmt::format("the matrix is {} x {}", a.rows, a.columns));
  if (a.row_starts.size() != rows + 1 || a.row_starts.front() != 0 || a.row_starts.back() != a.nonzeros() ||
      a.entry_columns.size() != a.values.size())
    refuse(a, "the arrays of the matrix do not fit together",
           "row_starts has rows + 1 elements, from 0 to all entries");
  for (std::size_t i = 0; i < rows; ++i) {
    if (a.row_starts[i + 1] < a.row_starts[i] || a.row_starts[i + 1] > a.nonzeros())
      refuse(a, fmt::format("row {} ends outside of the entries, or before it begins", i + 1));
    for (auto k = static_cast<std::size_t>(a.row_starts[i]); k < static_cast<std::size_t>(a.row_starts[i + 1]); ++k) {
      const std::int32_t j = a.entry_columns[k];
      if (j < 0 || j >= a.columns) refuse(a, fmt::format("row {} has a column outside of the matrix", i + 1));
      if (k > static_cast<std::size_t>(a.row_starts[i]) && a.entry_columns[k - 1] >= j)
        refuse(a, fmt::format("the columns of row {} do not ascend", i + 1));
      if (!std::isfinite(a.values[k]))
        refuse(a, fmt::format("the entry ({}, {}) is not finite", i + 1, j + 1), "remove NaN and infinite entries");
    }
  }
}

std::vector<double> plain_product(const csr_matrix& a, std::span<const double> x) {
  const std::size_t width = x.size() / static_cast<std::size_t>(a.columns);
  std::vector<double> y(static_cast<std::size_t>(a.rows) * width, 0.0);
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.rows); ++i)
    for (auto k = static_cast<std::size_t>(a.row_starts[i]); k < static_cast<std::size_t>(a.row_starts[i + 1]); ++k) {
      const double* const from = x.data() + static_cast<std::size_t>(a.entry_columns[k]) * width;
      for (std::size_t j = 0; j < width; ++j) y[i * width + j] += a.values[k] * from[j];
    }
  return y;
}

double infinity_norm(const csr_matrix& a) {
  double norm = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.rows); ++i) {
    double sum = 0;
    for (auto k = static_cast<std::size_t>(a.row_starts[i]); k < static_cast<std::size_t>(a.row_starts[i + 1]); ++k)
      sum += std::abs(a.values[k]);
    norm = std::max(norm, sum);
  }
  return norm;
}

csr_matrix times_power_of_two(csr_matrix a, int exponent) {
  for (double& v : a.values) v = std::ldexp(v, exponent);
  return a;
}

std::vector<double> diagonal_of(const csr_matrix& a) {
  std::vector<double> diagonal(static_cast<std::size_t>(a.rows), 0.0);
  for (std::size_t i = 0; i < diagonal.size(); ++i) {
    const auto begin = a.entry_columns.begin() + a.row_starts[i], end = a.entry_columns.begin() + a.row_starts[i + 1];
    const auto at = std::lower_bound(begin, end, static_cast<std::int32_t>(i));
    if (at != end && *at == static_cast<std::int32_t>(i))
      diagonal[i] = a.values[static_cast<std::size_t>(at - a.entry_columns.begin())];
  }
  return diagonal;
}

}  // namespace tessera::sparse
