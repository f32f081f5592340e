#pragma once
// A file system of a few bytes.
#include <cstdint>
#include <filesystem>

namespace limits_test {

/// In memory, seen by this process and those that it starts. Gone with it.
class small_file_system {
 public:
  explicit small_file_system(std::uint64_t bytes);
  ~small_file_system();
  small_file_system(const small_file_system&) = delete;
  small_file_system& operator=(const small_file_system&) = delete;

  /// False where none can be made: that takes root.
  bool made() const noexcept { return m_is_made; }
  const std::filesystem::path& path() const noexcept { return m_path; }

 private:
  std::filesystem::path m_path;
  bool m_is_made = false;
};

}  // namespace limits_test
