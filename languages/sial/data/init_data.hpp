#pragma once
// What a job is told before its first program starts: the initialization data.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "languages/sial/language/program.hpp"

namespace tessera::sial {

/// An array of the initialization data. The first index is fastest (column major).
template <typename element>
struct init_array {
  std::vector<std::int64_t> dims;  ///< one extent per dimension, 0 allowed
  std::vector<element> values;     ///< as many as the product of dims
  std::string where = {};          ///< for messages: its place in the file
  friend bool operator==(const init_array& a, const init_array& b) { return a.dims == b.dims && a.values == b.values; }
};

/// Everything. Names of constants, arrays and options are lower case; names of programs keep their case. A plain value:
/// reading it from many threads is safe.
struct init_data {
  std::vector<std::string> programs;  ///< files, in the order in which they run: "scf.siox"
  std::map<std::string, std::int64_t> ints;
  std::map<std::string, double> scalars;
  std::map<index_kind, std::vector<std::int64_t>> segments;  ///< lengths of segments 1, 2, ... of a kind
  std::map<std::string, init_array<double>> float_arrays;
  std::map<std::string, init_array<std::int64_t>> int_arrays;
  std::map<std::string, std::map<std::string, std::string>> options;  ///< program file -> option -> value
  friend bool operator==(const init_data&, const init_data&) = default;

  /// Lengths of the segments of a kind; none when the data have no such table.
  const std::vector<std::int64_t>& segments_of(index_kind kind) const;
  /// Elements of all segments before `segment` (which counts from 1 and may be one past the last): where it begins.
  /// Simple indices: the segment less 1. Throws tessera::error (kind input) for a segment that the table does not have.
  std::int64_t offset_of(index_kind kind, std::int64_t segment) const;
};

/// The word for a table of segments: "ao", "mo", "moa", "mob", "simple", "la", "sub".
std::string_view segment_table_name(index_kind kind) noexcept;

/// Product of extents. Throws tessera::error (kind input) for a negative one or a product beyond 63 bits; `where` is
/// for the message.
std::int64_t elements_of(const std::vector<std::int64_t>& dims, const std::string& where);

/// Finds what no program can run with: a segment length below 1, a table of more than 2^31-1 elements, an array whose
/// values do not fit its dims, names in upper case. Throws tessera::error (kind input) with all of it; `where` names
/// the data.
void check_init(const init_data& data, const std::string& where);

}  // namespace tessera::sial
