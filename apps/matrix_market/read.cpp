#include "apps/matrix_market/read.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>

#include "core/base/error.hpp"

namespace tessera::matrix_market {
namespace {

constexpr std::string_view blanks = " \t\r";

/// Walks over lines and words, and knows where it is.
class scanner {
 public:
  scanner(std::string_view text, const std::string& name) : m_rest(text), m_name(name) {}

  /// The next line that holds data: comments and blank lines are passed over. False at the end.
  bool next() {
    while (next_raw())
      if (const auto first = m_line.find_first_not_of(blanks); first != m_line.npos && m_line[first] != '%')
        return true;
    return false;
  }
  bool next_raw() {
    if (m_rest.empty()) return false;
    const auto end = m_rest.find('\n');
    m_line = m_rest.substr(0, end);
    m_rest.remove_prefix(end == m_rest.npos ? m_rest.size() : end + 1);
    ++m_number;
    return true;
  }
  std::string_view word() {
    const auto begin = m_line.find_first_not_of(blanks);
    if (begin == m_line.npos) return {};
    m_line.remove_prefix(begin);
    const auto end = std::min(m_line.find_first_of(blanks), m_line.size());
    const std::string_view found = m_line.substr(0, end);
    m_line.remove_prefix(end);
    return found;
  }
  std::uint32_t line() const { return m_number; }

  [[noreturn]] void fail(std::string message, std::string hint = {}) const {
    throw error(error_kind::input, std::move(message), fmt::format("{}:{}", m_name, m_number), std::move(hint));
  }

  std::int64_t whole(const char* what) {
    const std::string_view text = word();
    if (text.empty()) fail(fmt::format("{} is missing", what));
    std::int64_t value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc{} || end != text.data() + text.size())
      fail(fmt::format("{} is '{}', which is not a whole number", what, text));
    return value;
  }
  double number() {
    std::string_view text = word();
    if (text.empty()) fail("the value is missing");
    const std::string_view written = text;
    if (text.front() == '+') text.remove_prefix(1);
    double value = 0;
    std::string fortran;  // "1.5D+3"
    if (text.find_first_of("dD") != text.npos) {
      fortran = text;
      fortran[fortran.find_first_of("dD")] = 'e';
      text = fortran;
    }
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end != text.data() + text.size() || status == std::errc::invalid_argument)
      fail(fmt::format("the value is '{}', which is not a number", written));
    if (status == std::errc::result_out_of_range) {
      // Too small is zero or subnormal, which strtod gives; too large is infinite.
      value = std::strtod(std::string(text).c_str(), nullptr);
    }
    if (!std::isfinite(value)) fail(fmt::format("the value is '{}', which is not finite", written));
    return value;
  }
  void expect_end() {
    if (const std::string_view more = word(); !more.empty())
      fail(fmt::format("'{}' is more than this line should have", more));
  }

 private:
  std::string_view m_rest, m_line;
  const std::string& m_name;
  std::uint32_t m_number = 0;
};

std::string lower(std::string_view text) {
  std::string small(text);
  for (char& c : small)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return small;
}

void read_banner(scanner& from, matrix& to, patterns taken) {
  constexpr const char* form = "the first line of a matrix: %%MatrixMarket matrix coordinate real symmetric";
  if (!from.next_raw()) from.fail("the file is empty", form);
  if (lower(from.word()) != "%%matrixmarket") from.fail("the file does not begin with %%MatrixMarket", form);
  if (const auto object = lower(from.word()); object != "matrix")
    from.fail(fmt::format("the banner says '{}', not 'matrix'", object), form);
  const std::string layout = lower(from.word()), field = lower(from.word()), kind = lower(from.word());
  if (layout != "coordinate" && layout != "array")
    from.fail(fmt::format("the form is '{}'", layout), "coordinate or array");
  to.dense = layout == "array";
  to.pattern = field == "pattern";
  if (to.pattern && to.dense) from.fail("a pattern in array form has no entries", "coordinate form");
  if (to.pattern && taken == patterns::refused)
    from.fail("the matrix is a pattern: it has no values", "a matrix of numbers is needed: field real or integer");
  if (field == "complex" && !to.is_complex) from.fail("the matrix is complex", "only real matrices can be used here");
  if (to.is_complex && field != "complex") from.fail("the matrix is not complex", "the field complex is needed");
  if (!to.pattern && !to.is_complex && field != "real" && field != "double" && field != "integer")
    from.fail(fmt::format("the field is '{}'", field), "real or integer");
  const std::string mirrored = to.is_complex ? "hermitian" : "symmetric";
  if (kind != "general" && kind != mirrored)
    from.fail(fmt::format("the symmetry is '{}'", kind), fmt::format("general or {}", mirrored));
  to.kind = kind == "general" ? symmetry::general : to.is_complex ? symmetry::hermitian : symmetry::symmetric;
  from.expect_end();
}

