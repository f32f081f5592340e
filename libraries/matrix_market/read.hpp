#pragma once
// Matrix Market files (exchange formats of NIST, "coordinate" and "array").
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::matrix_market {

enum class symmetry : std::uint8_t {
  general,    ///< every entry is in the file
  symmetric,  ///< the file has the lower triangle with the diagonal
  hermitian   ///< likewise, and what is above is the conjugate; of complex matrices
};

/// One entry. Indices count from 0.
struct entry {
  std::int32_t row = 0, column = 0;
  double value = 0;
  double imaginary = 0;  ///< of a complex matrix
};

/// What a file says. Nothing is expanded: a symmetric file gives its lower triangle.
struct matrix {
  std::string name;  ///< of the file, for messages
  std::int64_t rows = 0, columns = 0;
  symmetry kind = symmetry::general;
  bool dense = false;                ///< array form: every entry of the file is there, column by column
  bool is_complex = false;           ///< entries have imaginary parts
  bool pattern = false;              ///< the file has no values: each is 1
  bool integer = false;              ///< the file says that all values are whole
  std::vector<entry> entries;        ///< in the order of the file
  std::vector<std::uint32_t> lines;  ///< line of each entry
  /// "matrix.mtx:17" for an entry's ordinal.
  std::string place_of(std::size_t ordinal) const;
};

/// What a reader takes of the field `pattern`, which has no values.
enum class patterns : std::uint8_t {
  refused,
  ones  ///< each entry is 1
};

/// Reads a file. Fields real, double and integer, and pattern where that is asked for; forms coordinate and array;
/// symmetries general and symmetric. Throws tessera::error of kind input with file:line for a file that cannot be read,
/// another field or symmetry, an index out of range, an entry above the diagonal of a symmetric file, a number that is
/// none, not finite, or not whole in a file of integers, too few or too many entries. One that is given twice, in
/// coordinate form, is handed on twice.
matrix read(const std::filesystem::path& file, patterns of = patterns::refused);

/// What a file says before its first entry.
struct header {
  std::int64_t rows = 0, columns = 0;
  std::int64_t entries = 0;  ///< that follow; at most as many as the file has room for, where that is known
  symmetry kind = symmetry::general;
};

/// Whether a reader takes the field `complex`.
enum class numbers : std::uint8_t {
  real,
  real_or_complex
};

/// A file whose first line has been read, which says whether it is complex. It is read once, from its beginning to its
/// end: it may be a pipe. Takes and throws what `read` does. Complex files are general or hermitian; those have no
/// imaginary part on the diagonal.
class open_file {
 public:
  explicit open_file(const std::filesystem::path& file, patterns of = patterns::refused,
                     numbers taken = numbers::real_or_complex);
  ~open_file();
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;

  const std::string& name() const noexcept;  ///< of the file, for messages
  bool is_complex() const noexcept;
  /// Reads what follows entry by entry and keeps none of them: begin(header) first, then each(entry) in the order of
  /// the file. Entries before a mistake have been handed out when it is found.
  void entries(const std::function<void(const header&)>& begin, const std::function<void(const entry&)>& each);
  /// Reads what follows, and keeps it.
  matrix all();

 private:
  struct inside;
  std::unique_ptr<inside> m_inside;
};

/// The same as `read` from memory; `name` stands for the file in messages.
matrix parse(std::string_view text, const std::string& name, patterns of = patterns::refused);

}  // namespace tessera::matrix_market
