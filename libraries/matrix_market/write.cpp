#include "libraries/matrix_market/write.hpp"

#include <fmt/format.h>

#include <iterator>

#include "core/base/error.hpp"
#include "core/base/whole_file.hpp"

namespace tessera::matrix_market {

namespace {

void write(const std::filesystem::path& file, const fmt::memory_buffer& text) {
  if (const std::error_code reason = write_whole_file(file, {std::string_view(text.data(), text.size())}))
    throw error(error_kind::output, fmt::format("the matrix cannot be written: {}", reason.message()), file.string(),
                std::string(hint_for_writing(reason)));
}

/// The array form, column by column: line(to, i, j) appends an element.
template <class Line>
void write_array(const std::filesystem::path& file, std::string_view field, std::int64_t rows, std::int64_t columns,
                 const Line& line) {
  fmt::memory_buffer text;
  const auto to = std::back_inserter(text);
  fmt::format_to(to, "%%MatrixMarket matrix array {} general\n{} {}\n", field, rows, columns);
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < rows; ++i) line(to, i, j);
  write(file, text);
}

}  // namespace

void write_coordinate(const std::filesystem::path& file, std::int64_t rows, std::int64_t columns,
                      std::span<const entry> entries) {
  fmt::memory_buffer text;
  const auto to = std::back_inserter(text);
  fmt::format_to(to, "%%MatrixMarket matrix coordinate real general\n{} {} {}\n", rows, columns, entries.size());
  for (const entry& e : entries) fmt::format_to(to, "{} {} {}\n", e.row + 1, e.column + 1, e.value);
  write(file, text);
}

void write_dense(const std::filesystem::path& file, std::int64_t rows, std::int64_t columns,
                 std::span<const double> row_major) {
  write_array(file, "real", rows, columns, [&](auto to, std::int64_t i, std::int64_t j) {
    fmt::format_to(to, "{}\n", row_major[static_cast<std::size_t>(i * columns + j)]);
  });
}

void write_dense_complex(const std::filesystem::path& file, std::int64_t rows, std::int64_t columns,
                         std::span<const double> row_major) {
  write_array(file, "complex", rows, columns, [&](auto to, std::int64_t i, std::int64_t j) {
    fmt::format_to(to, "{} {}\n", row_major[static_cast<std::size_t>(2 * i * columns + j)],
                   row_major[static_cast<std::size_t>((2 * i + 1) * columns + j)]);
  });
}

}  // namespace tessera::matrix_market
