#pragma once
// The initialization data as files: the binary form (".dat") and a text form in TOML. Both are described in
// docs/sial_job_files.md.
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "languages/sial/data/init_data.hpp"

namespace tessera::sial {

/// Reads a file and checks it (check_init). A name that ends in ".toml" is TOML, any other is binary. Throws
/// tessera::error (kind input): for a file that cannot be read, and as the readers below do.
init_data read_init(const std::filesystem::path& file);

/// Writes the form that the name asks for, as read_init. Replaces the file at once, when it is complete. Throws
/// tessera::error (kind input) when it cannot be written, or when a value does not fit into the binary form.
void write_init(const init_data& data, const std::filesystem::path& file);

/// Reads the binary form; `name` stands for the file in messages. Throws tessera::error (kind input) with the offset in
/// bytes, the field and what was expected: another magic number or version, a truncated file, a count that cannot be, a
/// name without its end or given twice, dims that do not fit the rank or the values, bytes after the end.
init_data from_binary(std::span<const char> bytes, const std::string& name);

/// The binary form. Names in ascending order. Throws tessera::error (kind input) for an integer beyond 32 bits or a
/// name with a null in it.
std::string to_binary(const init_data& data);

/// Reads the text form; `name` stands for the file in messages. Throws tessera::error (kind input) with file, line and
/// column.
init_data from_toml(std::string_view text, const std::string& name);

/// The text form; every number reads back the same.
std::string to_toml(const init_data& data);

/// "ABC" -> "abc"; ASCII alone.
std::string in_lower_case(std::string_view text);

}  // namespace tessera::sial
