#include "core/config/find_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "core/base/environment.hpp"
#include "core/base/error.hpp"
#include "core/base/suggest.hpp"

namespace tessera::config {
namespace {

namespace fs = std::filesystem;

/// The names in the folders, each once, in alphabetical order.
std::vector<std::string> names_in(const std::vector<fs::path>& folders) {
  std::vector<std::string> names;
  for (const fs::path& folder : folders) {
    std::error_code failed;
    for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed))
      if (at->path().extension() == ".toml") names.push_back(at->path().stem().string());
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

}  // namespace

fs::path find_file(const fs::path& named, const std::vector<fs::path>& folders) {
  std::error_code unknown;
  const bool there = fs::exists(named, unknown);
  if (folders.empty() || (there && !fs::is_directory(named, unknown))) return named;
  if (!named.has_parent_path())
    for (const fs::path& folder : folders)
      for (const char* ending : {"", ".toml"}) {
        fs::path file = folder / named;
        file += ending;
        if (fs::is_regular_file(file, unknown)) return file;
      }
  if (there) return named;  // a folder; reading it says so

  const std::string stem = named.stem().string();
  const std::vector<std::string> names = nearest_first(stem, names_in(folders));
  const std::string near = std::ranges::count(names, stem) != 0 ? stem : suggest(stem, names);
  const std::string all =
      fmt::format("found by name alone are {} (in {})", fmt::join(names, ", "), folders.front().string());
  throw error(
      error_kind::configuration,
      fmt::format("cannot read the file '{}': {}", named.string(),
                  unknown ? unknown.message() : std::make_error_code(std::errc::no_such_file_or_directory).message()),
      {},
      names.empty()  ? "check the path"
      : near.empty() ? "check the path; " + all
                     : fmt::format("check the path, or did you mean '{}'? {}", near, all));
}

std::vector<fs::path> find_files(const std::vector<fs::path>& named, const std::vector<fs::path>& folders) {
  std::vector<fs::path> found;
  for (const fs::path& one : named) found.push_back(find_file(one, folders));
  if (named.empty())
    if (const char* const other = environment_variable("TESSERA_CONFIG"); other != nullptr && *other != '\0')
      found.push_back(find_file(other, folders));
  return found;
}

}  // namespace tessera::config
