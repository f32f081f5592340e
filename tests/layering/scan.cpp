#include "tests/layering/scan.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace tessera::layering {
namespace {

constexpr std::string_view blanks = " \t\r";

std::string_view skip_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(blanks);
  return first == text.npos ? std::string_view{} : text.substr(first);
}

bool is_source(const std::filesystem::path& path) {
  constexpr std::array<std::string_view, 9> endings = {".h",  ".hpp", ".c",   ".cpp", ".cc",
                                                       ".cu", ".cuh", ".hip", ".inl"};
  return std::find(endings.begin(), endings.end(), path.extension().string()) != endings.end();
}

std::string read(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

std::vector<include_line> includes_of(std::string_view text, const std::string& file) {
  std::vector<include_line> found;
  for (int number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    std::string_view line = skip_blanks(text.substr(0, end));
    text = end == text.npos ? std::string_view{} : text.substr(end + 1);
    if (!line.starts_with('#')) continue;
    line = skip_blanks(line.substr(1));
    constexpr std::string_view keyword = "include";
    if (!line.starts_with(keyword)) continue;
    line = skip_blanks(line.substr(keyword.size()));
    if (line.empty() || (line.front() != '"' && line.front() != '<')) continue;
    const bool quoted = line.front() == '"';
    const auto close = line.find(quoted ? '"' : '>', 1);
    if (close == line.npos) continue;
    found.push_back({file, number, std::string(line.substr(1, close - 1)), quoted});
  }
  return found;
}

std::vector<include_line> scan(const std::filesystem::path& root) {
  std::vector<std::filesystem::path> files;
  for (const char* house :
       {"include", "core", "hierarchy", "plugins", "cluster", "libraries", "languages", "apps", "examples"}) {
    if (!std::filesystem::is_directory(root / house)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / house))
      if (entry.is_regular_file() && is_source(entry.path())) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<include_line> found;
  for (const auto& path : files) {
    const auto lines = includes_of(read(path), path.lexically_relative(root).generic_string());
    found.insert(found.end(), lines.begin(), lines.end());
  }
  return found;
}

}  // namespace tessera::layering
