#pragma once
// Files of the repository, as the tests of the documents read them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace documents {

namespace fs = std::filesystem;

/// The root of the repository.
inline const fs::path root = TESSERA_SOURCE_DIR;

/// A file of the repository. Fails the running test when it cannot be read.
inline std::string read(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream.good()) << path << " cannot be read";
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Every .md file of the repository outside of build folders and hidden ones but .github.
inline std::vector<fs::path> pages() {
  std::vector<fs::path> found;
  for (auto entry = fs::recursive_directory_iterator(root); entry != fs::recursive_directory_iterator(); ++entry) {
    const std::string name = entry->path().filename().string();
    if (entry->is_directory() &&
        ((name.starts_with('.') && name != ".github") || (entry.depth() == 0 && name.starts_with("build"))))
      entry.disable_recursion_pending();
    else if (entry->path().extension() == ".md")
      found.push_back(entry->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace documents
