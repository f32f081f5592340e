#pragma once
// Files of checkpoints: a header that says what is inside, and arrays of numbers.
//
// The first line is text: "tessera-chemistry 1 field 1234 0123456789abcdef", with the format, the kind, the length of
// the header in bytes and its hash. The header follows, in JSON, then the arrays without gaps, as little-endian
// doubles. The header names them, with their lengths and hashes. All hashes are FNV-1a.
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tessera::chemistry {

/// What a file holds.
struct record {
  nlohmann::ordered_json header;
  std::map<std::string, std::vector<double>> arrays;
  std::uint64_t bytes = 0;  ///< of the file
};

/// Arrays to be written, with their names.
using named_arrays = std::vector<std::pair<std::string, std::span<const double>>>;

/// Writes a file that takes its name when it is whole and on the disk; an older one stays until then. The keys
/// "written_by", "written_at" and "arrays" are added to the header. Throws tessera::error (output) with the path.
void save_record(const std::filesystem::path& file, const std::string& kind, nlohmann::ordered_json header,
                 const named_arrays& arrays);

/// Nothing where there is no such file. Throws tessera::error (input) with the path: it is damaged, cut off, of another
/// kind, of a later format, or cannot be read.
std::optional<record> load_record(const std::filesystem::path& file, const std::string& kind);

/// An array of a record, which must have so many elements. Throws tessera::error (input) with `where`.
std::vector<double> take_array(record& from, const std::string& name, std::size_t elements,
                               const std::filesystem::path& where);

/// Calls `read`; what it finds wrong in a header becomes tessera::error (input) with the path.
template <class Reading>
auto reading_header(const std::filesystem::path& where, Reading&& read);

[[noreturn]] void refuse_file(const std::filesystem::path& where, const std::string& what,
                              const std::string& hint = {});

template <class Reading>
auto reading_header(const std::filesystem::path& where, Reading&& read) {
  try {
    return read();
  } catch (const nlohmann::json::exception& e) {
    refuse_file(where, std::string("the header of the checkpoint is not as it should be: ") + e.what());
  }
}

}  // namespace tessera::chemistry
