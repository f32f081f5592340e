#pragma once
// Where the test plugins are, and folders of a test's own to put them in.
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace plugin_test {

inline std::string test_plugins() { return TESSERA_BINARY_DIR "/tests/plugins"; }

/// The path of the test plugin `name` in the build folder.
inline std::string built(const std::string& name) { return test_plugins() + "/tessera_" + name + ".so"; }

/// A temporary folder, removed at the end.
class folder {
 public:
  folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tessera_plugin_XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    m_path = pattern;
  }
  ~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;

  const std::filesystem::path& path() const { return m_path; }
  /// Copies the test plugin `name` here.
  std::filesystem::path take(const std::string& name, const std::string& as = {}) const {
    const auto to = m_path / (as.empty() ? "tessera_" + name + ".so" : as);
    std::filesystem::copy_file(built(name), to);
    return to;
  }
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(m_path / name) << text;
    return m_path / name;
  }

 private:
  std::filesystem::path m_path;
};

}  // namespace plugin_test