/// Reads the line of sizes; returns how many entries follow.
std::int64_t read_sizes(scanner& from, matrix& to) {
  if (!from.next())
    from.fail("the file ends before the line of sizes", "rows, columns and, in coordinate form, entries");
  to.rows = from.whole("the number of rows");
  to.columns = from.whole("the number of columns");
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (to.rows < 1 || to.columns < 1 || to.rows > most || to.columns > most)
    from.fail(fmt::format("the matrix is {} x {}", to.rows, to.columns), fmt::format("sizes are 1 to {}", most));
  const bool half = to.kind != symmetry::general;
  if (half && to.rows != to.columns)
    from.fail(fmt::format("the matrix is {} x {} and cannot be symmetric", to.rows, to.columns),
              "the number of rows and columns must be equal");
  const std::int64_t all = half ? to.rows * (to.rows + 1) / 2 : to.rows * to.columns;
  std::int64_t count = all;
  if (!to.dense) {
    count = from.whole("the number of entries");
    if (count < 0 || count > all)
      from.fail(fmt::format("{} entries do not fit: the matrix has room for {}", count, all));
  }
  from.expect_end();
  return count;
}

void read_entry(scanner& from, matrix& to) {
  entry e;
  const std::int64_t row = from.whole("the row"), column = from.whole("the column");
  if (row < 1 || row > to.rows)
    from.fail(fmt::format("row {} is outside of 1 to {}", row, to.rows), "rows count from 1");
  if (column < 1 || column > to.columns)
    from.fail(fmt::format("column {} is outside of 1 to {}", column, to.columns), "columns count from 1");
  if (to.kind != symmetry::general && column > row)
    from.fail(fmt::format("the entry ({}, {}) is above the diagonal", row, column),
              "a symmetric file has the lower triangle only: row >= column");
  e.row = static_cast<std::int32_t>(row - 1);
  e.column = static_cast<std::int32_t>(column - 1);
  e.value = to.pattern ? 1 : from.number();
  if (to.is_complex) e.imaginary = from.number();
  if (to.kind == symmetry::hermitian && row == column && e.imaginary != 0)
    from.fail(fmt::format("the diagonal has the imaginary part {}", e.imaginary),
              "the diagonal of a hermitian matrix is real");
  to.entries.push_back(e);
}

}  // namespace

std::string matrix::place_of(std::size_t ordinal) const { return fmt::format("{}:{}", name, lines[ordinal]); }

namespace {

matrix parse_all(std::string_view text, const std::string& name, patterns of, bool complex_numbers) {
  scanner from(text, name);
  matrix read;
  read.name = name;
  read.is_complex = complex_numbers;
  read_banner(from, read, of);
  const std::int64_t count = read_sizes(from, read);
  // An entry takes two bytes at least, so that an absurd number in a short file does not ask for absurd memory.
  const auto room =
      static_cast<std::size_t>(std::min<std::int64_t>(count, static_cast<std::int64_t>(text.size() / 2 + 1)));
  read.entries.reserve(room);
  read.lines.reserve(room);
  std::int32_t row = 0, column = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    if (!from.next()) from.fail(fmt::format("the file ends after {} of {} entries", k, count), "is it truncated?");
    if (read.dense) {
      read.entries.push_back({row, column, from.number()});
      if (read.is_complex) read.entries.back().imaginary = from.number();
      if (++row == read.rows) {
        ++column;
        row = read.kind != symmetry::general ? column : 0;
      }
    } else {
      read_entry(from, read);
    }
    from.expect_end();
    read.lines.push_back(from.line());
  }
  if (from.next()) from.fail(fmt::format("the file goes on after its {} entries", count));
  return read;
}

std::string whole_text(const std::filesystem::path& file) {
  std::error_code status;
  if (std::filesystem::is_directory(file, status))
    throw error(error_kind::input, "the matrix is a directory, not a file", file.string());
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    throw error(error_kind::input,
                std::filesystem::exists(file, status) ? "the matrix cannot be read" : "there is no such matrix file",
                file.string(), "give a file in Matrix Market form");
  std::string text;
  if (const auto bytes = std::filesystem::file_size(file, status); !status) text.reserve(bytes + 1);
  for (std::vector<char> piece(1 << 20); stream.read(piece.data(), std::ssize(piece)) || stream.gcount() > 0;)
    text.append(piece.data(), static_cast<std::size_t>(stream.gcount()));
  if (stream.bad()) throw error(error_kind::input, "reading the matrix failed", file.string());
  return text;
}

}  // namespace

matrix parse(std::string_view text, const std::string& name, patterns of) { return parse_all(text, name, of, false); }

matrix read(const std::filesystem::path& file, patterns of) { return parse(whole_text(file), file.string(), of); }

matrix parse_complex(std::string_view text, const std::string& name) {
  return parse_all(text, name, patterns::refused, true);
}

matrix read_complex(const std::filesystem::path& file) { return parse_complex(whole_text(file), file.string()); }

bool is_complex(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string banner, object, layout, field;
  stream >> banner >> object >> layout >> field;
  return lower(banner) == "%%matrixmarket" && lower(field) == "complex";
}

}  // namespace tessera::matrix_market
