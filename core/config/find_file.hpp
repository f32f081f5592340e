#pragma once
// A configuration by its name: "sim_two" for the one of that name that comes with Tessera.
#include <filesystem>
#include <vector>

namespace tessera::config {

/// The file that the user means: `named` itself where there is such a file; else, when no folder is in front of it,
/// that of the first of `folders` with this name, or with this name and ".toml". With no `folders`: `named` itself.
/// Throws tessera::error (kind configuration) when there is none; the hint has all names, the nearest first.
std::filesystem::path find_file(const std::filesystem::path& named, const std::vector<std::filesystem::path>& folders);

/// The same for each of the files that a user has named; where there are none, for the one in TESSERA_CONFIG, if any.
std::vector<std::filesystem::path> find_files(const std::vector<std::filesystem::path>& named,
                                              const std::vector<std::filesystem::path>& folders);

}  // namespace tessera::config
