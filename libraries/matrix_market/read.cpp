#include "libraries/matrix_market/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <utility>

#include "core/base/error.hpp"

namespace tessera::matrix_market {
namespace {

constexpr std::string_view blanks = " \t\r";

constexpr std::size_t longest_line = std::size_t{1} << 20;

/// Walks over lines and words, and knows where it is. Of a file it holds a piece at a time.
class scanner {
 public:
  scanner(std::string_view text, const std::string& name) : m_rest(text), m_name(name) {}
  scanner(std::istream& file, const std::string& name) : m_file(&file), m_name(name) {}

  /// The next line that holds data: comments and blank lines are passed over. False at the end.
  bool next() {
    while (next_raw())
      if (const auto first = m_line.find_first_not_of(blanks); first != m_line.npos && m_line[first] != '%')
        return true;
    return false;
  }
  bool next_raw() {
    auto end = m_rest.find('\n');
    while (end == m_rest.npos && read_on()) end = m_rest.find('\n');
    if (m_rest.empty()) return false;
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
  std::string_view rest_of_line() const { return m_line; }
  std::uint32_t line() const { return m_number; }

  [[noreturn]] void fail(std::string message, std::string hint = {}) const {
    throw error(error_kind::input, std::move(message),
                fmt::format("{}:{}", m_name, std::max<std::uint32_t>(m_number, 1)), std::move(hint));
  }

  std::int64_t whole(const char* what) {
    const std::string_view text = word();
    if (text.empty()) fail(fmt::format("{} is missing", what));
    const std::string_view digits = without_plus(text);
    std::int64_t value = 0;
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (end != digits.data() + digits.size() || status == std::errc::invalid_argument)
      fail(fmt::format("{} is '{}', which is not a whole number", what, text));
    if (status != std::errc{}) fail(fmt::format("{} is '{}', which has too many digits", what, text));
    return value;
  }
  double number() {
    const std::string_view written = word();
    if (written.empty()) fail("the value is missing");
    std::string_view text = without_plus(written);
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
  /// A number may have a sign, which from_chars takes of negative ones alone.
  static std::string_view without_plus(std::string_view number) {
    return number.starts_with('+') && !number.starts_with("+-") ? number.substr(1) : number;
  }
  /// Puts the next piece of the file behind the rest. False at the end.
  bool read_on() {
    if (m_file == nullptr) return false;
    if (m_rest.size() > longest_line) {
      ++m_number;
      fail(fmt::format("the line has more than {} characters", longest_line), "is it a text file?");
    }
    m_piece.erase(0, m_piece.size() - m_rest.size());
    const std::size_t kept = m_piece.size();
    m_piece.resize(kept + longest_line);
    m_file->read(m_piece.data() + kept, static_cast<std::streamsize>(longest_line));
    if (m_file->bad()) throw error(error_kind::input, "reading the matrix failed", m_name);
    const auto fresh = static_cast<std::size_t>(m_file->gcount());
    m_piece.resize(kept + fresh);
    m_rest = m_piece;
    return fresh > 0;
  }

  std::istream* m_file = nullptr;  ///< null: all text is there
  std::string m_piece;             ///< of the file; the rest is its end
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

/// What has made a file that begins like this, if it is one of the usual programs.
std::string_view packer_of(std::string_view first_bytes) {
  constexpr std::pair<std::string_view, std::string_view> known[] = {{"\x1f\x8b", "gzip"},
                                                                     {"BZh", "bzip2"},
                                                                     {"\xfd"
                                                                      "7zXZ",
                                                                      "xz"},
                                                                     {"\x28\xb5\x2f\xfd", "zstd"},
                                                                     {"PK\x03\x04", "zip"}};
  for (const auto& [bytes, program] : known)
    if (first_bytes.starts_with(bytes)) return program;
  return {};
}

/// What is taken of the first line.
struct fields {
  patterns pattern;
  numbers number;
};

void read_banner(scanner& from, matrix& to, fields taken) {
  constexpr const char* form = "the first line of a matrix: %%MatrixMarket matrix coordinate real symmetric";
  if (!from.next_raw()) from.fail("the file is empty", form);
  if (const std::string_view packer = packer_of(from.rest_of_line()); !packer.empty())
    from.fail(fmt::format("the file is compressed by {}", packer), "unpack it first");
  if (lower(from.word()) != "%%matrixmarket") from.fail("the file does not begin with %%MatrixMarket", form);
  if (const auto object = lower(from.word()); object != "matrix")
    from.fail(fmt::format("the banner says '{}', not 'matrix'", object), form);
  const std::string layout = lower(from.word()), field = lower(from.word()), kind = lower(from.word());
  if (layout != "coordinate" && layout != "array")
    from.fail(fmt::format("the form is '{}'", layout), "coordinate or array");
  to.dense = layout == "array";
  to.pattern = field == "pattern";
  to.integer = field == "integer";
  to.is_complex = field == "complex";
  if (to.pattern && to.dense) from.fail("a pattern in array form has no entries", "coordinate form");
  if (to.pattern && taken.pattern == patterns::refused)
    from.fail("the matrix is a pattern: it has no values", "a matrix of numbers is needed: field real or integer");
  if (to.is_complex && taken.number == numbers::real)
    from.fail("the matrix is complex", "only real matrices can be used here");
  if (!to.pattern && !to.is_complex && field != "real" && field != "double" && field != "integer")
    from.fail(fmt::format("the field is '{}'", field), "real or integer");
  const std::string mirrored = to.is_complex ? "hermitian" : "symmetric";
  if (kind != "general" && kind != mirrored)
    from.fail(fmt::format("the symmetry is '{}'", kind),
              to.is_complex ? "hermitian, or general for vectors"
                            : "general or symmetric; hermitian where the field is complex");
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
  std::int64_t count = half ? to.rows * (to.rows + 1) / 2 : to.rows * to.columns;
  if (!to.dense) {
    count = from.whole("the number of entries");  // also more than the matrix has room for: some are given twice
    if (count < 0) from.fail(fmt::format("the number of entries is {}", count), "0 or more");
  }
  from.expect_end();
  return count;
}

double read_value(scanner& from, const matrix& to) {
  const double value = from.number();
  if (to.integer && value != std::trunc(value))
    from.fail(fmt::format("the value is {}, and the first line says that all are integers", value), "the field real");
  return value;
}

entry read_entry(scanner& from, const matrix& to) {
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
  e.value = to.pattern ? 1 : read_value(from, to);
  if (to.is_complex) e.imaginary = from.number();
  return e;
}

/// Sizes and entries, of which there are at most `room`, behind the banner: begin(header), each(entry, line).
template <class Begin, class Each>
void read_entries(scanner& from, matrix& to, std::int64_t room, const Begin& begin, const Each& each) {
  const std::int64_t count = read_sizes(from, to);
  begin(header{.rows = to.rows, .columns = to.columns, .entries = std::min(count, room), .kind = to.kind});
  std::int32_t row = 0, column = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    if (!from.next()) from.fail(fmt::format("the file ends after {} of {} entries", k, count), "is it truncated?");
    entry e{.row = row, .column = column};
    if (to.dense) {
      e.value = read_value(from, to);
      if (to.is_complex) e.imaginary = from.number();
      if (++row == to.rows) {
        ++column;
        row = to.kind != symmetry::general ? column : 0;
      }
    } else {
      e = read_entry(from, to);
    }
    if (to.kind == symmetry::hermitian && e.row == e.column && e.imaginary != 0)
      from.fail(fmt::format("the diagonal has the imaginary part {}", e.imaginary),
                "the diagonal of a hermitian matrix is real");
    from.expect_end();
    each(e, from.line());
  }
  if (from.next()) from.fail(fmt::format("the file goes on after its {} entries", count));
}

/// The same, keeping all.
void keep_entries(scanner& from, matrix& to, std::int64_t room) {
  read_entries(
      from, to, room,
      [&](const header& h) {
        to.entries.reserve(static_cast<std::size_t>(h.entries));
        to.lines.reserve(static_cast<std::size_t>(h.entries));
      },
      [&](const entry& e, std::uint32_t line) {
        to.entries.push_back(e);
        to.lines.push_back(line);
      });
}

/// Entries that so many bytes have room for: each takes two at least, so that an absurd number in a short file does not
/// ask for absurd memory.
std::int64_t room_in(std::uintmax_t bytes) { return static_cast<std::int64_t>(bytes / 2 + 1); }

/// A file, and how many entries it has room for.
struct opened {
  explicit opened(const std::filesystem::path& named) : opened(named, named == "-" ? "/dev/stdin" : named) {}
  opened(const std::filesystem::path& named, const std::filesystem::path& file) : stream(file, std::ios::binary) {
    std::error_code status;
    if (std::filesystem::is_directory(file, status))
      throw error(error_kind::input, "it is a directory, not a file", file.string());
    if (!stream)
      throw error(error_kind::input,
                  std::filesystem::exists(file, status) ? "the matrix cannot be read" : "there is no such matrix file",
                  named.string(), "give a file in Matrix Market form; standard input is -");
    const auto bytes = std::filesystem::file_size(file, status);
    room = room_in(status ? longest_line : bytes);  // a pipe has no size
  }
  std::ifstream stream;
  std::int64_t room;
};

}  // namespace

std::string matrix::place_of(std::size_t ordinal) const { return fmt::format("{}:{}", name, lines[ordinal]); }

struct open_file::inside {
  inside(const std::filesystem::path& path, fields of) : file(path), name(path.string()), from(file.stream, name) {
    made.name = name;
    read_banner(from, made, of);
  }
  opened file;
  std::string name;
  scanner from;
  matrix made;
};

open_file::open_file(const std::filesystem::path& file, patterns of, numbers taken)
    : m_inside(std::make_unique<inside>(file, fields{of, taken})) {}
open_file::~open_file() = default;

const std::string& open_file::name() const noexcept { return m_inside->name; }
bool open_file::is_complex() const noexcept { return m_inside->made.is_complex; }

void open_file::entries(const std::function<void(const header&)>& begin,
                        const std::function<void(const entry&)>& each) {
  read_entries(m_inside->from, m_inside->made, m_inside->file.room, begin,
               [&](const entry& e, std::uint32_t) { each(e); });
}

matrix open_file::all() {
  keep_entries(m_inside->from, m_inside->made, m_inside->file.room);
  return std::move(m_inside->made);
}

matrix parse(std::string_view text, const std::string& name, patterns of) {
  scanner from(text, name);
  matrix read;
  read.name = name;
  read_banner(from, read, {of, numbers::real});
  keep_entries(from, read, room_in(text.size()));
  return read;
}

matrix read(const std::filesystem::path& file, patterns of) { return open_file(file, of, numbers::real).all(); }

}  // namespace tessera::matrix_market
