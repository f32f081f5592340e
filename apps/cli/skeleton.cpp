#include "apps/cli/skeleton.hpp"

#include <algorithm>
#include <array>

#include "core/base/error.hpp"

namespace tessera::cli {
namespace {

/// A file that is written, and the texts below plugins/template that it is made of.
struct recipe {
  const char* name;
  std::vector<const char*> parts;
};

std::vector<recipe> recipes_of(std::string_view language) {
  if (language == "c")
    return {{"plugin.c", {"template.c"}},
            {"CMakeLists.txt", {"skeleton/c/CMakeLists.txt"}},
            {"README.md", {"skeleton/c/README.md", "skeleton/usage.md"}}};
  if (language == "c++")
    return {{"plugin.cpp", {"template.cpp"}},
            {"CMakeLists.txt", {"skeleton/cpp/CMakeLists.txt"}},
            {"README.md", {"skeleton/cpp/README.md", "skeleton/usage.md"}}};
  if (language == "rust")
    return {{"plugin.rs", {"template.rs"}},
            {"tessera.rs", {"tessera.rs"}},
            {"Cargo.toml", {"skeleton/rust/Cargo.toml"}},
            {"README.md", {"skeleton/rust/README.md", "skeleton/usage.md"}}};
  throw error(error_kind::internal, "there is no skeleton in this language", std::string(language));
}

std::string_view part_of(const char* path) {
  const std::string_view text = skeleton_text(path);
  if (text.empty()) throw error(error_kind::internal, "no such text is part of the program", path);
  return text;
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

}  // namespace

std::span<const std::string> skeleton_languages() {
  static const std::array<std::string, 3> languages{"c", "c++", "rust"};
  return languages;
}

std::vector<skeleton_file> skeleton_of(std::string_view language, std::string_view name) {
  std::vector<skeleton_file> files;
  for (const recipe& one : recipes_of(language)) {
    std::string text;
    for (const char* part : one.parts) text += part_of(part);
    replace_all(text, "%NAME%", name);
    replace_all(text, "\"template\"", "\"" + std::string(name) + "\"");
    files.push_back({one.name, std::move(text)});
  }
  return files;
}

}  // namespace tessera::cli
