#pragma once
// One job in a folder of checkpoints.
#include <filesystem>
#include <system_error>

namespace tessera::chemistry {

/// Holds a folder as long as it lives, or the process does.
class folder_lock {
 public:
  /// Makes the folder where it is not there. A folder that is there and cannot be written to is held for reading.
  /// Throws tessera::error: output where it cannot be made; usage where another process holds it.
  explicit folder_lock(const std::filesystem::path& folder);
  ~folder_lock();
  /// Throws tessera::error (output) where the folder cannot be written to.
  void require_writable() const;

  folder_lock(const folder_lock&) = delete;
  folder_lock& operator=(const folder_lock&) = delete;

 private:
  const std::filesystem::path m_folder;
  std::error_code m_why_read_only;
  int m_descriptor = -1;
};

}  // namespace tessera::chemistry
